"""Checks of saved results: a digest that only an unchanged file fits; for earlier files, what numbers can be."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import InputError
from priori.base.results import Result, plain
from priori.base.saved import Saved
from priori.curves.epc import EPC
from priori.curves.roc import AposterioriROC
from priori.decisions.outcomes import Outcomes

#: Columns of rates, probabilities and trade-offs, and columns of counts and sizes.
SHARES = {
    "alpha",
    "fpr",
    "tpr",
    "fnr",
    "dev_v1",
    "dev_v2",
    "v1",
    "v2",
    "p_value",
    "p_adjusted",
    "confidence",
    "coverage",
    "auc",
    "auc_a",
    "auc_b",
}
SIZES = {
    "errors",
    "trials",
    "users",
    "negatives",
    "positives",
    "U",
    "S",
    "sd",
    "width",
    "standard_error",
    "design_effect",
    "effective_trials",
}


def digest(said: Mapping[str, Any], table: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 of a document: of what it says beside the table, and of the table, column by column.

    It is of the values, not of the text: the order of names, blanks and ``1`` for ``1.0`` do not matter.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}, {}) == digest({"b": 2.0, "a": 1.0}, {})
    True
    """
    total = hashlib.sha256(_text(said))
    for name in sorted(table):
        total.update(_text([name]))
        total.update(_bytes(np.asarray(table[name])))
    return total.hexdigest()


def _bytes(column: NDArray[Any]) -> bytes:
    if column.dtype.kind == "f":
        # One kind of NaN, one kind of zero.
        return np.where(np.isnan(column), np.nan, column + 0.0).astype("<f8").tobytes()
    return _text(plain(column))


def _text(value: Any) -> bytes:
    return json.dumps(_whole(value), sort_keys=True, separators=(",", ":")).encode()


def _whole(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _whole(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def check_numbers(result: Result, saved: Saved) -> None:
    """Refuse numbers that no result can have: for files that were written before there were digests."""
    for name, column in saved.table.items():
        if column.dtype.kind not in "fi":
            continue
        if name in SHARES:
            _refuse_unless(_within(column, 0, 1), saved, f"column {name!r} is not between 0 and 1")
        if name in SIZES:
            _refuse_unless(_within(column, 0, np.inf), saved, f"column {name!r} is negative")
        upper = saved.table.get(name.replace("lower", "upper")) if "lower" in name else None
        if upper is not None:
            _refuse_unless(_within(column, -np.inf, upper), saved, f"column {name!r} is above its upper bound")
    if "errors" in saved.table:
        _refuse_unless(_within(saved.table["errors"], 0, saved.table["trials"]), saved, "more errors than trials")
    if isinstance(result, AposterioriROC):
        in_order = result.threshold[:-1] <= result.threshold[1:]
        _refuse_unless(in_order, saved, "the thresholds are not in order")
        _check_outcomes(result.outcomes, len(result.threshold), saved.summary, saved)
    if isinstance(result, EPC):
        _check_curve(result, saved)


def _check_curve(curve: EPC, saved: Saved) -> None:
    _check_outcomes(curve.dev_outcomes, curve.alpha.size, saved["dev"], saved)
    _check_outcomes(curve.outcomes, curve.alpha.size, saved["test"], saved)
    if curve.omega is not None:
        return  # the rates are those of attacks with a share of their own, the outcomes those of all negatives
    v1, v2, measure = curve.task.v1, curve.task.v2, curve.measure
    rates = {
        "dev_v1": v1(curve.dev_outcomes),
        "dev_v2": v2(curve.dev_outcomes),
        "v1": v1(curve.outcomes),
        "v2": v2(curve.outcomes),
    }
    if not measure.needs_alpha:
        rates["value"] = measure(curve.outcomes)
    for name, expected in rates.items():
        same = np.isclose(saved.table[name], expected, rtol=1e-12, atol=0, equal_nan=True)
        _refuse_unless(same, saved, f"column {name!r} is not what the outcomes give")


def _check_outcomes(outcomes: Outcomes, rows: int, sizes: Mapping[str, Any], saved: Saved) -> None:
    counts = (outcomes.tp, outcomes.fp, outcomes.tn, outcomes.fn)
    if any(count.shape != (rows,) for count in counts):
        raise _made_up(saved, "not one count of outcomes for each row")
    for count in counts:
        _refuse_unless(count >= 0, saved, "a negative count of outcomes")
    _refuse_unless(outcomes.positives == sizes["positives"], saved, "the outcomes do not add up to the positives")
    _refuse_unless(outcomes.negatives == sizes["negatives"], saved, "the outcomes do not add up to the negatives")


def _within(column: NDArray[Any], lowest: Any, highest: Any) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = ~((column < lowest) | (column > highest))  # a missing number is not outside
    return inside


def _refuse_unless(right: Any, saved: Saved, what: str) -> None:
    if not np.all(right):
        raise _made_up(saved, what)


def _made_up(saved: Saved, what: str) -> InputError:
    return InputError(f"{saved.where} is not as Priori saved it ({what}); save the result again")
