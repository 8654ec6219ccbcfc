"""A local server in OpenAI's dialect with a real vision-language model behind it: stock transformers, any Qwen2.5-VL
folder.

python model_server.py FOLDER PORT serves one until it is killed.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import torch
from PIL import Image
from transformers import AutoModelForImageTextToText, AutoTokenizer
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from recommit.zero_shot.parser import ACTIONS


class Model:
    """Looks at the picture of a request and answers; what it may say is held to the schema, what it says is its own."""

    def __init__(self, folder, seed=0):
        self.model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.pictures = Qwen2VLImageProcessorPil.from_pretrained(folder)
        self.generator = torch.Generator().manual_seed(seed)

    def looked(self, body):
        """Everything of a request that the model sees, and the picture as it arrived."""
        made = {}
        text = []
        for message in body["messages"]:
            parts = (
                message["content"]
                if isinstance(message["content"], list)
                else [{"type": "text", "text": message["content"]}]
            )
            said = ""
            for part in parts:
                if part["type"] == "text":
                    said += part["text"]
                    continue
                coded = part["image_url"]["url"].removeprefix("data:image/png;base64,")
                picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(coded))).convert("RGB"))
                made = dict(self.pictures(images=[Image.fromarray(picture)], return_tensors="pt"))
                cells = int(made["image_grid_thw"].prod()) // self.pictures.merge_size**2
                said += f"<|vision_start|>{'<|image_pad|>' * cells}<|vision_end|>"
            text.append(f"<|im_start|>{message['role']}\n{said}<|im_end|>\n")
        return "".join(text) + "<|im_start|>assistant\n", made, picture

    @torch.no_grad()
    def likely(self, asked, made, said):
        """Logits of what may come next."""
        tokens = torch.tensor([self.tokenizer(asked + said, add_special_tokens=False)["input_ids"]])
        kinds = (tokens == self.model.config.image_token_id).int()
        return self.model(input_ids=tokens, mm_token_type_ids=kinds, **made).logits[0, -1], tokens.shape[1]

    def choose(self, asked, made, said, options, temperature):
        """One of several continuations, by the model's chances of their first letters."""
        logits, length = self.likely(asked, made, said)
        first = [self.tokenizer(option[0], add_special_tokens=False)["input_ids"][0] for option in options]
        probs = torch.softmax(logits[first] / max(temperature, 1e-3), 0)
        return options[int(torch.multinomial(probs, 1, generator=self.generator))], length

    def answer(self, body):
        """The reply's body, and the sha256 of the picture."""
        asked, made, picture = self.looked(body)
        warmth = float(body.get("temperature", 1.0))
        depth, length = self.choose(asked, made, '{"h": ', list("1248"), warmth)
        said = f'{{"h": {depth}, "actions": ['
        for i in range(int(depth)):
            said += ', "' if i else '"'
            said += self.choose(asked, made, said, list(ACTIONS), warmth)[0] + '"'
        said += "]}"
        usage = {"prompt_tokens": length, "completion_tokens": len(said)}
        message = {"role": "assistant", "content": said}
        reply = {"model": body["model"], "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
        return reply, hashlib.sha256(picture.tobytes()).hexdigest()


class ModelServer(ThreadingHTTPServer):
    """Counts: every picture that arrived, with what was answered to it."""

    daemon_threads = True

    def __init__(self, model, port=0):
        super().__init__(("127.0.0.1", port), _Handler)
        self.model, self.seen, self.lock = model, [], threading.Lock()
        #: Requests that are answered; who asks for more waits for ever.
        self.most = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request, client_address):
        """A client that was killed is no news."""


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            reply, picture = self.server.model.answer(body)
            self.server.seen.append((picture, reply["choices"][0]["message"]["content"]))
            number = len(self.server.seen)
        if self.server.most is not None and number > self.server.most:
            threading.Event().wait()
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    torch.set_num_threads(1)
    ModelServer(Model(sys.argv[1]), int(sys.argv[2])).serve_forever()
