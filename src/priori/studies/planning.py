"""Planning: how many users and trials an HTER interval of a given width, or a given power, will take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from priori.base.errors import InputError, OptionError, unknown
from priori.base.layouts import TEXT, TEXTS, Layout, of
from priori.base.results import Result
from priori.decisions.measures import get_measure
from priori.scores import ScoreSet
from priori.studies.design_effect import DesignEffect, Spread, design_effect, paired_design_effect
from priori.uncertainty.proportions import NORMAL_RULE, Alternative, check_rate, quantile
from priori.uncertainty.ztest_normals import AnyMeasure, Weights, weights_of

TestKind = Literal["verdict", "dependent", "independent"]


@dataclass(frozen=True, repr=False)
class Plan(Result):
    """How many users and trials are needed, and what was assumed. Made by `plan`.

    ``sd``, ``width`` and ``power`` are what the planned numbers, rounded up, should give; ``power`` is None where
    a width was asked for.
    """

    users: int | None
    negatives: int
    positives: int
    sd: float
    width: float
    power: float | None
    assumptions: dict[str, Any]
    sentence: str
    warnings: tuple[str, ...]

    @property
    def trials(self) -> int:
        """All trials together."""
        return self.negatives + self.positives

    _layout = Layout(
        "How many users and trials are needed: one row.",
        {
            "users": "integer or missing",
            **of("integer", "negatives positives trials"),
            **of("number", "sd width"),
            "power": "number or missing",
        },
        {"sentence": TEXT, "assumptions": {"type": "object"}, "warnings": TEXTS},
        one_row=True,
    )

    def to_dict(self) -> dict[str, Any]:
        """Return everything by name; the planned numbers as numbers."""
        return {name: value[0] if name in self.columns() else value for name, value in super().to_dict().items()}


def plan(
    *, width: float | None = None, difference: float | None = None, power: float = 0.8, far: float | None = None,
    frr: float | None = None, far_b: float | None = None, frr_b: float | None = None, intraclass: float = 0.0,
    pilot: ScoreSet | None = None, threshold: float | None = None, pilot_b: ScoreSet | None = None,
    threshold_b: float | None = None, negatives_per_positive: float | None = None,
    negatives_per_user: float | None = None, positives_per_user: float | None = None, test: TestKind = "verdict",
    measure: AnyMeasure = "hter", confidence_level: float = 0.95, alternative: Alternative = "two-sided",
) -> Plan:  # fmt: skip
    """Say how many users and trials it takes for an interval of a given width, or to detect a given difference.

    Parameters
    ----------
    width : float
        The whole width of the interval around the measure; or
    difference, power : float
        the difference between two systems that a test should find, and how often (0.8 by default).
    far, frr, far_b, frr_b, intraclass : float, optional
        The rates expected, of one system and of the other (the same, where they are not given), and the correlation
        of the errors of one user: m trials per user then have a design effect of 1 + (m - 1) times it. Or:
    pilot, threshold, pilot_b, threshold_b : optional
        Scores of a pilot and their thresholds: they also give the design effect of users, the trials per user, and
        for two systems on the same trials how often they err together.
    negatives_per_positive : float, optional
        Where users are not known: how many negatives there will be to each positive; the pilot's, or 1.
    negatives_per_user, positives_per_user : float, optional
        Trials per user; the pilot's where they are not given.
    test : {"verdict", "dependent", "independent"}
        Which test must find the difference. The verdict of `ztest` wants both, so the wider of the two counts; the
        dependent test can only be planned from two pilots.
    measure, confidence_level, alternative
        As in `ztest`; the alternative is that of the test of a difference.

    Notes
    -----
    From the variances of the z-tests (thesis, Eqs. 3.30 to 3.33) times the design effect. Where that is above 1 the
    interval or test to use afterwards is one that knows of users, such as the user bootstrap: the z-tests do not.

    Examples
    --------
    >>> from priori import plan
    >>> planned = plan(width=0.02, far=0.05, frr=0.05, negatives_per_positive=10)
    >>> planned.positives, planned.negatives
    (502, 5020)
    >>> plan(difference=0.01, power=0.9, far=0.05, frr=0.05, negatives_per_positive=10).positives
    2746
    """
    weights = weights_of(measure)
    goal = _goal(width, difference, power, confidence_level, alternative)
    per_user = (negatives_per_user, positives_per_user)
    sizes = {"negatives_per_positive": negatives_per_positive, "negatives_per_user": negatives_per_user,
             "positives_per_user": positives_per_user}  # fmt: skip
    for name, size in sizes.items():
        if size is not None and not (np.isfinite(size) and size > 0):
            raise OptionError(f"{name} must be above 0, not {size:g}")
    if pilot is not None:
        if (far, frr, far_b, frr_b) != (None,) * 4 or intraclass:
            raise OptionError("give either a pilot or rates (far, frr, intraclass), not both")
        effects = _from_pilots(pilot, threshold, pilot_b, threshold_b)
        by_user = pilot.has_users
        unit = per_user if by_user else (negatives_per_positive or pilot.n_negatives / pilot.n_positives, 1.0)
    else:
        if (threshold, pilot_b, threshold_b) != (None, None, None):
            raise OptionError("a threshold or a second pilot goes with a pilot; give that too")
        by_user = None not in per_user
        unit = per_user if by_user else (negatives_per_positive or 1.0, 1.0)
        effects = _from_rates((far, frr), (far_b, frr_b), intraclass if by_user else 0.0)
    if by_user and negatives_per_positive is not None:
        raise OptionError("with trials per user there is no negatives_per_positive; give negatives_per_user instead")
    if not by_user and (per_user != (None, None) or intraclass):
        raise OptionError("trials per user and intraclass need to know of users: a pilot with users, or both numbers")
    kinds = ["single"] if difference is None else _kinds(effects, test)
    ready = {kind: effects[kind].with_per_user(*unit) for kind in kinds}
    kind = max(ready, key=lambda name: ready[name].variance(weights))
    assumed = {"measure": get_measure(measure).name, "test": None if difference is None else kind}
    return _planned(goal, ready[kind], weights, by_user, effects["single"], assumed)._came_from(pilot)


@dataclass(frozen=True)
class Goal:
    """What the plan must reach: the deviation ``sd``, from a width or from a difference and a power."""

    sd: float
    z: float
    width: float | None
    difference: float | None
    power: float | None
    confidence_level: float
    alternative: str

    def power_at(self, sd: float) -> float | None:
        """Return how often the difference is found when it has this deviation."""
        from scipy.special import ndtr

        return None if self.difference is None else float(ndtr(abs(self.difference) / sd - self.z))


def _goal(width: float | None, difference: float | None, power: float, level: float, alternative: Alternative) -> Goal:
    from scipy.special import ndtri

    if (width is None) == (difference is None):
        raise OptionError("say what to plan for: either a width or a difference")
    if width is not None:
        if not 1e-9 < width < 1:
            raise OptionError(f"the width must lie between 0 and 1 (at least 1e-9), not {width:g}")
        z = quantile(level)
        return Goal(width / (2 * z), z, width, None, None, level, "two-sided")
    assert difference is not None
    if not 1e-9 < abs(difference) < 1:
        raise OptionError(f"the difference must lie between 0 and 1 (at least 1e-9), not {difference:g}")
    if not 0.5 <= power < 1:
        raise OptionError(f"the power must lie between 0.5 and 1, not {power:g}")
    z = quantile(level, alternative)
    return Goal(abs(difference) / (z + float(ndtri(power))), z, None, difference, power, level, alternative)


def _from_rates(
    a: tuple[float | None, float | None], b: tuple[float | None, float | None], intraclass: float
) -> dict[str, DesignEffect]:
    if None in a:
        raise OptionError("give the rates expected (far and frr), or a pilot and its threshold")
    if not 0 <= intraclass <= 1:
        raise OptionError(f"intraclass must lie between 0 and 1, not {intraclass:g}")
    systems = []
    for far, frr in (a, (a[0] if b[0] is None else b[0], a[1] if b[1] is None else b[1])):
        assert far is not None
        assert frr is not None
        check_rate("far", far)
        check_rate("frr", frr)
        spreads = Spread.binomial(far, 1.0, intraclass), Spread.binomial(frr, 1.0, intraclass)
        # FAR and FRR are taken for independent given the threshold, as in the thesis.
        systems.append(DesignEffect(0, *spreads, 0.0))
    return {"single": systems[0], "independent": systems[0].plus(systems[1])}


def _from_pilots(
    pilot: ScoreSet, threshold: float | None, pilot_b: ScoreSet | None, threshold_b: float | None
) -> dict[str, DesignEffect]:
    if threshold is None or (pilot_b is None) != (threshold_b is None):
        raise OptionError("each pilot needs its threshold, chosen on other data")
    single = design_effect(pilot, threshold)
    if pilot_b is None or threshold_b is None:
        return {"single": single, "independent": single.plus(single)}
    paired = paired_design_effect(pilot, threshold, pilot_b, threshold_b)
    return {"single": single, "independent": single.plus(design_effect(pilot_b, threshold_b)), "dependent": paired}


def _kinds(effects: dict[str, DesignEffect], test: TestKind) -> list[str]:
    if test not in get_args(TestKind):
        raise unknown("test", test, get_args(TestKind))
    if test == "verdict":
        return [kind for kind in ("independent", "dependent") if kind in effects]
    if test not in effects:
        raise OptionError("the dependent test can only be planned from two pilots on the same trials")
    return [test]


def _planned(
    goal: Goal, effect: DesignEffect, weights: Weights, by_user: bool, single: DesignEffect, assumed: dict[str, Any]
) -> Plan:
    far, frr = effect.negatives, effect.positives
    for name, weight, spread in (("FAR", weights.far, far), ("FRR", weights.frr, frr)):
        if weight and not spread.variance:
            raise InputError(f"no errors to plan with: the {name} has no variance; give the rate that you expect")
    # A unit is a user with all its trials; where users are not known, one positive with its negatives.
    units = int(np.ceil(effect.variance(weights) / goal.sd**2 * (1 - 1e-12)))
    negatives, positives = (int(np.ceil(units * spread.per_user * (1 - 1e-12))) for spread in (far, frr))
    users = units if by_user else None
    sd = float(np.sqrt(effect.variance(weights, units)))
    assumptions = {
        **assumed, "confidence_level": goal.confidence_level, "alternative": goal.alternative,
        "far": single.negatives.rate, "frr": single.positives.rate,
        "negatives_per_user": far.per_user if by_user else None,
        "positives_per_user": frr.per_user if by_user else None,
        "design_effect_far": far.design_effect, "design_effect_frr": frr.design_effect,
        "intraclass_far": far.intraclass, "intraclass_frr": frr.intraclass,
        "covariance": effect.covariance, "pilot_users": single.users or None,
    }  # fmt: skip
    return Plan(
        users, negatives, positives, sd, 2 * quantile(goal.confidence_level) * sd, goal.power_at(sd), assumptions,
        sentence=_sentence(goal, users, negatives, positives, assumptions),
        warnings=tuple(_doubts(single, effect, negatives, positives, by_user)),
    )  # fmt: skip


def _sentence(goal: Goal, users: int | None, negatives: int, positives: int, assumed: dict[str, Any]) -> str:
    with_users = "" if users is None else f"{users:,} users with "
    level = f"{100 * goal.confidence_level:g} %"
    if goal.difference is None:
        aim = f"give a {level} interval of the {assumed['measure']} that is {goal.width:g} wide"
    else:
        aim = (
            f"find a difference of {abs(goal.difference):g} in the {assumed['measure']} with a power of "
            f"{goal.power:g} at {level} confidence ({assumed['test']} test)"
        )
    effects = f"design effects of {assumed['design_effect_far']:.2f} and {assumed['design_effect_frr']:.2f}"
    return (
        f"{with_users}{negatives:,} negatives and {positives:,} positives in all {aim}, if the FAR is "
        f"{assumed['far']:.4g} and the FRR {assumed['frr']:.4g}" + (f", with {effects}" if users is not None else "")
    )


def _doubts(single: DesignEffect, effect: DesignEffect, negatives: int, positives: int, by_user: bool) -> list[str]:
    lines = []
    for name, spread, trials in (("FAR", single.negatives, negatives), ("FRR", single.positives, positives)):
        if trials * spread.variance < NORMAL_RULE:
            lines.append(
                f"few errors: n p (1 - p) = {trials * spread.variance:.3g} for the {name} is under {NORMAL_RULE:g}, "
                f"where the normal distribution fits badly; {int(np.ceil(NORMAL_RULE / max(spread.variance, 1e-300)))} "
                "trials of that class would pass"
            )
    if by_user and max(effect.negatives.design_effect, effect.positives.design_effect) > 1.1:
        lines.append("the z-tests do not know of users: judge the data with a bootstrap that draws users")
    if 0 < single.users < 30:
        lines.append(f"the design effect comes from {single.users} users only: it is itself uncertain")
    if not by_user:
        lines.append("users are not known: if they bring several trials each, more will be needed")
    return lines
