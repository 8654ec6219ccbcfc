"""Each family computes what stock transformers computes: the published model on the published image processor's view of
the drawn picture, read back from a PNG file."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from tests.refusals import refused

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
Image = pytest.importorskip("PIL.Image")

import recommit
from recommit.policy.backbones.backbone import load_backbone
from recommit.policy.backbones.random_init import BACKBONES, config, make_backbone, make_tokenizer
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.policy.prompt import load_prompt

DECODER = DecoderConfig(width=32, layers=1, heads=4, ffn=64)
ADAPTED = PolicyConfig(lora=LoraConfig(), decoder=DECODER)
TASKS = [recommit.Sliding(3), recommit.Sliding(2, 4), recommit.Sokoban((5, 7), 1)]
#: Preset, and the published class with its language-model head.
FAMILIES = {"tiny": "Qwen2_5_VLForConditionalGeneration", "tiny-qwen3-vl": "Qwen3VLForConditionalGeneration"}


@pytest.fixture(scope="module", params=FAMILIES, ids=str)
def published(request, tmp_path_factory):
    """A folder as published: the whole model, saved by transformers alone, every weight random; and that model."""
    shape = BACKBONES[request.param]
    folder = make_backbone(tmp_path_factory.mktemp("family"), shape)
    torch.manual_seed(5)
    stock = getattr(transformers, FAMILIES[request.param])(config(shape, make_tokenizer())).eval()
    with torch.no_grad():
        for parameter in stock.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape))
    stock.save_pretrained(folder)
    return folder, stock


def reread(frame):
    """Through a PNG file."""
    file = io.BytesIO()
    Image.fromarray(frame).save(file, "PNG")
    return np.asarray(Image.open(file))


def stock_z(folder, stock, policy, task, states):
    """By nothing of ours but the drawing, the prompt's text and the published conventions."""
    name = json.loads((folder / "preprocessor_config.json").read_text())["image_processor_type"]
    processor = getattr(transformers, name).from_pretrained(folder)  # AutoImageProcessor of 5.17 wants torchvision
    crop = policy.vision.crops(task)
    images = [reread(frame) for frame in task.render(states, cell=policy.backbone.token_pixels, crop=crop)]
    inputs = dict(processor(images=images, return_tensors="pt"))
    count = int(inputs["image_grid_thw"][0].prod()) // 4
    text = "<|vision_start|>" + "<|image_pad|>" * count + "<|vision_end|>"
    prompt = load_prompt(policy.config.prompts[policy.task_index(task)]).text.replace("{image}", text)
    ids = transformers.AutoTokenizer.from_pretrained(folder)(prompt, add_special_tokens=False)["input_ids"]
    ids = torch.tensor([ids] * len(states))
    inputs["mm_token_type_ids"] = (ids == stock.config.image_token_id).int()
    with torch.no_grad():
        return stock.model(input_ids=ids, **inputs).last_hidden_state[:, -1]


@pytest.mark.parametrize("task", TASKS, ids=repr)
def test_z_equals_the_stock_model_on_the_stock_processors_picture(published, task):
    folder, stock = published
    policy = recommit.CommitPolicy.from_backbone(folder, ADAPTED).eval()
    states = task.generate(3, seed=1).states
    expected = stock_z(folder, stock, policy, task, states)
    with torch.no_grad():
        z = policy.encode(task, states)
    assert (z - expected).abs().max() < 2e-5 * expected.abs().max()
    assert (z[0] - z[1]).abs().max() > 1e-3, "two pictures must not look the same"


def test_the_comparison_notices_one_wrong_pixel(published, monkeypatch):
    folder, stock = published
    policy = recommit.CommitPolicy.from_backbone(folder, ADAPTED).eval()
    task = TASKS[0]
    states = task.generate(1, seed=1).states
    expected = stock_z(folder, stock, policy, task, states)
    pixels = policy.backbone.pixels

    def wrong(*arguments, **options):
        values = pixels(*arguments, **options).clone()
        values.view(-1)[7] += 1.0
        return values

    monkeypatch.setattr(policy.backbone, "pixels", wrong)
    with torch.no_grad():
        assert (policy.encode(task, states) - expected).abs().max() > 2e-5 * expected.abs().max()


def test_adapters_sit_on_the_language_model_alone(published):
    folder, stock = published
    policy = recommit.CommitPolicy.from_backbone(folder, ADAPTED)
    adapters = [n for n, p in policy.named_parameters() if p.requires_grad and "lora_" in n]
    assert len(adapters) == 2 * 7 * stock.config.text_config.num_hidden_layers
    assert all(".language_model.layers." in name for name in adapters)
    assert policy.vision_frozen
    assert {n.split(".lora_")[0] for n in adapters} == {
        n for n, m in policy.named_modules() if hasattr(m, "lora_A") and "language_model" in n
    }


def test_recomputed_activations_give_the_same_gradients(published):
    states, found = TASKS[0].generate(2, seed=0).states, []
    for recompute in (False, True):
        policy = recommit.CommitPolicy.from_backbone(published[0], PolicyConfig(lora=None, decoder=DECODER))
        policy.backbone.recompute = recompute
        policy.encode(TASKS[0], states).square().sum().backward()
        found.append([p.grad for p in policy.backbone.parameters()])
    assert all((a - b).abs().max() <= 1e-5 * (1 + a.abs().max()) for a, b in zip(*found, strict=True))


def test_saved_and_loaded_whole_is_the_same_policy(published, tmp_path):
    policy = recommit.CommitPolicy.from_backbone(published[0], PolicyConfig(lora=None, decoder=DECODER), seed=1).eval()
    again = recommit.CommitPolicy.from_pretrained(policy.save_pretrained(tmp_path / "saved")).eval()
    states = TASKS[0].generate(4, seed=0).states
    with torch.no_grad():
        assert torch.equal(again.encode(TASKS[0], states), policy.encode(TASKS[0], states))
    assert type(again.backbone) is type(policy.backbone)


def test_cells_are_whole_tokens(published):
    token = load_backbone(published[0]).token_pixels
    wrong = PolicyConfig(lora=None, decoder=DECODER, cell=30)
    make = lambda: recommit.CommitPolicy.from_backbone(published[0], wrong)
    refused([(make, f"cell: expected a multiple of {token} (one visual token of this backbone), got 30")])
