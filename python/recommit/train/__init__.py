"""Training: supervised warm start (``recommit train sft``), run directories that resume to the bit, engines.

Needs the extra ``train``. Nothing here is imported before it is asked for.
"""

from __future__ import annotations
