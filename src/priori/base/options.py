"""Options that several floors take: the choices they allow, and how to resample, with the defaults."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np

#: What is resampled, how bounds come from replicates, what a comparison is about.
Resample = Literal["test", "both"]
Interval = Literal["calibrated", "percentile", "centred"]
Claim = Literal["method", "deployed"]
#: What counts equally on test scores.
Weight = Literal["trial", "user"]


@dataclass(frozen=True)
class ResamplingOptions:
    """How to resample, as people say it; `priori.uncertainty.bootstrap.resampling.Resampling` checks and settles it."""

    bootstrap: str | None = None
    n_resamples: int | tuple[int, int] = 10_000
    resample: Resample = "test"
    confidence_level: float = 0.95
    interval: Interval | None = None
    simultaneous: bool = False
    rng: int | np.random.Generator | None = 0
    shared_users: bool | None = None


#: What each of these is called on the command line and in the form.
TYPED = {each.name: each.name for each in fields(ResamplingOptions)}
TYPED |= {"n_resamples": "resamples", "confidence_level": "level", "rng": "seed"}
