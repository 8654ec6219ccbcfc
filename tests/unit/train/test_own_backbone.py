"""Backbones of one's own: the classes of ``docs/examples`` on tiny folders as published, and none for such a folder."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from tests.refusals import refused
from tests.unit.train.runs import interrupt_and_go_on
from transformers.models.smolvlm.processing_smolvlm import DEFAULT_CHAT_TEMPLATE as TEMPLATE

import recommit
from recommit.cli.command_line import main
from recommit.horizon.sweep.programs import load
from recommit.policy.backbones import backbone
from recommit.policy.backbones.random_init import make_backbone, make_tokenizer
from recommit.policy.config import DecoderConfig, PolicyConfig
from recommit.policy.prompt import load_prompt
from recommit.policy.vision import check_backbone
from recommit.runs.directory import best_policy
from recommit.storage.errors import NeedsFlag
from recommit.train.sft.trainer import SftTrainer

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
CLASSES = {"smolvlm": f"{EXAMPLES}/smolvlm_backbone.py:SmolVLM", "llama": f"{EXAMPLES}/text_backbone.py:Llama"}
TOKENIZER = make_tokenizer()
TOKENS = ["<fake_token_around_image>", "<image>", "<global-img>", "<end_of_utterance>"]
TOKENIZER.add_tokens(TOKENS, special_tokens=True)
TEXT = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "head_dim": 16}
TEXT |= {"num_key_value_heads": 1, "vocab_size": len(TOKENIZER), "pad_token_id": 0, "initializer_range": 0.1}
#: What published configurations have besides, and where these have the angles' base.
PUBLISHED = {"rope_theta": 100000.0, "rope_scaling": None, "perceiver_config": {"model_type": "vllama3"}}
WHOLE = PolicyConfig(lora=None, decoder=DecoderConfig(32, 1, 2, 64), prompts=("sliding-v2", "sokoban-v1"))
PLAN = """
sft:
  model: {policy: {lora: {rank: 2}, decoder: {width: 32, layers: 1, heads: 2, ffn: 64}}}
  optim: {steps: 4, batch: 8, warmup: 0}
  validation: {instances: 4, every: 2, budget: 3}
  run: &run {save_every: 2, log_every: 1, tensorboard: false, device: cpu}
grpo: {advantage: {group_size: 2}, rollout: {instances: 4, budget: 3}, optim: {steps: 2, batch: 8, warmup: 0},
  validation: {instances: 4, every: 1, budget: 3}, engine: {kind: plain}, run: *run}
"""


@pytest.fixture(autouse=True)
def path_as_before(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Folders by transformers alone, with the language-model head and the settings of published ones."""
    folder, eyes = tmp_path_factory.mktemp("published"), {**TEXT, "hidden_size": 16, "image_size": 64, "patch_size": 8}
    smolvlm = {"text_config": {"model_type": "llama", **TEXT}, "vision_config": eyes, "scale_factor": 2}
    smolvlm = transformers.SmolVLMConfig(image_token_id=TOKENIZER.convert_tokens_to_ids("<image>"), **smolvlm)
    torch.manual_seed(0)
    transformers.SmolVLMForConditionalGeneration(smolvlm).save_pretrained(folder / "smolvlm")
    transformers.LlamaForCausalLM(transformers.LlamaConfig(**TEXT)).save_pretrained(folder / "llama")
    for name in CLASSES:
        TOKENIZER.save_pretrained(folder / name)
        about = json.loads((path := folder / name / "config.json").read_text())
        text = about.get("text_config", about)
        del text["rope_parameters"]
        text |= PUBLISHED
        path.write_text(json.dumps(about))
        (folder / name / "tokenizer_config.json").write_text('{"tokenizer_class": "GPT2Tokenizer"}')
    return folder


def stock_z(name, folder, policy, task, states):
    """By nothing of ours but the drawing and the prompt's words, in SmolVLM's own chat template."""
    cells, crop, given = np.prod(policy.vision.grid(task, states.shape[1:])), policy.vision.crops(task), {}
    image = "\n" + "<|endoftext|>" * cells + "\n"
    if name == "smolvlm":
        frames = task.render(states, cell=16, crop=crop)
        image = f"<fake_token_around_image><global-img>{'<image>' * cells}<fake_token_around_image>"
        looks = {"do_resize": False, "do_image_splitting": False, "max_image_size": {"longest_edge": frames.shape[1]}}
        given = transformers.SmolVLMImageProcessorPil(**looks)([[frame] for frame in frames], return_tensors="pt")
    text, last = load_prompt(policy.config.prompts[policy.task_index(task)]).text, {"add_generation_prompt": True}
    if name == "smolvlm":
        said = text.split("user\n")[1].split("<|im_end|>")[0]
        parts = [{"type": "image"}, {"type": "text", "text": said.replace("{image}", "")}]
        turn = {"role": "user", "content": parts if said.startswith("{image}") else parts[::-1]}
        text = TOKENIZER.apply_chat_template([turn], chat_template=TEMPLATE, tokenize=False, **last)
        text = text.replace("<image>", "{image}")
    text = text.replace("{image}", image)
    ids = torch.tensor([TOKENIZER(text)["input_ids"]] * len(states))
    if name == "llama":
        seen = torch.from_numpy(states[:, 1:-1, 1:-1] if crop else states).flatten().long()
        ids[ids == TOKENIZER.convert_tokens_to_ids("<|endoftext|>")] = seen + TOKENIZER.convert_tokens_to_ids("A")
    stock = getattr(transformers, {"smolvlm": "SmolVLMModel", "llama": "LlamaModel"}[name]).from_pretrained(folder)
    with torch.no_grad():
        return stock.eval()(input_ids=ids, **given).last_hidden_state[:, -1]


@pytest.mark.parametrize("task", [recommit.Sliding(3), recommit.Sokoban(6, 1)], ids=repr)
@pytest.mark.parametrize("name", CLASSES)
def test_z_is_that_of_the_stock_model(name, task, published):
    own, states = load("backbone-class", CLASSES[name]), task.generate(3, seed=1).states
    policy = recommit.CommitPolicy.from_backbone(published / name, WHOLE, backbone_class=own).eval()
    with torch.no_grad():
        z, expected = policy.encode(task, states), stock_z(name, published / name, policy, task, states)
    assert (z - expected).abs().max() < 1e-5 * expected.abs().max()
    assert (z[0] - z[1]).abs().max() > 1e-3, "two states must not look the same"


@pytest.mark.parametrize("name", CLASSES)
def test_it_trains_goes_on_loads_and_is_evaluated_by_its_class(name, published, data, tmp_path, capsys):
    (tmp_path / "plan.yaml").write_text(PLAN)
    place, own, name = published / name, load("backbone-class", CLASSES[name]), CLASSES[name]
    given = ["--backbone", str(place), "--backbone-class", name]
    words = f"--recipe {tmp_path}/plan.yaml --out {tmp_path}"
    sft = f"train sft --data {data} {words}/sft".split()
    interrupt_and_go_on(SftTrainer, lambda: main([*sft, *given]), 2)
    play = f"evaluate {tmp_path}/rl --agents adaptive --instances 4 --validation 4 --budgets 3 --out {tmp_path}/eval"
    for line in (sft, f"train grpo --init {tmp_path}/sft {words}/rl".split(), play.split()):
        assert main(line) == 2
        lacking = f"--backbone PLACE --backbone-class FILE:{own.__name__}\n"
        assert capsys.readouterr().err.endswith(f"{backbone.GUIDE}): recommit {shlex.join(line)} {lacking}")
        assert main([*line, *given]) == 0
    rl, read, task = best_policy(tmp_path / "rl"), recommit.CommitPolicy.from_pretrained, recommit.Sliding(2, 3)
    assert not [path for path in rl.rglob("*.json") if str(place) in (text := path.read_text()) or ".py" in text]
    policy = read(rl, backbone=place, backbone_class=own)
    again = read(policy.save_pretrained(tmp_path / "saved"), backbone=place, backbone_class=own)
    assert all(map(np.array_equal, *(each.act(task, task.generate(4, seed=0).states) for each in (policy, again))))
    usual = recommit.CommitPolicy.from_backbone(make_backbone(tmp_path / "tiny", "tiny"), WHOLE)
    usual.save_pretrained(tmp_path / "usual")
    rows = [
        (rl, {}, f"expected the class '{own.__name__}', since no file names it, got none"),
        (rl, {"backbone_class": type("Other", (own,), {})}, f"expected '{own.__name__}', as in "),
        (rl, {"backbone_class": "Own"}, "expected a class with from_pretrained, see docs/"),
        (tmp_path / "usual", {"backbone_class": own}, "backbone_class: expected '', as in "),
    ]
    refused((lambda row=row: read(row[0], backbone=place, **row[1]), row[2]) for row in rows)


@pytest.mark.parametrize(("name", "words"), {"smolvlm": "", "llama": " (without a vision_config: a class may "}.items())
def test_without_a_class_a_folder_is_refused_before_torch_is_there(name, words, published, data, tmp_path):
    line = f"train sft --recipe laptop-sliding --data {data} --out {tmp_path}/run --backbone {published / name}".split()
    program = "import sys; from recommit.cli.command_line import main; status = main(sys.argv[1:]); "
    program += "sys.exit(status if not {'torch', 'transformers'} & set(sys.modules) else 'torch was imported')"
    done = subprocess.run([sys.executable, "-c", program, *line], check=False, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert f"({backbone.GUIDE}), got {name!r} in {published / name}{words}" in done.stderr
    assert done.stderr.endswith(f": recommit {shlex.join(line)} --backbone-class FILE:NAME\n")
    assert not (tmp_path / "run").exists()


def test_of_a_repository_without_a_class_the_configuration_alone_is_asked_for(published, monkeypatch):
    asked, here = [], published / "smolvlm"
    monkeypatch.setattr(backbone, "snapshot", lambda *_, **names: asked.append(names["allow_patterns"]) or here)
    with pytest.raises(NeedsFlag, match="got 'smolvlm'"):
        backbone.find_backbone("me/smolvlm")
    with backbone.given_backbone(None, load("backbone-class", CLASSES["smolvlm"])):
        assert backbone.find_backbone("me/smolvlm")[0] == here
    assert asked == [["config.json"], backbone.READ]


def test_another_language_model_than_the_class_reads_is_refused(published, tmp_path):
    folder = shutil.copytree(published / "smolvlm", tmp_path / "mistral")
    path = folder / "config.json"
    path.write_text(path.read_text().replace('"llama"', '"mistral"'))
    own, model = load("backbone-class", CLASSES["smolvlm"]), "model type {} for SmolVLM, got {!r}"
    rows = [(folder, model.format("llama", "mistral")), (published / "llama", model.format("smolvlm", "llama"))]
    refused((lambda row=row: backbone.load_backbone(row[0], backbone_class=own), row[1]) for row in rows)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_checked(name, published, monkeypatch):
    own = backbone.load_backbone(published / name, backbone_class=load("backbone-class", CLASSES[name]))
    task, seen = recommit.Sliding(3), own.features
    check_backbone(own, task)
    for words, features in (
        (f"9 features of a picture from {type(own).__name__}, whose token_p", lambda *x: seen(*x).repeat(1, 4, 1)),
        ("another z for a picture with a wrong pixel", lambda *x: seen(*x) * 0),
        ("the same z alone and in a batch", lambda *x: seen(*x) + len(x[0])),
    ):
        monkeypatch.setattr(own, "features", features)
        refused([(lambda: check_backbone(own, task), f"expected {words}")])
    own.lora_targets, words = "none", f"expected modules by {type(own).__name__}.lora_targets, got none by none"
    refused([(lambda: recommit.CommitPolicy(own, PolicyConfig()), words)])
