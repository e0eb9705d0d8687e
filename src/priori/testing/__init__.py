"""For tests of your own: assert that error rates at thresholds fixed in advance keep a limit, or are no worse."""

from __future__ import annotations

from typing import Any

from priori.base.errors import OptionError
from priori.curves.epc import epc
from priori.decisions.criteria import get_criterion
from priori.decisions.recipe import AnyCriterion
from priori.decisions.tasks import Task
from priori.studies.gates import At, Checked, check_limits, check_no_worse
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.comparing.claims import Claim

__all__ = ["assert_no_worse", "assert_rate"]


def assert_rate(
    dev: Any,
    test: Any,
    rate: str = "hter",
    *,
    maximum: float | None = None,
    minimum: float | None = None,
    at: At = "upper",
    alpha: Any = None,
    task: str | Task = "authentication",
    criterion: AnyCriterion = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: int = 0,
    name: str = "system",
) -> Checked:
    """Raise `AssertionError` unless a rate on the test scores keeps a limit, at the threshold of development scores.

    Parameters
    ----------
    dev, test : Scores, Table, or frame
        As in `priori.epc`.
    rate : str
        A measure: ``hter``, ``far``, ``frr``, ``recall``, ...
    maximum, minimum : float
        The limit; give one of them.
    at : {"upper", "value"}
        Hold the end of the confidence interval against it (the lower one against a minimum), or the value itself.
    alpha, task, criterion
        How the threshold is chosen, as in `priori.choose_threshold`.
    confidence_level, n_resamples, rng
        How the interval is made, as in `priori.EPC.band`.

    Examples
    --------
    >>> import numpy as np, priori
    >>> from priori.testing import assert_rate
    >>> rng = np.random.default_rng(1)
    >>> dev, test = (priori.Scores.from_arrays(rng.normal(0, 1, 500), rng.normal(3, 1, 500)) for _ in range(2))
    >>> assert_rate(dev, test, "hter", maximum=0.10).kept
    True
    >>> assert_rate(dev, test, "far", maximum=0.001)
    Traceback (most recent call last):
    ...
    AssertionError: system: far 0.124 (from 0.0984684 to 0.156662), limit 0.001 at upper: broken
    """
    if (maximum is None) == (minimum is None):
        raise OptionError("give a maximum or a minimum")
    chosen = get_criterion(criterion, task).alpha_or_half(alpha)
    curve = epc(dev, test, task=task, criterion=criterion, measure=rate, alpha=[chosen], name=name)
    resampling = Resampling(n_resamples=n_resamples, confidence_level=confidence_level, rng=rng)
    maxima, minima = ({} if limit is None else {rate: limit} for limit in (maximum, minimum))
    (checked,) = check_limits(curve, maxima, resampling, at=at, minima=minima)
    return _kept(checked)


def assert_no_worse(
    system: tuple[Any, Any],
    other: tuple[Any, Any],
    margin: float,
    rate: str = "hter",
    *,
    claim: Claim = "deployed",
    alpha: Any = None,
    task: str | Task = "authentication",
    criterion: AnyCriterion = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    rng: int = 0,
    names: tuple[str, str] = ("system", "other"),
) -> Checked:
    """Raise `AssertionError` unless a system is shown to be no worse than another by more than a margin.

    Parameters
    ----------
    system, other : pairs of Scores, Table, or frame
        The development and the test scores of each, on the same test trials.
    margin : float
        By how much the system may be worse: 0.005 is half a percentage point.
    rate, alpha, task, criterion, confidence_level, n_resamples, rng
        As in `assert_rate`.
    claim : {"deployed", "method"}
        About these thresholds, or systems tuned on similar development sets, as in `priori.compare`.

    Examples
    --------
    >>> import numpy as np, priori
    >>> from priori.testing import assert_no_worse
    >>> rng = np.random.default_rng(1)
    >>> dev, test = (priori.Scores.from_arrays(rng.normal(0, 1, 500), rng.normal(3, 1, 500)) for _ in range(2))
    >>> assert_no_worse((dev, test), (dev, test), margin=0.01, n_resamples=1000).kept
    True
    """
    chosen = get_criterion(criterion, task).alpha_or_half(alpha)
    settings: dict[str, Any] = {"task": task, "criterion": criterion, "measure": rate, "alpha": [chosen]}
    curve, against = (epc(*sets, **settings, name=name) for sets, name in zip((system, other), names, strict=True))
    resampling = Resampling(n_resamples=n_resamples, confidence_level=confidence_level, rng=rng)
    return _kept(check_no_worse(curve, against, margin, resampling, claim=claim))


def _kept(checked: Checked) -> Checked:
    if not checked.kept:
        raise AssertionError(checked.sentence)
    return checked
