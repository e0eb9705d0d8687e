"""What the file of a bootstrap's result says about how it was made; for layouts."""

from __future__ import annotations

from typing import get_args

from priori.base.layouts import FLAG, INTEGER, LEVEL, NUMBERS, SIZE, TEXT, Schema, choice, listed, maybe
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.bootstrap.plans import Resample
from priori.uncertainty.bootstrap.resampling import Promise
from priori.uncertainty.proportions import ALTERNATIVE

_ONE_OR_MORE: Schema = {"type": "integer", "minimum": 1}

#: Of bands.
RESAMPLED: dict[str, Schema] = {
    "bootstrap": choice(*BOOTSTRAPS),
    "resample": choice(*get_args(Resample)),
    "n_resamples": {"anyOf": [_ONE_OR_MORE, listed(_ONE_OR_MORE, 2)]},
    "confidence_level": LEVEL,
    "interval": TEXT,
    "simultaneous": FLAG,
    "promise": choice(*get_args(Promise)),
    "future_users": maybe(INTEGER),
    "future_growth": maybe(NUMBERS),
    "shared_users": maybe(FLAG),
    "seed": SIZE,
}

#: Of comparisons, which are not about a future test set.
COMPARED: dict[str, Schema] = {
    "measure": TEXT,
    "rate": FLAG,
    "criterion": TEXT,
    **{name: held for name, held in RESAMPLED.items() if name not in ("promise", "future_users", "future_growth")},
    "paired": FLAG,
    "alternative": ALTERNATIVE,
}
