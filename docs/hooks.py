"""Puts every docs/benchmarks*.md into the navigation, the cells of a notebook into the page that names it, and colours
into commands without a prompt, which would be taken for output."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Fill in the empty entry 'Benchmarks'; without a table it disappears."""
    pages = sorted(path.name for path in Path(config["docs_dir"]).glob("benchmarks*.md"))
    config["nav"] = [_filled(entry, pages) for entry in config["nav"] if "Benchmarks" not in entry or pages]
    return config


def _filled(entry: dict[str, Any], pages: list[str]) -> dict[str, Any]:
    if "Benchmarks" not in entry:
        return entry
    return {"Benchmarks": pages[0] if len(pages) == 1 else pages}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """``<!-- notebook: NAME -->`` becomes the notebook NAME beside the page; a block ``console`` without prompts,
    ``sh``; an interval in a table stays on one line.
    """
    folder = Path(page.file.abs_src_path).parent
    markdown = re.sub(r"^```console\n(?=(?:(?!```|[\w-]*\$ ).*\n)*```)", "```sh\n", markdown, flags=re.MULTILINE)
    markdown = re.sub(r"^```.*?^```|^\|[^\n]*", _unbroken, markdown, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"<!-- notebook: (\S+) -->", lambda match: notebook(folder / match[1]), markdown)


def _unbroken(match: re.Match[str]) -> str:
    """A row of a table with its intervals on one line; a block of code as it is."""
    return match[0] if match[0].startswith("```") else match[0].replace(" .. ", "\u00a0..\u00a0")


def notebook(path: Path) -> str:
    """Its cells as Markdown, and what they show."""
    return "\n\n".join(_cell(cell) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"])


def _cell(cell: dict[str, Any]) -> str:
    text = "".join(cell["source"])
    if cell["cell_type"] != "code":
        return text
    return "\n\n".join([f"```python\n{text}\n```", *map(_output, cell["outputs"])])


def _output(output: dict[str, Any]) -> str:
    """Text as it was printed, a figure as itself."""
    image = output.get("data", {}).get("image/png")
    if image:
        return f'<img alt="What this cell draws" src="data:image/png;base64,{image}">'
    text = "".join(output.get("text") or output["data"]["text/plain"])
    return f"```text\n{text.rstrip()}\n```"
