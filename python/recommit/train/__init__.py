"""Training: warm start (``sft``), GRPO (``grpo``), depth heads on frozen plans (``heads``), engines.

Needs the extra ``train``.
"""
