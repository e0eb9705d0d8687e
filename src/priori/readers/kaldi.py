"""Kaldi: scores ``enrol test score`` and trials ``enrol test target|nontarget``."""

from __future__ import annotations

from priori.base.errors import OptionError
from priori.readers.joined import join, pairs_layout
from priori.readers.layout import Columns
from priori.readers.sample import Sample

TRIALS = pairs_layout("enrol", "test", "label")


def matches(sample: Sample) -> bool:
    """Any pair of files; VoxCeleb's trials have been ruled out before."""
    return sample.trials is not None


def read(sample: Sample) -> Columns:
    """Read the scores, each with the label its pair has in the trials file."""
    if sample.trials is None:
        raise OptionError(f"{sample.source.name}: Kaldi scores need their trials file (--trials FILE, trials=FILE)")
    return join(sample, TRIALS)
