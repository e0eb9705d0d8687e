"""Columns without a header: label and score, or bob's four and five columns.

In bob's, a trial is positive when the claimed identity is the real one.
"""

from __future__ import annotations

from priori.base.errors import InputError, argument
from priori.readers.first_lines import Sample
from priori.readers.layout import BLANKS, LineLayout
from priori.readers.text import is_number
from priori.scores.labels import KNOWN_PAIRS, normal

LABEL_SCORE = LineLayout(BLANKS, ("label", "score"), {"label": 0, "score": 1})
BOB_FOUR = LineLayout(
    BLANKS, ("claimed", "real", "probe", "score"), {"user": 0, "probe_user": 1, "score": 3}, (0, 2), trial_is_built=True
)
BOB_FIVE = LineLayout(
    BLANKS,
    ("claimed", "model", "real", "probe", "score"),
    {"user": 0, "probe_user": 2, "score": 4},
    (0, 1, 3),
    trial_is_built=True,
)


def matches_label_score(sample: Sample) -> bool:
    """Two fields, the second a number."""
    return sample.ends_with_number(2) and not looks_swapped(sample)


def looks_swapped(sample: Sample) -> bool:
    """Tell whether the score seems to come first: numbers in front of what looks like labels."""
    first, second = sample.column(0), sample.column(1)
    if not all(map(is_number, first)) or sample.pos_label is not None:
        return False
    return (_like_labels(second) or (len(second) == 2 and not any(map(is_number, second)))) and not _like_labels(first)


def _like_labels(values: set[str]) -> bool:
    return any({normal(value) for value in values} <= set(pair) for pair in KNOWN_PAIRS)


def matches_bob_four(sample: Sample) -> bool:
    """Four fields, the last a number; VoxCeleb's four columns have been ruled out before."""
    if not sample.ends_with_number(4):
        return False
    claimed = sample.column(0)
    if claimed <= {"0", "1"} and sample.first_two_differ():
        raise InputError(
            f"{sample.source.name}: could be bob's four columns or VoxCeleb's, as every line begins with "
            f"{claimed.pop()}; say which with {argument('format', 'bob4')} or voxceleb"
        )
    return True


def matches_bob_five(sample: Sample) -> bool:
    """Five fields, the last a number."""
    return sample.ends_with_number(5)
