"""Fast products are products, whoever multiplies; and a run without them leaves torch as it was."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from recommit.runs.arithmetic import settle


@pytest.fixture(autouse=True)
def _as_before():
    threads = torch.get_num_threads()
    yield
    settle(threads, "usual", "cpu")


def settings():
    return torch.backends.mkldnn.matmul.fp32_precision, torch.backends.cuda.flash_sdp_enabled()


def test_fast_products_are_asked_for_and_given_up_again():
    settle(0, "usual", "cpu")
    before = settings()
    settle(1, "fast", "cpu")
    assert settings() != before
    assert torch.get_num_threads() == 1
    settle(0, "usual", "cpu")
    assert settings() == before
    assert torch.get_num_threads() == 1


def test_fast_products_stay_within_bfloat16_of_exact_ones():
    generator = torch.Generator().manual_seed(3)
    a, b = (torch.randn(shape, generator=generator) for shape in ((96, 80), (80, 112)))
    exact = a.double() @ b.double()
    settle(1, "fast", "cpu")
    q, k, v = (torch.randn((2, 2, 9, 16), generator=generator) for _ in range(3))
    attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    fast = a @ b
    settle(1, "usual", "cpu")
    usual = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert (fast.double() - exact).abs().max() <= 80 * 2.0**-8 * a.abs().max() * b.abs().max()
    assert torch.allclose(attended, usual, atol=0.1)
