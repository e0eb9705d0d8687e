"""Limits: the error that is left when the other rate may be at most so much on the development set."""

from __future__ import annotations

from typing import Any

import numpy as np

from priori.report.tables import TextTable
from priori.studies.evaluation import Member, Study
from priori.uncertainty.rate_intervals import Rate, RateInterval, interval_of_any
from priori.words.numbers import bounds, cell, fewest_digits, level_text, percent, short
from priori.words.tasks import task_words

#: The false acceptance rates that may be asked for.
LIMITS = (0.1, 0.01, 0.001, 0.0001)
#: A limit needs so many development trials that it would allow this many errors.
ALLOWED = 1
#: Of more systems the first so many are shown for each limit.
MOST = 10


def limits(study: Study) -> dict[str, Any] | None:
    """Return a table for each limit of the FAR that the development trials can show; None without such trials."""
    members = study.members
    if any(member.curve.dev.scanned or member.curve.test.scanned for member in members):
        return None
    most = min(member.curve.dev.n_negatives for member in members)
    tables = {limit: _table(study, limit) for limit in LIMITS if limit * most >= ALLOWED}
    if not tables:
        return None
    words = task_words(study.settings.domain)
    return {
        "tables": {percent(limit): table for limit, table in tables.items()},
        "first": percent(0.01 if 0.01 in tables else next(iter(tables))),
        "words": words,
    }


def strictest(member: Member, limit: float) -> float:
    """Return the smallest threshold that lets in at most ``limit`` of the development negatives."""
    negatives = np.sort(member.curve.dev.load().negatives)
    return float(negatives[negatives.size - 1 - int(np.floor(limit * negatives.size + 1e-9))])


def _table(study: Study, limit: float) -> TextTable:
    level = study.settings.confidence_level
    rows: list[tuple[float, tuple[str, ...]]] = []
    for member in study.members:
        threshold = strictest(member, limit)
        shown = fewest_digits(threshold, (member.curve.dev, member.curve.test))
        kinds: tuple[Rate, ...] = ("frr", "far")
        rates = [interval_of_any(member.curve.test, threshold, rate=kind, confidence_level=level) for kind in kinds]
        parts = [text for rate in rates for text in _texts(rate)]
        rows.append((rates[0].rate, (short(member.name), shown, *parts)))
    rows.sort(key=lambda row: row[0])
    header = ("System", "Threshold", "FRR", level_text(level), "FAR", level_text(level))
    note = (
        f"Thresholds let in at most {percent(limit)} of the development negatives; rates are those of the test set, "
        "where the FAR may be above the limit. Sorted by FRR; differences are not tested here."
    )
    title = f"FRR at a FAR of at most {percent(limit)}"
    return TextTable(f"limit-{limit:g}".replace(".", "-"), title, header, tuple(row for _, row in rows[:MOST]), note,
                     groups=(("", 1), ("Test", 4)))  # fmt: skip


def _texts(rate: RateInterval) -> tuple[str, str]:
    return cell(rate.rate), bounds(rate.lower, rate.upper, True)
