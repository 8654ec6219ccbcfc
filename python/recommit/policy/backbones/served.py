"""What a server of models reads beside a backbone: how messages become one text, and that answers are drawn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recommit.storage.files import Files, replace

if TYPE_CHECKING:
    from pathlib import Path

#: A conversation as one text, in the manner of Qwen: roles between marks, and a place for every picture.
CHAT = """\
{%- for message in messages -%}
{{ '<|im_start|>' + message.role + '\\n' }}
{%- if message.content is string -%}
{{ message.content }}
{%- else -%}
{%- for part in message.content -%}
{{ '<|vision_start|><|image_pad|><|vision_end|>' if part.type == 'image' else part.text }}
{%- endfor -%}
{%- endif -%}
{{ '<|im_end|>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{ '<|im_start|>assistant\\n' }}
{%- endif -%}
"""


def write(folder: Path, tokenizer: Any) -> None:
    """The chat template and the generation settings, without which a server ignores temperature and top-p."""
    replace(Files(), folder / "chat_template.jinja", CHAT.encode())
    end, pad = (int(tokenizer.convert_tokens_to_ids(token)) for token in ("<|im_end|>", "<|endoftext|>"))
    settings = {"do_sample": True, "eos_token_id": end, "pad_token_id": pad}
    replace(Files(), folder / "generation_config.json", (json.dumps(settings, indent=2) + "\n").encode())
