"""``recommit zero-shot``: the signature is the command line. Light to import."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Literal

from recommit.cli.requests import WrongCall
from recommit.puzzles.registry import Task
from recommit.storage.terminal_text import say, tell


def zero_shot(
    model: str,
    out: Path,
    task: Task | None = None,
    data: Path | None = None,
    endpoint: str | None = None,
    instances: int = 64,
    size: tuple[int, ...] = (),
    boxes: int | None = None,
    length: tuple[int, ...] = (),
    budget: int | None = None,
    seed: int = 0,
    workers: int = 4,
    lenient: bool = False,
    moves: Literal["blank", "tile"] = "blank",
    max_requests: int | None = None,
    max_tokens: int | None = None,
    max_money: float | None = None,
    price_in: float = 0.0,
    price_out: float = 0.0,
    base_url: str | None = None,
    key_variable: str | None = None,
    temperature: float = 0.7,
    top_p: float = 0.9,
    without: tuple[str, ...] = (),
    answer_tokens: int | None = None,
    extra: str = "{}",
    any_model: bool = False,
    cell: int = 56,
    timeout: float = 120.0,
    retries: int = 5,
    cache: Path | None = None,
    json: bool = False,
    quiet: bool = False,
) -> int:
    """Let a vision-language model play through an API, or go on with such a run: the same command does both.

    Args:
        model: The model's name, as its server knows it.
        out: The folder of the run.
        task: Which puzzle; sliding, or that of the data, if not said.
        data: A data set (see recommit data build): play its test instances, those of recommit evaluate.
        endpoint: openai, anthropic, gemini, vllm, sglang, ollama, transformers-serve or custom; the models of the
            paper know theirs.
        instances: Episodes to play.
        size: Rows, or rows and columns; 3 for sliding and 8 for the others if not said.
        boxes: Boxes of a Sokoban level; 2 if not said.
        length: Optimal length of every instance, or the shortest and longest; as in the data if not said.
        budget: Decisions per episode; the loose budget of the paper if not said.
        seed: Other seeds give other instances.
        workers: Requests at a time.
        lenient: Take the first eight actions of an answer, whatever h it says.
        moves: What moves the way that an action of a sliding puzzle names: the blank, or the tile beside it.
        max_requests: Send at most so many requests, over all starts of the run; failed ones count.
        max_tokens: Spend at most so many tokens, questions and answers together.
        max_money: Spend at most so much, by the prices given.
        price_in: Price of a million tokens of the questions.
        price_out: Price of a million tokens of the answers.
        base_url: Where the server is, up to the version: http://127.0.0.1:8000/v1.
        key_variable: The environment variable that holds the key, if not the usual one.
        temperature: Of the model's sampling.
        top_p: Of the model's sampling.
        without: Of these two, what not to send: temperature, top_p. What a server refuses is left out in any case.
        answer_tokens: Most tokens of one answer, hidden thoughts included.
        extra: Further fields of the request, as JSON: {"reasoning_effort": "low"}.
        any_model: Accept answers whatever model the server says it ran.
        cell: Pixels per cell of the picture.
        timeout: Seconds that one request may take in all.
        retries: How often a request is repeated that got no answer.
        cache: A folder of answers that runs share.
        json: Print the summary as JSON.
        quiet: Say nothing while playing.
    """
    from recommit.storage.errors import DataError, WrongFolder
    from recommit.zero_shot import figures
    from recommit.zero_shot.call import ZeroShotCall
    from recommit.zero_shot.errors import ZeroShotError
    from recommit.zero_shot.spec import WrongSpec

    call = ZeroShotCall(
        model,
        out,
        task=task,
        data=data,
        endpoint=endpoint,
        instances=instances,
        size=size,
        boxes=boxes,
        length=length,
        budget=budget,
        seed=seed,
        workers=workers,
        lenient=lenient,
        moves=moves,
        max_requests=max_requests,
        max_tokens=max_tokens,
        max_money=max_money,
        price_in=price_in,
        price_out=price_out,
        base_url=base_url,
        key_variable=key_variable,
        temperature=temperature,
        top_p=top_p,
        without=without,
        answer_tokens=answer_tokens,
        extra=extra,
        any_model=any_model,
        cell=cell,
        timeout=timeout,
        retries=retries,
        cache=cache,
    )
    try:
        prepared = call.prepare()
    except ValueError as error:
        raise WrongCall(str(error)) from None
    try:
        summary = prepared.run(quiet=quiet)
    except (WrongSpec, WrongFolder) as error:
        raise WrongCall(str(error)) from None
    except DataError as error:
        return _failed(error, error.exit_status)
    except ZeroShotError as error:
        return _failed(error, 1)
    tell(json_module.dumps(summary, indent=2) + "\n" if json else figures.table(summary), end="")
    return 0 if summary[0]["instances"] else 1  # not one episode got its answers


def _failed(error: Exception, status: int) -> int:
    say(f"recommit zero-shot: {error}")
    return status
