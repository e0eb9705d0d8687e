"""VoxCeleb: ``1|0 enrol test``, with the score in a fourth column or in a file of its own."""

from __future__ import annotations

from priori.readers.joined import join, pairs_layout
from priori.readers.layout import BLANKS, Columns, Layout
from priori.readers.sample import Sample, load
from priori.readers.text import is_number
from priori.scores.labels import KNOWN_PAIRS, normal

SCORED = Layout(
    BLANKS,
    ("label", "enrol", "test", "score"),
    {"label": 0, "user": 1, "score": 3},
    trial=(1, 2),
    trial_is_built=True,
)
TRIALS = pairs_layout("label", "enrol", "test")


def is_trials(sample: Sample) -> bool:
    """Tell whether a trials file has its labels in front."""
    if sample.width != 3 or not sample.column(0) <= {"0", "1"}:
        return False
    known = {label for pair in KNOWN_PAIRS for label in pair}
    return not {normal(value) for value in sample.column(2)} <= known


def matches(sample: Sample) -> bool:
    """Four fields, 1 or 0 in front and a number last, where no line reads as a bob line; or a trials file."""
    if sample.trials is not None:
        return is_trials(sample.trials)
    return (
        sample.width == 4
        and is_number(sample.rows[0][3])
        and sample.column(0) == {"0", "1"}
        and all(row[0] != row[1] for row in sample.rows if len(row) > 1)
    )


def read(sample: Sample) -> Columns:
    """Read ``1|0 enrol test score``, or ``enrol test score`` with the labels from the trials file."""
    return load(sample.source, SCORED) if sample.trials is None else join(sample, TRIALS)
