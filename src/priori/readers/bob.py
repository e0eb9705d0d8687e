"""bob's four and five columns: a trial is positive when the claimed identity is the real one."""

from __future__ import annotations

from priori.base.errors import InputError
from priori.readers.layout import BLANKS, Layout
from priori.readers.sample import Sample
from priori.readers.text import is_number

FOUR = Layout(
    BLANKS,
    ("claimed", "real", "probe", "score"),
    {"user": 0, "probe_user": 1, "score": 3},
    trial=(0, 2),
    trial_is_built=True,
)
FIVE = Layout(
    BLANKS,
    ("claimed", "model", "real", "probe", "score"),
    {"user": 0, "probe_user": 2, "score": 4},
    trial=(0, 1, 3),
    trial_is_built=True,
)


def matches_four(sample: Sample) -> bool:
    """Four fields, the last a number; VoxCeleb's four columns have been ruled out before."""
    if sample.width != 4 or not is_number(sample.rows[0][3]):
        return False
    claimed = sample.column(0)
    if claimed <= {"0", "1"} and all(row[0] != row[1] for row in sample.rows if len(row) > 1):
        raise InputError(
            f"{sample.source.name}: could be bob's four columns or VoxCeleb's, as every line begins with "
            f"{claimed.pop()}; say which with --input-format bob4 or voxceleb (format=...)"
        )
    return True


def matches_five(sample: Sample) -> bool:
    """Five fields, the last a number."""
    return sample.width == 5 and is_number(sample.rows[0][4])


def four_layout(_: Sample) -> Layout:
    """Return the layout ``claimed real probe score``."""
    return FOUR


def five_layout(_: Sample) -> Layout:
    """Return the layout ``claimed model real probe score``."""
    return FIVE
