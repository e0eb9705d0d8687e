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
from numpy.typing import NDArray

from priori.base.alphas import as_fractions
from priori.base.cautions import Caution, joined
from priori.base.errors import OptionError
from priori.base.layouts import CAUTIONS, LEVEL, TEXT, TEXTS, Layout, of
from priori.base.results import Result
from priori.base.types import Floats
from priori.curves.epc import choose_threshold
from priori.scores import Scores
from priori.scores.derived import BY_ATTACK
from priori.scores.inputs import as_score_set
from priori.uncertainty.proportions import check_level
from priori.uncertainty.rate_intervals import Dependence, RateInterval, joint_interval, rate_interval

#: What attacks are called where nothing says of which type they are.
UNTOLD = "attack"


@dataclass(frozen=True, eq=False, repr=False)
class PAD(Result):
    """Error rates of presentation attack detection at thresholds fixed in advance. Made by `pad`.

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
        Of a BPCER at an APCER, what choosing the threshold on the test set itself would have shown; else missing.
    """

    name: str
    point: NDArray[np.str_]
    threshold: Floats
    measure: NDArray[np.str_]
    attack: NDArray[np.str_]
    trials: Floats
    errors: Floats
    rate: Floats
    lower: Floats
    upper: Floats
    best: Floats
    unseen: tuple[str, ...]
    confidence_level: float
    warnings: tuple[str, ...] = ()

    _layout = Layout(
        "Presentation attack detection (ISO/IEC 30107-3): one row per threshold and rate.",
        {"point": "text", "threshold": "number", **of("text", "measure attack"), **of("number", "trials errors")}
        | of("number", "rate lower upper best"),
        {"name": TEXT, "unseen": TEXTS, "confidence_level": LEVEL, "warnings": CAUTIONS},
        descriptions={
            "attack": "The type of attack; of the largest APCER the worst one.",
            "best": "What choosing the threshold on the test set itself would have shown.",
            "measure": "apcer of one type, apcer-max the largest, bpcer, or acer, the mean of the last two.",
            "point": "How the threshold was chosen on the development set.",
            "rate": "The rate on the test set.",
            "unseen": "Types of attacks that are in the test set only.",
        },
    )

    def at(self, measure: str, point: str | None = None) -> float:
        """Return a rate: the largest APCER (``apcer-max``), the BPCER or the ACER; at the first point by default."""
        rows = (self.measure == measure) & (self.point == (self.point[0] if point is None else point))
        if not rows.any():
            known = ", ".join(dict.fromkeys([*self.measure.tolist(), *self.point.tolist()]))
            raise OptionError(f"no rate {measure!r} at {point or self.point[0]!r}; measures and points are {known}")
        return float(self.rate[rows][0])


def pad(
    dev: Any, test: Any, *, apcer: Any = ("0.05", "0.1", "0.2"), criterion: str = "eer", alpha: Any = None,
    confidence_level: float = 0.95, dependence: Dependence | None = None, name: str = "system",
) -> PAD:  # fmt: skip
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
    known = [as_score_set(scores).condensed(BY_ATTACK, narrow=True) for scores in (dev, test)]
    dev, test = (_only_attacks(scores) for scores, _ in known)
    dev_types, types = _by_type(dev), _by_type(test)
    points = {criterion: (choose_threshold(dev, criterion=criterion, alpha=alpha), float("nan"))}
    for target in as_fractions(apcer, "apcer"):
        best = _rejected(test, _at_most(test, types, target))
        points[f"apcer<={float(target):g}"] = (_at_most(dev, dev_types, target), best)
    rows: list[tuple[Any, ...]] = []
    said: list[tuple[str, ...]] = [notes for _, notes in known]
    for point, (threshold, best) in points.items():
        found, warnings = _rates(test, types, threshold, level, dependence)
        said.append(warnings)
        rows += [(point, threshold, *row, best if row[0] == "bpcer" else float("nan")) for row in found]
    unseen = tuple(sorted(set(types) - set(dev_types)))
    if unseen and set(dev_types) != {UNTOLD}:
        listed = ", ".join(unseen)
        said.insert(0, (Caution("unseen-attacks", f"types of attacks that are in the test set only: {listed}; the "
                                "threshold was chosen without them"),))  # fmt: skip
    text = ("point", "measure", "attack")
    names = ("point", "threshold", "measure", "attack", "trials", "errors", "rate", "lower", "upper", "best")
    columns: dict[str, Any] = {
        key: np.array(column, dtype=str if key in text else np.float64)
        for key, column in zip(names, zip(*rows, strict=True), strict=True)
    }
    return PAD(name, **columns, unseen=unseen, confidence_level=level, warnings=joined(*said))._came_from(test)


def _only_attacks(scores: Scores) -> Scores:
    """Return a set without zero-effort impostors, where it says which they are."""
    if not scores.n_attacks:
        return scores
    assert scores.negative.attack is not None
    return replace(scores, negative=scores.negative.take(np.flatnonzero(scores.negative.attack)))


def _by_type(scores: Scores) -> dict[str, Scores]:
    """Return the set with each type of attacks alone."""
    kinds = scores.attacks if scores.n_attacks else np.full(scores.negative.score.size, UNTOLD)
    return {
        str(kind): replace(scores, negative=scores.negative.take(np.flatnonzero(kinds == kind)))
        for kind in np.unique(kinds)
    }


def _at_most(scores: Scores, types: dict[str, Scores], target: Fraction) -> float:
    """Return the lowest threshold at which no type's APCER is above the target."""
    candidates = scores.candidates()
    thresholds = candidates.thresholds(*candidates.every())
    allowed = np.ones(thresholds.size, dtype=np.bool_)
    for each in types.values():
        accepted = each.n_negatives - each.negative.rejected(thresholds)
        allowed &= accepted <= int(target * each.n_negatives)
    return float(thresholds[allowed.argmax()])


def _rejected(scores: Scores, threshold: float) -> float:
    """Return the BPCER at a threshold."""
    return float(scores.positive.rejected(threshold)) / scores.n_positives


#: A measure, the type of attack, trials, errors, the rate and its bounds.
_Row = tuple[str, str, float, float, float, float, float]


def _rates(
    test: Scores, types: dict[str, Scores], threshold: float, level: float, dependence: Dependence | None
) -> tuple[list[_Row], tuple[str, ...]]:
    """Return the rates at a threshold with their intervals, and warnings about them."""

    def interval(scores: Scores, rate: Any, confidence: float) -> RateInterval:
        return rate_interval(scores, threshold, rate=rate, dependence=dependence, confidence_level=confidence)

    each = {kind: interval(scores, "far", level) for kind, scores in types.items()}
    worst = max(each, key=lambda kind: each[kind].rate)
    corrected = 1 - (1 - level) / len(types)
    lower = max(interval(scores, "far", corrected).lower for scores in types.values())
    largest = replace(each[worst], lower=lower, upper=max(known.upper for known in each.values()))
    bona_fide = interval(test, "frr", level)
    rows = [_row("apcer", kind, known) for kind, known in each.items()]
    rows += [_row("apcer-max", worst, largest), _row("bpcer", "", bona_fide)]
    joint = joint_interval([largest, bona_fide], (0.5, 0.5), below=float(len(types) > 1))
    rows.append(("acer", "", float("nan"), float("nan"), *joint))
    return rows, joined(bona_fide.warnings, *(known.warnings for known in each.values()))


def _row(measure: str, attack: str, known: RateInterval) -> _Row:
    return measure, attack, float(known.trials), float(known.errors), known.rate, known.lower, known.upper
