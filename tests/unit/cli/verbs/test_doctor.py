"""Doctor sees what is there and what is not."""

from __future__ import annotations

import types

import pytest

import recommit
from recommit.cli.verbs import doctor


def test_it_sees_what_is_installed() -> None:
    report = doctor.examine()
    assert report.works
    assert report.recommit == recommit.__version__
    assert report.core.endswith((".so", ".pyd"))


def test_it_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doctor.EXTRAS, "planted", ("a_module_that_nobody_has",))
    report = doctor.examine()
    assert not report.extras["planted"].complete
    assert "pip install 'recommit[planted]'" in str(report)


def test_it_says_what_can_be_trained() -> None:
    found = {name: doctor.Extra({"module": "1"}, f"pip install 'recommit[{name}]'") for name in doctor.EXTRAS}
    lacking = found | {"policy": doctor.Extra({"torch": None}, "x")}
    assert doctor.training(lacking) == "nothing yet: needs pip install 'recommit[train]'"
    pytest.importorskip("torch")
    assert doctor.training(found).startswith("laptop recipes")


def test_it_says_what_a_gpu_has(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    found = {name: doctor.Extra({"module": "1"}, f"pip install 'recommit[{name}]'") for name in doctor.EXTRAS}
    assert "no GPU is seen" in doctor.training(found) or torch.cuda.is_available()
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    card = types.SimpleNamespace(total_memory=24 << 30)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _i: card)
    assert "1 GPU of 24 GiB, of which recommit estimate paper-sliding --memory 24" in doctor.training(found)


def test_it_sees_a_core_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recommit.Sliding, "step", lambda _self, states, _actions: states)
    assert not doctor.works()
    assert "WRONG" in str(doctor.examine())
