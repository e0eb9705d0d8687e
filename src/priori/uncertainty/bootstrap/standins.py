"""Stand-ins: the sets of a curve as a bootstrap can redraw them, in narrow cells where they do not fit in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from priori.curves.epc import EPC

if TYPE_CHECKING:
    from priori.uncertainty.bootstrap.resampling import Resampling


def redrawable(curve: EPC, resampling: Resampling, *, paired: bool = False) -> tuple[EPC, tuple[str, ...]]:
    """Return the curve with sets of which a bootstrap can redraw what a resampling says, and notes on stand-ins.

    Where thresholds are fixed, counts are enough and the sets stay where they are.
    """
    if resampling.resample != "both":
        return curve, ()
    by_user = resampling.may_keep_users and curve.test.has_users and curve.dev.has_users
    dev, dev_note = curve.dev.resamplable(by_user=by_user, paired=paired)
    test, test_note = curve.test.resamplable(by_user=by_user, paired=paired)
    return replace(curve, dev=dev, test=test), tuple(note for note in (dev_note, test_note) if note)
