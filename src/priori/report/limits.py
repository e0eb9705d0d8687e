"""Limits: the error that is left when the other rate may be at most so much on the development set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from priori.curves.epc import EPC, epc
from priori.report.people import PEOPLE
from priori.report.tables import TextTable
from priori.scores import Scores, condense
from priori.studies.evaluation import Study
from priori.uncertainty.rate_intervals import Rate, RateInterval, interval_of_any
from priori.words.numbers import bounds, cell, deployable, level_text, percent, short, threshold_text
from priori.words.tasks import task_words

#: The false acceptance rates that may be asked for.
LIMITS = (0.1, 0.01, 0.001, 0.0001)
#: The one that is shown first, where it can be.
FIRST = 0.01
#: A limit needs so many development trials that it would allow this many errors.
ALLOWED = 1
#: Of more systems the first so many are shown for each limit.
MOST = 10


def limits(study: Study) -> dict[str, Any] | None:
    """Return a table for each limit of the FAR that the development trials can show; None without such trials."""
    members = study.members
    most = min(member.curve.dev.n_negatives for member in members)
    kept = [limit for limit in LIMITS if limit * most >= ALLOWED]
    if not kept:
        return None
    curves = [
        epc(member.curve.dev, member.roc.scores, criterion="at-most-far", alpha=kept, name=short(member.name))
        for member in members
    ]
    level = study.settings.confidence_level
    # Of tables, what is known at all limits from one scan.
    tests = [member.curve.test for member in members]
    more = [float(member.curve.threshold[study.at]) for member in members]  # rates by group are asked for there
    known = [
        (curve, condense(test, PEOPLE, cuts=[*curve.threshold, at])[0])
        for curve, test, at in zip(curves, tests, more, strict=True)
    ]
    tables = {percent(limit): _table(known, index, limit, level) for index, limit in enumerate(kept)}
    return {
        "tables": tables,
        "first": percent(FIRST if FIRST in kept else kept[0]),
        "words": task_words(study.settings.domain),
    }


def _table(curves: Sequence[tuple[EPC, Scores]], index: int, limit: float, level: float) -> TextTable:
    rows: list[tuple[float, tuple[str, ...]]] = []
    kinds: tuple[Rate, ...] = ("frr", "far")
    for curve, test in curves:
        threshold = float(curve.threshold[index])
        rates = [interval_of_any(test, threshold, rate=kind, confidence_level=level) for kind in kinds]
        parts = [text for rate in rates for text in _texts(rate)]
        rows.append((rates[0].rate, (curve.name, threshold_text(deployable(curve, index)), *parts)))
    rows.sort(key=lambda row: row[0])
    header = ("System", "Threshold", "FRR", level_text(level), "FAR", level_text(level))
    note = (
        f"Thresholds let in at most {percent(limit)} of the development negatives (criterion at-most-far); rates are "
        "those of the test set, where the FAR may be above the limit."
        + (" Sorted by FRR; differences are not tested here." if len(curves) > 1 else "")
    )
    title = f"FRR at a FAR of at most {percent(limit)}"
    return TextTable(f"limit-{limit:g}".replace(".", "-"), title, header, tuple(row for _, row in rows[:MOST]), note,
                     groups=(("", 1), ("Test", 4)))  # fmt: skip


def _texts(rate: RateInterval) -> tuple[str, str]:
    return cell(rate.rate), bounds(rate.lower, rate.upper, True)
