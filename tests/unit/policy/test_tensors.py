from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from recommit.policy.tensors import entropy, kl


def test_exact_quantities_against_numpy():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(50, 4)), rng.normal(size=(50, 4))
    p, q = (np.exp(x) / np.exp(x).sum(1, keepdims=True) for x in (a, b))
    ta, tb = torch.tensor(a), torch.tensor(b)
    assert np.allclose(entropy(ta), -(p * np.log(p)).sum(1), atol=1e-6)
    assert np.allclose(kl(ta, tb), (p * np.log(p / q)).sum(1), atol=1e-6)
    assert (kl(ta, ta) == 0).all()
