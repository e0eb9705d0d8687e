"""Stand-ins: the sets of a curve as a bootstrap can redraw them, in narrow cells where they do not fit in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from priori.curves.epc import EPC

__all__ = ["redrawable"]


def redrawable(curve: EPC, options: Mapping[str, Any], *, paired: bool = False) -> tuple[EPC, tuple[str, ...]]:
    """Return the curve with sets of which a bootstrap can redraw what its options say, and notes on stand-ins.

    Where thresholds are fixed, counts are enough and the sets stay where they are.
    """
    if options.get("resample", "test") != "both":
        return curve, ()
    by_user = options.get("bootstrap") != "sample" and curve.test.has_users and curve.dev.has_users
    dev, dev_note = curve.dev.resamplable(by_user=by_user, paired=paired)
    test, test_note = curve.test.resamplable(by_user=by_user, paired=paired)
    return replace(curve, dev=dev, test=test), tuple(note for note in (dev_note, test_note) if note)
