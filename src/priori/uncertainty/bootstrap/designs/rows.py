"""The rows bootstrap: trials with their labels, so that the share of positives varies as well."""

from __future__ import annotations

from collections.abc import Sequence

from priori.decisions.measure import Measure
from priori.scores import ScoreSet
from priori.uncertainty.bootstrap.designs.sample import TrialBootstrap


class _Rows(TrialBootstrap):
    def suits(self, sets: Sequence[ScoreSet], measures: Sequence[Measure] = ()) -> bool:
        """Where the measure depends on how many positives there are, that is part of what varies."""
        return any("prevalence" in measure.depends_on for measure in measures)


ROWS = _Rows(
    name="rows",
    resamples="trials, with their labels (rows of the table)",
    choice="trials, with their labels",
    draws_trials=True,
    draws_rows=True,
    by_user=False,
    calibrated=True,
    preference=1,
)
