"""Presentation attack detection (ISO/IEC 30107-3): APCER by attack type and the largest, BPCER, ACER, with intervals.

Thresholds are chosen on development data. Intervals of single rates are those of `rate_intervals`. The largest APCER
has a simultaneous interval from those of the types: its upper bound is the largest of theirs, which needs no
correction, as only that of the worst type must hold; its lower bound the largest of lower bounds at a level that
Bonferroni corrects for the number of types. That of the ACER joins both errors by their distances to their bounds
(MOVER; Zou and Donner 2008), as attacks and bona fide presentations are different trials; below, where there are
several types, the distances are added up: the largest of several rates is too large on the average.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from priori.base.alphas import as_fractions
from priori.base.cautions import Caution, joined, named
from priori.base.declarations import Cautions, Level, columns_of
from priori.base.errors import OptionError
from priori.base.limits import check_level
from priori.base.results import Result
from priori.base.types import Floats, Texts
from priori.curves.checks import set_cautions
from priori.decisions.recipe import choose_threshold
from priori.scores import BOUND, Names, Scores, condense_all
from priori.scores.score_set import BY_ATTACK, as_score_set
from priori.uncertainty.rates.combined import joint_interval
from priori.uncertainty.rates.group_rates import errors_allowed
from priori.uncertainty.rates.rate_intervals import Dependence, judge, shared_by

#: The name of attacks whose type is not known.
UNTOLD = "attack"


@dataclass(frozen=True, eq=False, repr=False)
class PAD(Result):
    """Presentation attack detection (ISO/IEC 30107-3): one row per threshold and rate. Made by `pad`.

    Attributes
    ----------
    point : ndarray of str
        How the threshold was chosen on the development set: by a criterion, or so that APCER is at most a rate there.
    threshold : ndarray
        Accept as bona fide where the score is greater.
    measure : ndarray of str
        ``apcer`` of one attack type, ``apcer-max`` the largest, ``bpcer``, ``acer`` (the mean of these two).
    attack : ndarray of str
        The type of attack, of ``apcer-max`` the worst one.
    trials, errors : ndarray
        What a rate was counted from; missing for the ACER.
    rate, lower, upper : ndarray
        The rate on the test set and its interval.
    best : ndarray
        For a BPCER at an APCER: its value at a threshold chosen on the test set itself; else missing.
    unseen : tuple of str
        Types of attacks that are in the test set only.
    """

    name: str
    point: Texts
    threshold: Floats
    measure: Texts
    attack: Texts
    trials: Floats
    errors: Floats
    rate: Floats
    lower: Floats
    upper: Floats
    best: Floats
    unseen: tuple[str, ...]
    confidence_level: Level
    warnings: Cautions = ()

    def at(self, measure: str, point: str | None = None) -> float:
        """Return a rate: the largest APCER (``apcer-max``), the BPCER or the ACER; at the first point by default."""
        rows = (self.measure == measure) & (self.point == (self.point[0] if point is None else point))
        if not rows.any():
            known = ", ".join(dict.fromkeys([*self.measure.tolist(), *self.point.tolist()]))
            raise OptionError(f"no rate {measure!r} at {point or self.point[0]!r}; measures and points are {known}")
        return float(self.rate[rows][0])


def pad(
    dev: Any,
    test: Any,
    *,
    apcer: Any = ("0.05", "0.1", "0.2"),
    criterion: str = "eer",
    alpha: Any = None,
    confidence_level: float = 0.95,
    dependence: Dependence | None = None,
    name: str = "system",
) -> PAD:
    """Judge a presentation attack detector at thresholds chosen on development data (ISO/IEC 30107-3).

    Negatives are attacks; zero-effort impostors, where the scores tell them apart, are left out.

    Parameters
    ----------
    dev, test : Scores or frame
        The development set, on which thresholds are chosen, and the test set, with types of attacks where known.
    apcer : number or list
        Also thresholds for which no type's APCER on the development set is above these rates.
    criterion, alpha
        How the first threshold is chosen, as in `priori.choose_threshold`; by default at the equal error rate.
    dependence : {"none", "user", "crossed"}, optional
        What makes trials alike, as in `priori.rate_interval`.

    Examples
    --------
    >>> import priori
    >>> label = ["attack"] * 6 + ["bonafide"] * 4
    >>> kind = ["mask"] * 3 + ["print"] * 3 + ["-"] * 4
    >>> score = [0.1, 0.3, 0.6, 0.1, 0.2, 0.3, 0.4, 0.7, 0.8, 0.9]
    >>> scores = priori.Scores.from_predictions(label, score, pos_label="bonafide", attack=kind)
    >>> result = priori.pad(scores, scores, apcer=0.2)
    >>> result.at("apcer-max"), result.attack[result.measure == "apcer-max"][0].item(), result.at("bpcer", "apcer<=0.2")
    (0.3333333333333333, 'mask', 0.25)
    """
    level = check_level(confidence_level)
    known = condense_all([as_score_set(scores) for scores in (dev, test)], BY_ATTACK, narrow=BOUND)
    dev, test = (_by_type(scores) for scores, _ in known)
    shared = shared_by(test, dependence)
    points = {criterion: (choose_threshold(dev, criterion=criterion, alpha=alpha), float("nan"))}
    for target in as_fractions(apcer, "apcer"):
        best = float(test.positive.rejected(_at_most(test, target))) / test.n_positives
        points[f"apcer<={float(target):g}"] = (_at_most(dev, target), best)
    rows: list[tuple[Any, ...]] = []
    said: list[tuple[str, ...]] = [*(notes for _, notes in known), set_cautions(dev)]
    for point, (threshold, best) in points.items():
        found, warnings = _rates(test, threshold, level, shared)
        said.append(warnings)
        rows += [(point, threshold, *row, best if row[0] == "bpcer" else float("nan")) for row in found]
    dev_types, types = (scores.groups.values.tolist() for scores in (dev, test))
    unseen = tuple(sorted(set(types) - set(dev_types)))
    if unseen and dev_types != [UNTOLD]:
        text = f"types of attacks in the test set only: {named(unseen)}; the threshold was chosen without them"
        said.insert(0, (Caution("unseen-attacks", text),))
    columns: dict[str, Any] = {
        name: np.array(column, dtype=str if kind == "text" else np.float64)
        for (name, kind), column in zip(columns_of(PAD).items(), zip(*rows, strict=True), strict=True)
    }
    return PAD(name, **columns, unseen=unseen, confidence_level=level, warnings=joined(*said))._came_from(test)


def _by_type(scores: Scores) -> Scores:
    """Return a set with its attacks in groups by type; without zero-effort impostors, where it says which they are."""
    attack = scores.negative.attack
    if attack is None or scores.attack_types is None or not scores.n_attacks:
        untold = replace(scores.negative, group=np.zeros(scores.negative.score.size, np.int32))
        return replace(scores, negative=untold, groups=Names(np.array([UNTOLD])))
    attacks = scores.negative.take(np.flatnonzero(attack))
    types, (code,) = Names.encode(scores.attack_types.values[attacks.attack].astype(str))
    return replace(scores, negative=replace(attacks, group=code), groups=types)


def _at_most(scores: Scores, target: Fraction) -> float:
    """Return the lowest threshold at which no type's APCER is above the target."""
    candidates = scores.candidates()
    fp, fn = candidates.per_negative()
    lowest = int(np.argmax(fp <= errors_allowed(scores.negative, target, above=True)))
    return float(candidates.thresholds(fp[[lowest]], fn[[lowest]])[0])


def _rates(
    test: Scores, threshold: float, level: float, shared: Dependence
) -> tuple[list[tuple[Any, ...]], tuple[str, ...]]:
    """Return the rates at a threshold with their intervals (from ``measure`` on), and warnings about them."""
    assert test.groups is not None
    types: list[str] = test.groups.values.tolist()
    attacks = judge(test, threshold, "far").counted(shared, test.negative.group, len(types))
    of_types = attacks.intervals("far", threshold, shared, level)
    (bona_fide,) = judge(test, threshold, "frr").counted(shared).intervals("frr", threshold, shared, level)
    corrected, _ = attacks.limits(1 - (1 - level) / len(types))
    worst = int(attacks.rate.argmax())
    highest = max(of_type.upper for of_type in of_types)
    largest = replace(of_types[worst], lower=float(corrected.max()), upper=highest)
    found = [*(("apcer", *of_type) for of_type in zip(types, of_types, strict=True))]
    found += [("apcer-max", types[worst], largest), ("bpcer", "", bona_fide)]
    rows: list[tuple[Any, ...]] = [
        (measure, attack, one.trials, one.errors, one.rate, one.lower, one.upper) for measure, attack, one in found
    ]
    joint = joint_interval([largest, bona_fide], (0.5, 0.5), below=float(len(types) > 1))
    rows.append(("acer", "", float("nan"), float("nan"), *joint))
    return rows, joined(bona_fide.warnings, *(of_type.warnings for of_type in of_types))
