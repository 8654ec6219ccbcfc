"""``recommit estimate``: its flags are the fields of ``EstimateOptions``. Light to import."""

from __future__ import annotations

from json import dumps

from recommit.cli.flags import takes, usual
from recommit.cli.requests import WrongCall
from recommit.estimate.options import EstimateOptions
from recommit.storage.terminal_text import tell


@usual(
    task="that of the recipe's preset",
    size="the usual one",
    variant="adaptive",
    set="nothing more",
    backbone="that of the recipe",
    zero="no DeepSpeed",
    deepspeed="no DeepSpeed",
)
@takes(EstimateOptions, "recipe")
def estimate(options: EstimateOptions, json: bool = False) -> int:
    """Estimate.

    Args:
        json: Print JSON.
    """
    from recommit.estimate.costs import text

    try:
        estimates = options.estimates()
    except ValueError as error:
        raise WrongCall(str(error)) from None
    if json:
        tell(dumps([each.to_json() for each in estimates], indent=2))
    else:
        tell("\n".join(text(each) for each in estimates), end="")
    return 0
