"""Particulars: what a study holds where its data have it: limits, calibration, what would settle it, people, attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from priori.base.errors import PrioriError
from priori.base.limits import FEW_USERS
from priori.base.types import Codes
from priori.curves.epc import epc_all, rows_of
from priori.curves.epsc import EPSC, OverBoth, epsc
from priori.decisions.likelihood_ratios import Bayes
from priori.scores import Scores, ScoreSet, Trials, condense
from priori.scores.score_set import Role
from priori.scores.systems import System
from priori.scores.trials import Names
from priori.studies.evaluation.drawing import deployable
from priori.studies.evaluation.settings import Settings
from priori.studies.planning import Plan, plans_to_tell_apart
from priori.uncertainty.amounts import AmountCosts, amounts, compare_amounts
from priori.uncertainty.costs import CostsTest, LLRCosts, llr_costs
from priori.uncertainty.rates.group_rates import GroupRates, group_rates
from priori.uncertainty.rates.pad import PAD, pad
from priori.uncertainty.rates.rate_intervals import RateInterval, intervals_along
from priori.uncertainty.rates.user_rates import UserRates, user_rates

if TYPE_CHECKING:
    from priori.studies.evaluation.study import Study

#: The false acceptance rates that may be asked for; each needs enough development trials to allow one error.
LIMITS = (0.1, 0.01, 0.001, 0.0001)
#: The roles that trials are counted by, the same everywhere in a study, so that combinations are listed once.
PEOPLE: tuple[Role, ...] = ("user", "probe_user", "group")
#: How many errors of each class are listed.
WORST = 25
#: The powers that plans are made for.
POWERS = (0.8, 0.9)
#: The shares of attacks that are looked at, and for how many systems.
OMEGAS, MOST_ATTACKED = ("0", "0.25", "0.5", "0.75", "1"), 8


@dataclass(frozen=True, eq=False)
class AtLimit:
    """A system whose FAR may be at most so much on the development set: its threshold, its rates on the test set."""

    name: str
    threshold: str
    frr: RateInterval
    far: RateInterval


def limited(study: Study) -> dict[float, list[AtLimit]]:
    """Return every system at each limit of the FAR that the development trials can show, the lowest FRR first."""
    members, level = study.members, study.settings.confidence_level
    most = min(member.curve.dev.n_negatives for member in members)
    kept = [limit for limit in LIMITS if limit * most >= 1]
    if not kept:
        return {}
    sets = {member.name: (member.curve.dev, member.roc.scores) for member in members}
    curves = epc_all(sets, criterion="at-most-far", alpha=kept)
    found: dict[float, list[AtLimit]] = {limit: [] for limit in kept}
    for member, curve, texts in zip(members, curves, deployable(curves), strict=True):
        # For a table, one scan answers all limits; rates by group are asked for at the last.
        cuts = [*curve.threshold, float(member.curve.threshold[study.at])]
        test, _ = condense(member.curve.test, PEOPLE, cuts=cuts)
        (frr,), (far,) = (intervals_along(test, curve.threshold, rate=rate, levels=[level]) for rate in ("frr", "far"))
        for row in zip(kept, texts, frr, far, strict=True):
            found[row[0]].append(AtLimit(curve.name, *row[1:]))
    return {limit: sorted(rows, key=lambda row: row.frr.rate) for limit, rows in found.items()}


def calibrated(study: Study) -> list[tuple[str, LLRCosts]]:
    """Return what the scores cost as log-likelihood ratios, the lowest Cllr first, where thresholds are by theory."""
    level, found = study.settings.confidence_level, list[tuple[str, LLRCosts]]()
    for curve in study.curves:
        if isinstance(curve.criterion, Bayes):
            calibrate = curve.criterion.calibrator
            found.append((curve.name, llr_costs(curve.dev, curve.test, calibrate=calibrate, confidence_level=level)))
    return sorted(found, key=lambda row: float(row[1].value[0]))


class SystemCosts(NamedTuple):
    """What a system costs by the amounts of its trials, and the test of its difference from the cheapest."""

    costs: AmountCosts
    test: CostsTest | None


def priced(systems: Sequence[System], settings: Settings) -> tuple[SystemCosts, ...]:
    """Return what systems cost by the amounts of their trials, the cheapest first, where it was asked for."""
    if settings.fp is None:
        return ()
    how: dict[str, Any] = {name: getattr(settings, name) for name in ("fp", "currency", "confidence_level")}
    every = [amounts(system.dev, system.test, name=system.name, **how) for system in systems]
    cheapest, *others = sorted(every, key=lambda costs: costs.value)
    tests = [None if settings.unpaired else compare_amounts(costs, cheapest) for costs in others]
    return (SystemCosts(cheapest, None), *map(SystemCosts, others, tests))


@dataclass(frozen=True, eq=False)
class Settling:
    """What would tell the best two systems apart: their names, the difference expected, a plan for each power."""

    names: tuple[str, str]
    difference: float
    plans: tuple[Plan, ...]


def settling(study: Study) -> Settling | None:
    """Return the plans of studies that find the difference seen between the best two, where this one did not."""
    settings = study.settings
    if not study.pairs or settings.unpaired:
        return None
    pair = study.pairs_that_matter[study.first_pair]
    if pair.significant is None or pair.significant[study.at]:
        return None
    difference = float((pair.difference if pair.expected is None else pair.expected)[study.at])
    a, b = (rows_of(study.curves[system], [study.at]) for system in (pair.a, pair.b))
    try:
        plans = plans_to_tell_apart(
            a,
            b,
            difference,
            POWERS,
            claim=settings.claim,
            measure=settings.shown,
            confidence_level=settings.confidence_level,
            estimates=None if study.estimates is None else study.estimates.at(study.at, [pair.a, pair.b]),
        )
    except PrioriError:  # a measure, or scores, for which there is no plan
        return None
    return Settling((a.name, b.name), difference, tuple(plans))


def users_of_best(study: Study) -> UserRates | None:
    """Return the error rates of the users of the best system, where enough users are known."""
    best = study.best_at(study.at).curve
    if best.test.n_users < FEW_USERS:
        return None
    level = study.settings.confidence_level
    return user_rates(best.test, float(best.threshold[study.at]), confidence_level=level)


def groups_of_best(study: Study) -> GroupRates | None:
    """Return the rates of the best system by group, where the groups of the trials are known."""
    best = study.best_at(study.at).curve
    threshold, level = float(best.threshold[study.at]), study.settings.confidence_level
    known, _ = condense(best.test, PEOPLE, cuts=[threshold])
    return None if known.groups is None else group_rates(best.test, threshold, confidence_level=level)


class CardRow(NamedTuple):
    """A rate of a report card: of a kind of trials (positives, negatives, attacks), of all or of a group or type."""

    kind: str
    name: str
    rate: float
    lower: float
    upper: float


def report_card(study: Study) -> list[CardRow]:
    """Return the rates of the best system for all trials, each type of attacks and each group, where there are some."""
    best = study.best_at(study.at)
    rows = [CardRow(kind, "", rate.rate, rate.lower, rate.upper) for kind, rate in best.rates[study.at].items()]
    rows += _attacks_on(best.curve.test, float(best.curve.threshold[study.at]), study.settings.confidence_level)
    groups = study.groups
    for kind, rate in () if groups is None else (("positives", "frr"), ("negatives", "far")):
        assert groups is not None
        found = groups.rows(rate)
        columns = (found[name].tolist() for name in ("group", "value", "lower", "upper"))
        rows += [CardRow(kind, str(group), *numbers) for group, *numbers in zip(*columns, strict=True)]
    return rows if any(row.name for row in rows) else []


def _attacks_on(test: ScoreSet, threshold: float, level: float) -> list[CardRow]:
    """Return how often attacks of each type are accepted."""
    if not isinstance(test, Scores) or test.attack_types is None or test.negative.attack is None:
        return []
    rows = []
    for code in np.unique(test.negative.attack[test.negative.attack > 0]).tolist():
        those = replace(test, negative=test.negative.take(np.flatnonzero(test.negative.attack == code)))
        ((rate,),) = intervals_along(those, np.array([threshold]), rate="far", levels=[level])
        rows.append(CardRow("attacks", str(test.attack_types.values[code]), rate.rate, rate.lower, rate.upper))
    return rows


class Error(NamedTuple):
    """A trial that went wrong: who it was, its score as given, and how far it is on the wrong side of the threshold."""

    trial: str
    user: str
    probe_user: str
    what: str
    score: float
    margin: float


def worst_errors(study: Study) -> dict[str, list[Error]]:
    """Return the trials of each kind that the best system decides most wrongly, the worst first; in memory only."""
    best = study.best_at(study.at).curve
    test, threshold = best.test, float(best.threshold[study.at])
    if not isinstance(test, Scores) or not np.isfinite(threshold):
        return {}
    attack = np.zeros(len(test.negative), bool) if test.negative.attack is None else test.negative.attack > 0
    kinds = {
        "positives": (test.positive, threshold - test.positive.score, test.positive.score <= threshold),
        "negatives": (test.negative, test.negative.score - threshold, (test.negative.score > threshold) & ~attack),
        "attacks": (test.negative, test.negative.score - threshold, (test.negative.score > threshold) & attack),
    }
    found = {}
    for kind, (trials, margin, errs) in kinds.items():
        wrong = np.flatnonzero(errs)
        worst = wrong[np.argsort(-margin[wrong], kind="stable")[:WORST]]
        found[kind] = [_error(test, trials, row, float(margin[row])) for row in worst.tolist()]
    return {kind: errors for kind, errors in found.items() if errors}


def _error(scores: Scores, trials: Trials, row: int, margin: float) -> Error:
    def name(names: Names | None, codes: Codes | None) -> str:
        return "" if names is None or codes is None else str(names.values[codes[row]])

    number = row if trials.row is None else int(trials.row[row])
    trial = f"row {number + 1}" if trials.trial is None else str(trials.trial[row])
    score = float(trials.score[row])
    return Error(
        trial,
        name(scores.users, trials.user),
        name(scores.users, trials.probe_user),
        name(scores.attack_types, trials.attack) or name(scores.groups, trials.group),
        0.0 - score if scores.distances else score,
        margin,
    )


@dataclass(frozen=True, eq=False)
class Attacked:
    """A system under attack: its curve over omega and the band around it, where there are impostors too, its rates."""

    system: int
    curve: EPSC | None
    band: OverBoth | None
    rates: PAD


def attacked(study: Study) -> list[Attacked]:
    """Return the systems whose sets have attacks, the thresholds as they are."""
    settings, found = study.settings, list[Attacked]()
    for number, curve in enumerate(study.curves):
        dev, test = curve.dev, curve.test
        if not (isinstance(dev, Scores) and isinstance(test, Scores) and dev.n_attacks and test.n_attacks):
            continue
        if len(found) == MOST_ATTACKED:
            break
        rates = pad(
            dev,
            test,
            apcer="0.05",
            criterion="wer",
            alpha=settings.alpha,
            name=curve.name,
            confidence_level=settings.confidence_level,
        )
        over, band = None, None
        if all(scores.n_attacks < scores.n_negatives for scores in (dev, test)):
            over = epsc(dev, test, omega=OMEGAS, beta=settings.alpha, name=curve.name)
            if settings.bootstrap is not None:
                chosen = None if settings.bootstrap == "auto" else settings.bootstrap
                band = over.band(
                    bootstrap=chosen,
                    n_resamples=settings.n_resamples,
                    rng=settings.seed,
                    confidence_level=settings.confidence_level,
                    threads=settings.threads,
                )
        found.append(Attacked(number, over, band, rates))
    return found
