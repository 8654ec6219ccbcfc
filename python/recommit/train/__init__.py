"""Training: warm start (``sft``), GRPO (``grpo``), depth heads on frozen plans (``heads``, ``baselines``), families of
runs, engines.

Needs the extra ``train``. Nothing here is imported before it is asked for.
"""

from __future__ import annotations
