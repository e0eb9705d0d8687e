"""Two columns without a header: label, then score."""

from __future__ import annotations

from priori.readers.layout import BLANKS, Layout
from priori.readers.sample import Sample
from priori.readers.text import is_number
from priori.scores.labels import KNOWN_PAIRS, normal

LAYOUT = Layout(BLANKS, ("label", "score"), {"label": 0, "score": 1})


def matches(sample: Sample) -> bool:
    """Two fields, the second a number."""
    return sample.width == 2 and is_number(sample.rows[0][1]) and not looks_swapped(sample)


def looks_swapped(sample: Sample) -> bool:
    """Tell whether the score seems to come first: numbers in front of what looks like labels."""
    first, second = sample.column(0), sample.column(1)
    if not all(map(is_number, first)) or sample.pos_label is not None:
        return False
    return (_like_labels(second) or (len(second) == 2 and not any(map(is_number, second)))) and not _like_labels(first)


def _like_labels(values: set[str]) -> bool:
    return any({normal(value) for value in values} <= set(pair) for pair in KNOWN_PAIRS)


def layout(_: Sample) -> Layout:
    """Return the layout ``label score``."""
    return LAYOUT
