"""Planning: how many users and trials an HTER interval of a given width, or a given power, will take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, get_args

import numpy as np

from priori.base.cautions import Caution
from priori.base.declarations import Cautions, Column
from priori.base.errors import OptionError, argument, unknown
from priori.base.limits import MOST_PLANNED
from priori.base.results import Result
from priori.curves.epc import EPC
from priori.decisions.measures import get_measure
from priori.decisions.outcomes import as_threshold
from priori.scores import ScoreSet
from priori.scores.influence import FOLLOWS
from priori.scores.score_set import as_score_set
from priori.studies.sizes import ClassSpread, DesignEffect, Goal, Variability, design_effect, paired_design_effect
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.comparing.claims import Claim, prepare
from priori.uncertainty.comparing.ztests import AnyMeasure, weights_of
from priori.uncertainty.expected.influences import Estimates
from priori.uncertainty.expected.method import expected_values
from priori.uncertainty.rates.proportions import NORMAL_RULE, check_rate

#: A pilot with fewer users than this gives an uncertain design effect.
FEW_PILOT_USERS = 30
#: Where thresholds are chosen on development data, rates and so variances differ more from study to study than their
#: trials tell: they have this share of the degrees of freedom (measured, validation/coverage/plans.py).
CHOSEN = 0.6
#: What `plan` takes of sizes.
SIZES = ("negatives_per_positive", "negatives_per_user", "positives_per_user")
#: The cautions about pilots that were scanned.
OF_SCANS = ("counted-in-bins", "resampled-in-bins", "probes-left-out")


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """How many users and trials are needed: one row. Made by `plan`.

    ``sd``, ``width`` and ``power`` are what the planned numbers, rounded up, are expected to give; ``power`` is None
    where a width was asked for. ``dev_users`` are those of the development set, where the plan depends on them.
    """

    users: Column[int | None]
    dev_users: Column[int | None]
    negatives: Column[int]
    positives: Column[int]
    sd: Column[float]
    width: Column[float]
    power: Column[float | None]
    assumptions: dict[str, Any]
    sentence: str
    warnings: Cautions

    _one_row: ClassVar[bool] = True

    @property
    def trials(self) -> Column[int]:
        """All trials together."""
        return self.negatives + self.positives


def plan(
    *,
    width: float | None = None,
    difference: float | None = None,
    power: float = 0.8,
    assurance: float | None = 0.8,
    far: float | None = None,
    frr: float | None = None,
    far_b: float | None = None,
    frr_b: float | None = None,
    intraclass: float = 0.0,
    pilot: Any = None,
    threshold: float | None = None,
    pilot_b: Any = None,
    threshold_b: float | None = None,
    negatives_per_positive: float | None = None,
    negatives_per_user: float | None = None,
    positives_per_user: float | None = None,
    claim: Claim | None = None,
    measure: AnyMeasure = "hter",
    confidence_level: float = 0.95,
) -> Plan:
    """Say how many users and trials it takes for an interval of a given width, or to detect a given difference.

    Parameters
    ----------
    width : float
        The whole width of the interval around the measure; or
    difference, power : float
        the difference between two systems that a test should find, and how often (0.8 by default).
    assurance : float or None
        How often a study of the planned size has an interval no wider than that, 0.8 by default: widths vary from
        study to study, and a small pilot may have shown too little variance. None: the expected width only.
    far, frr, far_b, frr_b, intraclass : float, optional
        The rates expected, of one system and of the other (the same, where they are not given), and the correlation
        of the errors of one user: m trials per user then have a design effect of 1 + (m - 1) times it. Or:
    pilot, threshold, pilot_b, threshold_b : optional
        A pilot: a curve at one alpha (`priori.epc`), or scores and their threshold. It also gives the design effect of
        users, the trials per user, and for two systems on the same trials how often they err together. Where a pilot
        shows no error of a class, the highest rate that leaves such luck a chance of 1 - assurance is planned with.
    negatives_per_positive : float, optional
        Where users are not known: how many negatives there will be to each positive; the pilot's, or 1.
    negatives_per_user, positives_per_user : float, optional
        Trials per user, on average over all users; the pilot's where they are not given. For people who are ill
        or not, with one trial each, the share of either: 0.84 and 0.16.
    claim : {"method", "deployed"}, optional
        What `compare` will claim; ``method`` needs pilots that are curves and is then the default: the development set
        then grows with the test set.
    measure, confidence_level
        As in `ztest`.

    Notes
    -----
    From the variances of the z-tests (thesis, Eqs. 3.30 to 3.33) times the design effect; for the claim ``method`` from
    those that the users of the pilot's test and development set bring. With users bounds are Student's, as the
    bootstrap's are. Where the design effect is above 1 the interval or test to use afterwards is one that knows of
    users: the z-tests do not.

    Examples
    --------
    >>> from priori import plan
    >>> planned = plan(width=0.02, far=0.05, frr=0.05, negatives_per_positive=10, assurance=None)
    >>> planned.positives, planned.negatives
    (502, 5020)
    >>> plan(width=0.02, far=0.05, frr=0.05, negatives_per_positive=10).positives
    567
    >>> plan(difference=0.01, power=0.9, far=0.05, frr=0.05, negatives_per_positive=10).positives
    2746
    """
    goal = Goal(width, difference, power, None if width is None else assurance, confidence_level)
    per_user = (negatives_per_user, positives_per_user)
    sizes = zip(SIZES, (negatives_per_positive, *per_user), strict=True)
    for name, size in sizes:
        if size is not None and not 0 < size <= MOST_PLANNED:
            raise OptionError(f"{name} must be above 0 and at most {MOST_PLANNED:.0e}, not {size:g}")
    if pilot is not None and ((far, frr, far_b, frr_b) != (None,) * 4 or intraclass):
        raise OptionError("give either a pilot or rates (far, frr, intraclass), not both")
    pilots = [Pilot.of(pilot, threshold), Pilot.of(pilot_b, threshold_b)]
    first = pilots[0]
    if first is not None:
        by_user, ratio = first.scores.has_users, negatives_per_positive or first.ratio
        effects = _from_pilots(first, pilots[1], assurance or 0.8)
    else:
        if (threshold, pilot_b, threshold_b) != (None, None, None):
            raise OptionError("a threshold or a second pilot goes with a pilot; give that too")
        by_user, ratio = None not in per_user, negatives_per_positive or 1.0
        effects = _from_rates((far, frr), (far_b, frr_b), intraclass if by_user else 0.0)
    if by_user and negatives_per_positive is not None:
        raise OptionError("with trials per user there is no negatives_per_positive; give negatives_per_user instead")
    if not by_user and (per_user != (None, None) or intraclass):
        raise OptionError("trials per user and intraclass need to know of users: a pilot with users, or both numbers")
    unit = per_user if by_user else (ratio, 1.0)
    return _plan(goal, effects, unit, by_user, pilots, claim, measure)


def plans_to_tell_apart(
    a: EPC,
    b: EPC,
    difference: float,
    powers: Sequence[float],
    *,
    claim: Claim,
    measure: AnyMeasure,
    confidence_level: float,
    estimates: Estimates | None = None,
) -> list[Plan]:
    """Plan the test of a difference for several powers, from two curves at one alpha.

    ``estimates`` are those of the two as methods, where they were made before.
    """
    first, second = Pilot(a.test, float(a.threshold[0]), a), Pilot(b.test, float(b.threshold[0]), b)
    by_user, effects = first.scores.has_users, _from_pilots(first, second, 0.8)
    unit = (None, None) if by_user else (first.ratio, 1.0)
    goals = [Goal(None, difference, power, None, confidence_level) for power in powers]
    return [_plan(goal, effects, unit, by_user, [first, second], claim, measure, estimates) for goal in goals]


#: What users do to the variance of one system's rates, and of the difference between two.
Effects = tuple[DesignEffect, DesignEffect]


def _plan(
    goal: Goal,
    effects: Effects,
    unit: tuple[float | None, float | None],
    by_user: bool,
    pilots: Sequence[Pilot | None],
    claim: Claim | None,
    measure: AnyMeasure,
    estimates: Estimates | None = None,
) -> Plan:
    """Return what reaches a goal."""
    weights, first = weights_of(measure), pilots[0]
    single, difference = effects
    test = None if goal.difference is None else "independent" if pilots[1] is None else "compare"
    measured = single if test is None else difference
    effect, dev_ratio, notes = measured.with_per_user(*unit), None, tuple[str, ...]()
    known = effect.variability(weights, by_user=by_user)
    if test is None and first is not None and first.curve is not None:
        known = replace(known, degrees=CHOSEN * known.degrees, pilot=CHOSEN * known.pilot)
    if test == "compare":
        curves = [pilot.curve for pilot in pilots if pilot is not None and pilot.curve is not None]
        claim = _claim(claim, curves if len(curves) == len(pilots) else None)
        if claim == "method":
            grown = effect.variance(weights) / measured.variance(weights)
            known, dev_ratio, notes = _as_method(known, grown, curves, measure, estimates)
    elif claim is not None:
        raise OptionError("a claim is one of compare's: plan a difference with two pilots")
    assumed = {"measure": get_measure(measure).name, "test": test, "claim": claim, "assurance": goal.assurance}
    planned = _planned(goal, known, effect, dev_ratio, single, assumed)
    source = None if first is None else first.scores
    return replace(planned, warnings=(*planned.warnings, *notes))._came_from(source)


# -- what is known -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pilot:
    """The test scores of a pilot, the threshold that was fixed before, and the curve they came from, if any."""

    scores: ScoreSet
    threshold: float
    curve: EPC | None

    @classmethod
    def of(cls, pilot: Any, threshold: float | None) -> Pilot | None:
        """Return a pilot, given as a curve at one alpha or as scores and their threshold, if there is one."""
        if isinstance(pilot, EPC):
            if pilot.alpha.size != 1 or threshold is not None:
                raise OptionError("a plan is for one alpha: a pilot is a curve at one alpha, which has its threshold")
            return cls(pilot.test, float(pilot.threshold[0]), pilot)
        if pilot is None:
            return None
        if threshold is None:
            raise OptionError("each pilot needs its threshold, chosen on other data")
        return cls(as_score_set(pilot), as_threshold(threshold), None)

    @property
    def ratio(self) -> float:
        """Negatives for each positive."""
        return self.scores.n_negatives / self.scores.n_positives


def _from_rates(
    a: tuple[float | None, float | None], b: tuple[float | None, float | None], intraclass: float
) -> Effects:
    if None in a:
        raise OptionError(
            f"give the rates expected ({argument('far')} and {argument('frr')}), or a pilot ({argument('pilot')})"
        )
    if not 0 <= intraclass <= 1:
        raise OptionError(f"intraclass must lie between 0 and 1, not {intraclass:g}")
    systems = []
    for rates in (a, [own if other is None else other for own, other in zip(a, b, strict=True)]):
        spreads = []
        for name, rate in zip(("far", "frr"), rates, strict=True):
            assert rate is not None
            check_rate(name, rate)
            spreads.append(ClassSpread.binomial(rate, intraclass))
        # FAR and FRR are taken for independent given the threshold, as in the thesis.
        systems.append(DesignEffect(0, spreads[0], spreads[1], 0.0))
    return systems[0], systems[0].plus(systems[1])


def _from_pilots(first: Pilot, second: Pilot | None, assurance: float) -> Effects:
    single = design_effect(first.scores, first.threshold).allowing_for_none(assurance)
    if second is None:
        return single, single.plus(single)
    paired = paired_design_effect(first.scores, first.threshold, second.scores, second.threshold)
    return single, paired.allowing_for_none(assurance)


def _claim(claim: Claim | None, curves: Sequence[EPC] | None) -> Claim:
    """Return what is claimed of pilots that are curves, or are not (None).

    By theory, thresholds are the same on any development set, and so are the two claims.
    """
    if claim not in (None, *get_args(Claim)):
        raise unknown("claim", claim, get_args(Claim))
    if curves is None:
        if claim == "method":
            raise OptionError(
                "the claim 'method' is planned from pilots that are curves (priori.epc), which know their development "
                "scores; or choose the claim 'deployed'"
            )
        return "deployed"
    if not any(curve.criterion.reads_development for curve in curves):
        return "deployed"
    return claim or "method"


def _as_method(
    deployed: Variability, grown: float, curves: Sequence[EPC], measure: AnyMeasure, estimates: Estimates | None
) -> tuple[Variability, float, tuple[str, ...]]:
    """Return the variability of the difference of two systems as methods, and development users for each test user.

    What to say of pilots that were scanned comes with them. The variance by test users and that by development users
    each go with one over their number. Other trials per user than the pilot's change the first by the share ``grown``,
    as they do where thresholds are kept.
    """
    notes = tuple[Caution, ...]()
    if estimates is None:
        compared = prepare([replace(curve, measure=get_measure(measure)) for curve in curves], Resampling(), "method")
        estimates = expected_values(compared.curves, compared.plan)
        said = (*compared.warnings, *estimates.warnings)
        notes = tuple(note for note in said if isinstance(note, Caution) and note.code in OF_SCANS)
    dev, test = curves[0].dev, curves[0].test
    moved = [part.influence[:, 0, 0] - part.influence[:, 1, 0] for part in estimates.parts]
    by_test, *by_dev = (float(each @ each) for each in moved)
    units, dev_units = (each.n_users if deployed.by_user else each.n_positives for each in (test, dev))
    _, _, degrees = estimates.contrast([1, -1])
    pilot, unit = min(deployed.pilot, float(degrees[0])), by_test * units * grown
    return replace(deployed, unit=unit + sum(by_dev) * units, pilot=pilot), dev_units / units, notes


# -- the plan ----------------------------------------------------------------------------------------------------


def _planned(
    goal: Goal,
    known: Variability,
    effect: DesignEffect,
    dev_ratio: float | None,
    single: DesignEffect,
    assumed: dict[str, Any],
) -> Plan:
    far, frr, by_user = effect.negatives, effect.positives, known.by_user
    # A unit is a user with all its trials; where users are not known, one positive with its negatives.
    units = goal.units(known)
    rarer = min(far.per_user, frr.per_user)
    fewer, trials = (int(np.ceil(units * number * (1 - 1e-12))) for number in (rarer, far.per_user + frr.per_user))
    negatives, positives = (fewer, trials - fewer) if far.per_user < frr.per_user else (trials - fewer, fewer)
    users = units if by_user else None
    sd = float(np.sqrt(known.unit / units))
    of_ztest = assumed["test"] not in (None, "compare")
    assumptions = {
        **assumed,
        "confidence_level": goal.confidence_level,
        "far": single.negatives.rate,
        "frr": single.positives.rate,
        "negatives_per_user": far.per_user if by_user else None,
        "positives_per_user": frr.per_user if by_user else None,
        "design_effect_far": far.design_effect,
        "design_effect_frr": frr.design_effect,
        "intraclass_far": far.intraclass,
        "intraclass_frr": frr.intraclass,
        "covariance": effect.covariance,
        "pilot_users": single.users or None,
    }
    return Plan(
        users,
        None if dev_ratio is None or not by_user else int(np.ceil(units * dev_ratio * (1 - 1e-12))),
        negatives,
        positives,
        sd,
        2 * known.reach(units, goal.confidence_level) * sd,
        goal.power_at(known, units),
        assumptions,
        sentence=_sentence(goal, users, negatives, positives, assumptions),
        warnings=tuple(_doubts(single, effect, negatives, positives, by_user=by_user, of_ztest=of_ztest)),
    )


def _sentence(goal: Goal, users: int | None, negatives: int, positives: int, assumed: dict[str, Any]) -> str:
    with_users = "" if users is None else f"{users:,} users with "
    level, measure = f"{100 * goal.confidence_level:g} %", get_measure(assumed["measure"]).title
    if goal.difference is None:
        sure = "" if goal.assurance is None else f" in {100 * goal.assurance:g} % of studies"
        aim = f"give a {level} interval of the {measure} that is at most {goal.width:g} wide{sure}"
    else:
        grows = ", the development set growing too" if assumed["claim"] == "method" else ""
        compared = assumed["test"] == "compare"
        test = f"compare, claim {assumed['claim']}{grows}" if compared else f"{assumed['test']} test"
        found = f"find a difference of {abs(goal.difference):g} in the {measure}"
        aim = f"{found} with a power of {goal.power:g} at {level} confidence ({test})"
    effects = f"design effects of {assumed['design_effect_far']:.2f} and {assumed['design_effect_frr']:.2f}"
    return (
        f"{with_users}{negatives:,} negatives and {positives:,} positives in all {aim}, if the FAR is "
        f"{assumed['far']:.4g} and the FRR {assumed['frr']:.4g}" + (f", with {effects}" if users is not None else "")
    )


def _doubts(
    single: DesignEffect, effect: DesignEffect, negatives: int, positives: int, *, by_user: bool, of_ztest: bool
) -> list[Caution]:
    lines = []
    for name, spread, trials in (("FAR", single.negatives, negatives), ("FRR", single.positives, positives)):
        if spread.unseen:
            text = (
                f"the pilot has no error for the {name}: planned with its upper bound, {spread.rate:.3g}; fewer users "
                "or trials may do"
            )
            lines.append(Caution("no-errors", text))
        elif trials * spread.variance < NORMAL_RULE:
            text = (
                f"few errors for the {name}: the normal distribution fits badly; plan for at least "
                f"{int(np.ceil(NORMAL_RULE / max(spread.variance, 1e-300)))} trials of that class"
            )
            lines.append(Caution("few-units", text))
    if by_user and of_ztest and max(effect.negatives.design_effect, effect.positives.design_effect) > 1.1:
        text = "z-tests ignore users; use compare, which resamples users"
        lines.append(Caution("users-unused", text))
    if max(single.negatives.follows, single.positives.follows) > FOLLOWS:
        text = "pilot users who try more err more: the intervals of a larger study may be wider than planned"
        lines.append(Caution("size-follows-error", text))
    if 0 < single.users < FEW_PILOT_USERS:
        text = f"the design effect is estimated from {single.users} users and is uncertain"
        lines.append(Caution("few-pilot-users", text))
    if np.isfinite(single.negatives.measured) and not by_user:
        text = "users are not known: if they bring several trials each, more will be needed"
        lines.append(Caution("users-unknown", text))
    return lines
