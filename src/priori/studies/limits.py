"""Certification: how many people and trials it takes until the upper bound of an error rate keeps a limit.

The bound is Clopper and Pearson's, one-sided. Without a rate to expect the plan is the smallest that passes without an
error: some 3 / limit independent trials at 95 % (the rule of three). Trials that share people are worth fewer: each is
correlated with those it shares a person with, and the design effect is one plus the correlation times their number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from priori.base.cautions import Caution
from priori.base.declarations import Cautions, Column, Level
from priori.base.errors import OptionError, argument, short, unknown
from priori.base.limits import MOST_PLANNED, check_level
from priori.base.results import Result
from priori.decisions.measures import ALIASES
from priori.scores.influence import People
from priori.studies.planning import FEW_PILOT_USERS, Pilot
from priori.studies.sizes import smallest
from priori.uncertainty.rates.rate_intervals import judge, shared_by

LimitedRate = Literal["far", "frr", "fmr", "fnmr"]
#: The rates of comparisons of two people.
OF_PAIRS = ("far", "fmr")


@dataclass(frozen=True, repr=False)
class LimitPlan(Result):
    """How many people and trials certify that a rate keeps a limit: one row. Made by `plan_limit`.

    Attributes
    ----------
    rate, limit, expected : str, float, float or None
        The rate, its limit, and the rate that was expected (None: no error).
    independent, errors : int
        How many independent trials are needed, and the most errors among them with which the bound keeps the limit.
    chance : float or None
        How often a system with the expected rate passes.
    ordered, unordered : int or None
        How many people that takes where each is compared with every other: as model and as probe (n (n - 1) trials), or
        once with each (half as many). None for rates of genuine trials.
    users, trials : int or None
        How many users with so many trials each, and their trials in all, where trials per user are known.
    intraclass : float
        The correlation of the errors of trials that share a person.
    """

    rate: LimitedRate
    limit: Column[float]
    expected: Column[float | None]
    independent: Column[int]
    errors: Column[int]
    chance: Column[float | None]
    ordered: Column[int | None]
    unordered: Column[int | None]
    users: Column[int | None]
    trials: Column[int | None]
    intraclass: float
    assurance: float
    confidence_level: Level
    sentence: str
    warnings: Cautions = ()

    _one_row: ClassVar[bool] = True


def plan_limit(
    limit: Mapping[str, float] | str,
    *,
    expect: Mapping[str, float] | str | None = None,
    assurance: float = 0.8,
    intraclass: float | None = None,
    per_user: float | None = None,
    pilot: Any = None,
    threshold: float | None = None,
    confidence_level: float = 0.95,
) -> LimitPlan:
    """Say how many people and trials it takes until the upper bound of an error rate keeps a limit.

    Parameters
    ----------
    limit : mapping or str
        One rate and its limit: ``{"far": 1e-4}``, or ``"far=1e-4"``; far, frr, fmr or fnmr.
    expect : mapping or str, optional
        The rate that is expected; the plan then passes with the ``assurance``. By default the pilot's rate; without
        one, no error at all.
    assurance : float
        How often a system with the expected rate passes, 0.8 by default.
    intraclass : float, optional
        The correlation of the errors of two trials that share a person; the pilot's, or 0.
    per_user : float, optional
        Trials of each user; the pilot's where it has users but not both identities.
    pilot, threshold : optional
        As in `priori.plan`: a curve at one alpha, or scores and their threshold.
    confidence_level : float
        That of the one-sided upper bound.

    Examples
    --------
    >>> from priori import plan_limit
    >>> planned = plan_limit("far=1e-4")
    >>> planned.independent, planned.ordered, planned.unordered
    (29956, 174, 246)
    >>> plan_limit("far=1e-4", expect="far=3e-5").errors
    4
    """
    level = check_level(confidence_level)
    (rate, most), (expected_rate, given) = _rate_of("limit", limit), _rate_of("expect", expect)
    if given is not None and expected_rate != rate:
        raise OptionError(f"the limit is on the {rate}, so {argument('expect')} is too: {rate}={given:g}")
    check_level(assurance, "the assurance")
    if intraclass is not None and not 0 <= intraclass <= 1:
        raise OptionError(f"intraclass must lie between 0 and 1, not {intraclass:g}")
    if per_user is not None and not 0 < per_user <= MOST_PLANNED:
        raise OptionError(f"trials per user must be above 0 and at most {MOST_PLANNED:.0e}, not {per_user:g}")
    assert most is not None
    known = Pilot.of(pilot, threshold)
    seen = _Seen(None, 0.0, None, ()) if known is None else _Seen.of(known, rate)
    expected = given if given is not None else seen.rate
    if expected is not None and not 0 <= expected < most:
        whose = "expected" if given is not None else "of the pilot"
        raise OptionError(
            f"the {rate.upper()} {whose}, {expected:.3g}, is not below the limit {most:g}: no number of trials passes; "
            f"give the rate to expect ({argument('expect')})"
        )
    rho = seen.intraclass if intraclass is None else intraclass
    size = seen.per_user if per_user is None else per_user
    independent, errors, chance = passing(most, expected, assurance, level)
    of_pairs = rate in OF_PAIRS and per_user is None and (size is None or seen.crossed)
    users = None if of_pairs or size is None else _users(independent, size, rho)
    planned = LimitPlan(
        rate,
        most,
        expected,
        independent,
        errors,
        chance,
        ordered=_people(independent, rho, ordered=True) if of_pairs else None,
        unordered=_people(independent, rho, ordered=False) if of_pairs else None,
        users=users,
        trials=None if users is None or size is None else int(np.ceil(users * size)),
        intraclass=rho,
        assurance=assurance,
        confidence_level=level,
        sentence="",
        warnings=seen.warnings,
    )
    planned = replace(planned, sentence=_sentence(planned))
    return planned._came_from(None if known is None else known.scores)


def passing(limit: float, expected: float | None, assurance: float, level: float) -> tuple[int, int, float | None]:
    """Return how many independent trials certify a limit, the most errors in them, and how often they pass."""
    from scipy.special import bdtr, betainc

    def needed(errors: int) -> int:
        """Return the fewest trials in which so many errors have an upper bound that keeps the limit."""
        return smallest(lambda n: n > errors and betainc(errors + 1.0, float(n - errors), limit) >= level, False)

    if expected is None:
        return needed(0), 0, None

    def chance(errors: int) -> float:
        return float(bdtr(errors, needed(errors), expected))

    if chance(0) >= assurance:
        return needed(0), 0, chance(0)
    errors = smallest(lambda most: chance(most) >= assurance, False)
    return needed(errors), errors, chance(errors)


def _people(independent: int, intraclass: float, *, ordered: bool) -> int:
    """Return how many people, each compared with every other, are worth so many independent trials."""

    def enough(people: int) -> bool:
        trials = people * (people - 1) // (1 if ordered else 2)
        # The others that share a person with a trial; in both orders each pair is there twice.
        sharing = 4 * (people - 2) + 1 if ordered else 2 * (people - 2)
        return trials >= independent * (1 + intraclass * max(sharing, 0))

    return smallest(enough, True)


def _users(independent: int, size: float, intraclass: float) -> int:
    """Return how many users with so many trials each are worth so many independent trials."""
    return int(np.ceil(independent * (1 + max(size - 1, 0) * intraclass) / size * (1 - 1e-12)))


class _Seen(NamedTuple):
    """What a pilot shows: its rate, the correlation of trials that share a person, trials per user, and doubts."""

    rate: float | None
    intraclass: float
    per_user: float | None
    warnings: tuple[Caution, ...]
    crossed: bool = False

    @classmethod
    def of(cls, pilot: Pilot, rate: LimitedRate) -> _Seen:
        scores = pilot.scores.load()
        shared = shared_by(scores, None)
        judged = judge(scores, pilot.threshold, rate)
        found = judged.counted(shared)
        errors, trials, spread = int(found.errors[0]), int(found.trials[0]), found.spread.at(0)
        notes = list[Caution]()
        if not errors:
            text = f"the pilot has no error for the {rate.upper()}, so no correlation within a person"
            notes.append(Caution("no-errors", f"{text}; give {argument('intraclass')}"))
        if shared == "none":
            return cls(errors / trials or None, 0.0, None, tuple(notes))
        (people,) = People.of(judged.trials, crossed=shared == "crossed")
        sharing = float(people.lost[0, 0]) * trials - 1
        intraclass = float(np.clip((spread.effect - 1) / sharing, 0.0, 1.0)) if errors and sharing > 0 else 0.0
        if people.count < FEW_PILOT_USERS:
            text = f"the correlation is estimated from {people.count} people and is uncertain"
            notes.append(Caution("few-pilot-users", text))
        per_user = trials / np.count_nonzero(people.sizes[0])
        return cls(errors / trials or None, intraclass, per_user, tuple(notes), shared == "crossed")


def _rate_of(name: str, typed: Mapping[str, float] | str | None) -> tuple[LimitedRate, float | None]:
    """Return the one rate that is named, and its value."""
    if typed is None:
        return "far", None
    pairs: list[tuple[str, Any]] = list(typed.items()) if isinstance(typed, Mapping) else [typed.partition("=")[::2]]
    if len(pairs) != 1 or pairs[0][1] == "":
        raise OptionError(f"{argument(name)}: give one rate, such as far=1e-4, not {short(str(typed))}")
    ((rate, number),) = pairs
    rate = ALIASES.get(rate.strip(), rate.strip())
    if rate not in get_args(LimitedRate):
        raise unknown("rate", rate, get_args(LimitedRate))
    try:
        value = float(number)
    except ValueError:
        value = np.nan
    if not 0 < value < 1:
        raise OptionError(f"{argument(name)}: the {rate} must lie between 0 and 1, such as far=1e-4, not {number}")
    return rate, value  # type: ignore[return-value] # checked above


def _sentence(planned: LimitPlan) -> str:
    """Say what passes."""
    level, rate = f"{100 * planned.confidence_level:g} %", planned.rate.upper()
    errors = "no error" if not planned.errors else f"at most {planned.errors} error{'s' * (planned.errors > 1)}"
    text = (
        f"{planned.independent:,} independent trials with {errors} keep the {level} upper bound of the {rate} at or "
        f"below {planned.limit:g}"
    )
    if planned.chance is not None:
        text += f"; a system with a rate of {planned.expected:.3g} passes in {100 * planned.chance:.0f} % of tests"
    alike = f", with a correlation of {planned.intraclass:.2g}" if planned.intraclass else ""
    if planned.ordered is not None:
        text += (
            f". All ordered pairs of {planned.ordered:,} people, or unordered pairs of {planned.unordered:,}, do{alike}"
        )
    if planned.users is not None:
        text += f". {planned.users:,} users with {planned.trials:,} trials in all do{alike}"
    return f"{text}."
