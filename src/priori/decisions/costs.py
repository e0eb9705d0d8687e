"""Costs: what errors cost, and how many positives there will be. The alpha and the measure follow from both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from priori.base.alphas import from_costs, share
from priori.base.errors import OptionError, argument, short
from priori.decisions.criteria import get_criterion
from priori.decisions.measure import Measure
from priori.decisions.measures import at_prior, cost, get_measure
from priori.decisions.tasks import Task, get_task

#: How costs are typed.
SHAPE = "write fn=100,fp=1: what a false negative and a false positive cost"


class Priced(NamedTuple):
    """The measure to show and the alphas to choose by; None: what is used when nothing is said."""

    measure: Any
    alpha: Any


def price(task: str | Task, criterion: Any, measure: Any, alpha: Any, costs: Any, prior: Any) -> Priced:
    """Return the measure and the alphas that costs and a prior ask for, where these are given.

    Costs are shown per decision where no measure is named, and give alpha where none is given and the criterion is
    ``wer``. Without costs, the prior is the share of positives at which the measure is shown.

    Examples
    --------
    >>> priced = price("authentication", None, None, None, "fn=100,fp=1", "0.01")
    >>> priced.measure.name, priced.alpha
    ('cost:fn=100,fp=1,prior=0.01', Fraction(99, 199))
    >>> price("retrieval", None, "precision", None, None, 0.01).measure.name
    'precision:prior=0.01'
    """
    if costs is None and prior is None:
        return Priced(measure, alpha)
    shown = None if measure is None else get_measure(measure)
    if costs is None:
        return Priced(at_prior(shown or get_task(task).aggregate, prior), alpha)
    if prior is None:
        raise OptionError(
            f"costs need the share of positives where the system will be used: add {argument('prior')}, such as 0.01"
        )
    miss, alarm = pair_of_costs(costs)
    if alpha is None and get_criterion(criterion, task).name == "wer":
        alpha = from_costs(miss, alarm, prior)
    if shown is None:
        shown = cost(float(miss), float(alarm), float(share(prior)))
    return Priced(shifted(shown, prior), alpha)


def shifted(measure: Measure, prior: Any) -> Measure:
    """Return a measure at a share of positives, if it depends on it."""
    return at_prior(measure, prior) if "prevalence" in measure.depends_on else measure


def pair_of_costs(costs: Any) -> tuple[str, str]:
    """Read the cost of a false negative and of a false positive: ``fn=100,fp=1``, a mapping, or the two numbers."""
    if isinstance(costs, str):
        pairs = [(name.strip(), value) for name, _, value in (part.partition("=") for part in costs.split(","))]
        if len(pairs) != 2:
            raise OptionError(f"costs: {SHAPE}, not {short(costs)}")
        costs = dict(pairs)
    if isinstance(costs, Mapping):
        if set(costs) != {"fn", "fp"}:
            raise OptionError(f"costs: {SHAPE}, not {short(str(dict(costs)))}")
        costs = costs["fn"], costs["fp"]
    try:
        miss, alarm = (str(value).strip() for value in costs)
        float(miss), float(alarm)
    except (TypeError, ValueError):
        raise OptionError(f"costs: {SHAPE}, not {short(str(costs))}") from None
    return miss, alarm
