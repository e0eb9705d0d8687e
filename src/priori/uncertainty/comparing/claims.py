"""Claims: what a comparison says about systems, which of them can be compared, and what is drawn for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from priori.base.cautions import joined, of_systems
from priori.base.errors import InputError, OptionError, argument, unknown
from priori.base.options import Claim as Claim
from priori.base.types import Floats, Progress
from priori.curves.epc import EPC
from priori.decisions.measure import Measure
from priori.engines import Table
from priori.scores import ScoreSet
from priori.scores.pairing import in_one_order
from priori.scores.score_set import Role
from priori.uncertainty.bands.bands import resamplable
from priori.uncertainty.bootstrap.calibration import error_rates, slopes_of
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.bootstrap.resampling import BootstrapPlan, Resampling

#: Both identities of a trial.
PEOPLE: tuple[Role, ...] = ("user", "probe_user")


@dataclass(frozen=True, eq=False)
class Compared:
    """Systems ready to be compared: what is asked of them, their trials in one order, what is drawn, and warnings.

    ``given`` are the curves as they were given, ``curves`` those whose trials are in one order.
    """

    given: tuple[EPC, ...]
    curves: tuple[EPC, ...]
    claim: Claim
    resampling: Resampling
    plan: BootstrapPlan
    unpaired: bool
    margin: float | None
    warnings: tuple[str, ...]

    @property
    def measure(self) -> Measure:
        """The measure that systems are compared by."""
        return self.given[0].measure

    @property
    def alpha(self) -> Floats:
        """The alphas at which they are compared."""
        return self.given[0].alpha

    @property
    def shares(self) -> Floats:
        """The weight of each alpha in the mean over all of them."""
        return shares_of(self.alpha)

    @property
    def most_harm(self) -> Floats:
        """How much worse the measure of a user gets at each alpha who loses all trials of a class."""
        curve = self.curves[0]
        slopes = slopes_of(curve.test, error_rates(curve.test, curve.threshold), self.plan)
        return np.ones(curve.alpha.size) if slopes is None else np.abs(slopes).max(axis=0)

    def settings(self) -> dict[str, Any]:
        """Return how they are compared, for the record."""
        settings = {"measure": self.measure.title, "rate": self.measure.rate}
        settings |= {"criterion": self.given[0].criterion.name, "claim": self.claim}
        kept = ("bootstrap", "n_resamples", "confidence_level", "interval", "simultaneous", "shared_users", "seed")
        planned = self.plan.settings()
        if self.claim == "method":
            planned["interval"] = "t"
        settings |= {name: planned[name] for name in kept}
        return {**settings, "paired": not self.unpaired}


def prepare(
    curves: Sequence[EPC],
    resampling: Resampling,
    claim: Claim = "method",
    *,
    unpaired: bool = False,
    margin: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Compared:
    """Check that curves can be compared, pair their trials, and settle what is drawn."""
    if claim not in get_args(Claim):
        raise unknown("claim", claim, get_args(Claim))
    if margin is not None and not (margin > 0 and np.isfinite(margin)):
        raise OptionError(f"margin must be a positive number, such as 0.01 for one point of a rate, not {margin}")
    for curve in curves[1:]:
        _check_comparable(curves[0], curve, claim)
    if not any(curve.criterion.reads_development for curve in curves):
        claim = "deployed"  # by theory, thresholds are the same on any development set
    resampling = replace(resampling, resample="both" if claim == "method" else "test")
    if claim == "method" and not unpaired:
        _check_same_trials(curves)
    ready = [
        resamplable(curve, resampling, beside=() if unpaired else (*curves[:number], *curves[number + 1 :]))
        for number, curve in enumerate(curves)
    ]
    placed = [curve for curve, _ in ready]
    if not unpaired:
        if resampling.by_both_identities:
            placed = _counted_by_both(placed)
        placed = _paired(placed, with_dev=claim == "method")
    chosen = resampling
    if claim == "method":
        sets = [each for curve in placed for each in (curve.dev, curve.test)]
        chosen = _with_units(resampling, sets, curves[0].measure)
    run: dict[str, Any] = {"threads": threads, "progress": progress}
    plans = [chosen.settle(curve.dev, curve.test, curve, **run) for curve in (placed if unpaired else placed[:1])]
    # Systems that are drawn apart may have identities or not; all are drawn by what all of them have.
    plan = min(plans, key=lambda plan: plan.design.preference)
    if any(other.design is not plan.design for other in plans):  # which some of them may warn of
        common = replace(chosen, bootstrap=plan.design.name)
        plans = [common.settle(curve.dev, curve.test, curve, **run) for curve in placed]
    notes = (note for plan in plans for note in plan.warnings), (note for _, found in ready for note in found)
    own = dict.fromkeys(note for part in notes for note in part)
    warnings = joined(own, of_systems([(curve.name, curve.warnings) for curve in curves]))
    margin = None if margin is None else float(margin)
    return Compared(tuple(curves), tuple(placed), claim, resampling, plan, unpaired, margin, warnings)


def _with_units(resampling: Resampling, sets: Sequence[ScoreSet], measure: Measure) -> Resampling:
    """Return the resampling by one of the units that the claim about methods knows, the best that the sets have."""
    if resampling.interval is not None:
        raise OptionError("interval belongs to the claim 'deployed'; leave it out, or ask for that claim")
    known = {name: bootstrap for name, bootstrap in BOOTSTRAPS.items() if bootstrap.one_level}
    if resampling.bootstrap is None:
        suitable = [bootstrap for bootstrap in known.values() if bootstrap.suits(sets, [measure])]
        return replace(resampling, bootstrap=max(suitable, key=lambda bootstrap: bootstrap.preference).name)
    if resampling.bootstrap not in known:
        raise OptionError(
            f"the claim 'method' takes the bootstraps {', '.join(known)}, not {resampling.bootstrap}; "
            "choose one of them, or the claim 'deployed'"
        )
    return resampling


def _check_comparable(a: EPC, b: EPC, claim: Claim) -> None:
    if a.alpha.shape != b.alpha.shape or not np.array_equal(a.alpha, b.alpha):
        raise OptionError("the two curves have different alphas; compute both at the same ones (points=, alpha=)")
    if a.omega != b.omega:
        raise OptionError("attacks have another share in one of the two curves; compute both at one omega")
    if a.weight != b.weight:
        raise OptionError(f"one curve weighs {a.weight}s alike, the other {b.weight}s; compute both with one weight")
    if a.measure.name != b.measure.name:
        raise OptionError(f"the two curves show different measures: {a.measure.name} and {b.measure.name}")
    if claim == "method" and a.criterion.name != b.criterion.name:
        raise OptionError(
            f"thresholds were chosen by different criteria ({a.criterion.name}, {b.criterion.name}); "
            f"choose both by one, or compare the thresholds as they are ({argument('claim', 'deployed')})"
        )


def _counted_by_both(curves: Sequence[EPC]) -> list[EPC]:
    """Return the curves with trials that are paired in a scan, and counted by both identities, if they are there."""
    first, *others = (curve.test for curve in curves)
    if not isinstance(first, Table) or not all(isinstance(other, Table) for other in others):
        return list(curves)
    sets = first.count([np.unique(curve.threshold) for curve in curves], PEOPLE, others)
    return [replace(curve, test=test) for curve, test in zip(curves, sets, strict=True)]


def _paired(curves: Sequence[EPC], *, with_dev: bool) -> list[EPC]:
    """Return the curves with their trials in one order; identities are those of whichever system has them."""
    tests = in_one_order([curve.test for curve in curves])
    devs = [curve.dev for curve in curves]
    if with_dev:
        with _or_only_test():
            devs = in_one_order(devs)
    return [replace(curve, test=test, dev=dev) for curve, test, dev in zip(curves, tests, devs, strict=True)]


@contextmanager
def _or_only_test() -> Iterator[None]:
    """Add to an error about the development trials the claim that does not need them."""
    try:
        yield
    except InputError as error:
        only_test = "or compare the thresholds as they are, which needs the same test trials only"
        raise InputError(f"{error.marked}; {only_test} ({argument('claim', 'deployed')})") from error


def _check_same_trials(curves: Sequence[EPC]) -> None:
    """Raise an error where systems that do not fit in memory, and are counted apart, do not have the same trials."""
    first, *others = curves
    for other in others:
        if not (first.test.fits and other.test.fits):
            first.test.check_same_trials(other.test)
        if not (first.dev.fits and other.dev.fits):
            with _or_only_test():
                first.dev.check_same_trials(other.dev)


def shares_of(alpha: Floats) -> Floats:
    """Return the weights that turn values into their mean over the range of alphas (trapezoids)."""
    if alpha.size == 1:
        return np.ones(1)
    order = np.argsort(alpha, kind="stable")
    apart = np.diff(alpha[order])
    total = apart.sum()
    shares = np.empty(alpha.size)
    shares[order] = (np.append(apart, 0.0) + np.append(0.0, apart)) / (2 * total) if total else 1 / alpha.size
    return shares
