"""From the columns of a file to scores: which trials are positive, and where a score is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from priori.base.types import Mask
from priori.readers.layout import Columns
from priori.scores import NanPolicy, Scores, Trials
from priori.scores.labels import is_positive


def into_scores(table: Columns, pos_label: Any, nan: NanPolicy, lower_is_better: bool, source: str) -> Scores:
    """Return the scores of one system on one set."""
    codes = table.codes
    return Scores.from_columns(
        Trials(
            table.score,
            codes.get("user"),
            codes.get("probe_user"),
            table.trial,
            codes.get("dataset"),
            group=codes.get("group"),
        ),
        _positive(table, pos_label, source),
        users=table.names.get("user"),
        datasets=table.names.get("dataset"),
        groups=table.names.get("group"),
        nan=nan,
        lower_is_better=lower_is_better,
        source=source,
    )


def _positive(table: Columns, pos_label: Any, source: str) -> Mask:
    if "label" in table.codes:
        positive = is_positive(table.names["label"].values, pos_label, where=source)
        codes = table.codes["label"]
        return np.asarray(codes == positive.argmax() if positive.sum() == 1 else positive[codes])
    return np.asarray(table.codes["user"] == table.codes["probe_user"])
