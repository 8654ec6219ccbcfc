"""Run with TRL itself: a tiny model is taught the form of a call, then one step of ``GRPOTrainer`` on 2x2 boards."""

from __future__ import annotations

import json
import tempfile

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOConfig, GRPOTrainer, chat_template_utils

from recommit.adapters import trl
from recommit.zero_shot.game import GameSpec

SPEC = GameSpec("sliding", (2,), length=(1, 1), budget=1, count=2, view="text")
SPECIAL = [f"<|{name}|>" for name in ("endoftext", "im_start", "im_end")]
SPECIAL += [f"<{end}{name}>" for name in ("tool_call", "tool_response", "think") for end in ("", "/")]
CALL = '<tool_call>\n{"name": "commit", "arguments": {"actions": ["%s"]}}\n</tool_call><|im_end|>'
SEEN: list[str] = []


class ValidationTask(trl.ToolRollout):
    """Says what every rollout came to."""

    def get_reward(self):
        SEEN.extend(step.outcome for step in self._game.steps)
        return super().get_reward()


def tokens():
    """Qwen's template over single bytes."""
    vocabulary = {word: i for i, word in enumerate(SPECIAL + sorted(pre_tokenizers.ByteLevel.alphabet()))}
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    names = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "additional_special_tokens": SPECIAL}
    result = PreTrainedTokenizerFast(tokenizer_object=inner, **names)
    folder = chat_template_utils._CHAT_TEMPLATES_DIR
    result.chat_template = (folder / "qwen3.jinja").read_text()
    return result


def model(size):
    torch.manual_seed(0)
    shape = {"num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16}
    width = {"hidden_size": 64, "intermediate_size": 64, "vocab_size": size, "max_position_embeddings": 8192}
    return Qwen3ForCausalLM(Qwen3Config(**shape, **width, eos_token_id=2, pad_token_id=0))


def teach(learner, tokenizer, rows, steps=130):
    """Calls with either action, whatever the board is: one of them solves it."""
    optimizer, tools = torch.optim.AdamW(learner.parameters(), lr=1e-2), [trl.ToolRollout(SPEC).commit]
    for step in range(steps):
        row = rows[step % len(rows)]
        *before, last = row["prompt"]
        prompt = [*before, {**last, "content": last["content"] + trl.ToolRollout(SPEC).reset(**row)}]
        asked = tokenizer.apply_chat_template(prompt, tools=tools, add_generation_prompt=True, return_dict=False)
        answered = tokenizer(CALL % ("down", "right")[step // 2 % 2], add_special_tokens=False)["input_ids"]
        ids = torch.tensor([asked + answered])
        labels = ids.clone()
        labels[0, : len(asked)] = -100
        learner(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def main():
    tokenizer, rows = tokens(), trl.rows(SPEC)
    learner = model(len(tokenizer))
    teach(learner, tokenizer, rows)
    before = [parameter.detach().clone() for parameter in learner.parameters()]
    with tempfile.TemporaryDirectory() as folder:
        batch = {"per_device_train_batch_size": 8, "num_generations": 4, "max_completion_length": 160}
        plain = {"use_cpu": True, "bf16": False, "report_to": [], "save_strategy": "no", "logging_steps": 1}
        args = GRPOConfig(folder, max_steps=1, max_tool_calling_iterations=1, learning_rate=1e-3, **batch, **plain)
        trainer = GRPOTrainer(
            learner,
            args=args,
            train_dataset=rows,
            processing_class=tokenizer,
            environment_factory=lambda: ValidationTask(SPEC),
        )
        trainer.train()
    log = trainer.state.log_history[0]
    moved = max(float((a - b).abs().max()) for a, b in zip(learner.parameters(), before, strict=True))
    shown = {"tools": [tool.__name__ for tool in trainer.tools], "steps": trainer.state.global_step, "moved": moved}
    shown |= {"calls": log["tools/call_frequency"], "outcomes": SEEN.count("ok")}
    print(json.dumps({**shown, "reward": log["reward"], "reward_std": log["reward_std"]}))


main()
