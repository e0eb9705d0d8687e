"""Cautions of a study: what its results carry, said once for all systems, and what only the whole study shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from priori.base.cautions import Caution, gravest_first, joined, of_systems
from priori.base.errors import MARK
from priori.base.quantiles import error_allowed
from priori.curves.epc import EPC
from priori.studies.evaluation import Member, Study
from priori.words.numbers import counted, percent, short
from priori.words.vocabulary import study_words

#: How many times one class may outnumber the other before a caution says so.
UNBALANCED = 10
#: The code given to a warning without one.
OTHER = "other"


def cautions(study: Study) -> tuple[Caution, ...]:
    """Return every caution that applies at the alpha of interest, one of each code, the gravest first."""
    names = [short(member.name) for member in study.members]
    every = of_systems([*zip(names, map(_of_member, study.members, study.findings), strict=True)])
    every += tuple(_of_study(study))
    texts: dict[str, list[Caution]] = {}
    for line in every:
        caution = line if isinstance(line, Caution) else Caution(OTHER, line)
        texts.setdefault(caution.code, []).append(caution)
    said = study_words(study).said
    found = [
        Caution(code, said("; ".join(line.marked for line in lines)), lines[0].named) for code, lines in texts.items()
    ]
    return tuple(gravest_first(found))


def as_shown(study: Study, caution: Caution) -> tuple[str, str]:
    """Return the heading and the sentence of a caution for the page, whose readers type no arguments.

    Where no users are known it is trials that err, and that are few.
    """
    words, known = study_words(study), study.curves[0].test.n_users
    heading = (words if known else replace(words, people="trials")).said(caution.heading)
    plain = re.sub(rf" \({MARK}[^{MARK}]*{MARK}\)", "", caution.marked)
    return heading, Caution(caution.code, plain, caution.named).sentence


def _of_member(member: Member, findings: tuple[Caution, ...]) -> tuple[str, ...]:
    """Return warnings about a system: its band, what was found of its curve, its test set."""
    curve, band = member.curve, member.band
    own = [] if band is None else [line for line in band.warnings if line not in curve.warnings]
    return joined(own, findings, _of_sets(curve))


def _of_sets(curve: EPC) -> Iterator[Caution]:
    negatives, positives = curve.test.n_negatives, curve.test.n_positives
    if max(negatives / positives, positives / negatives) >= UNBALANCED:
        share = percent(min(negatives, positives) / len(curve.test))
        text = (
            f"{negatives:,} negatives and {positives:,} positives in the test set: the smaller class ({share}) decides "
            "how wide intervals are"
        )
        yield Caution("unbalanced", text)
    if number := curve.dev.nan_rejected + curve.test.nan_rejected:
        text = f"{counted(number, 'score')} missing (NaN): each counts as a rejected trial"
        yield Caution("missing", text)


def _of_study(study: Study) -> Iterator[Caution]:
    settings = study.settings
    if settings.bootstrap is None:
        text = "no bootstrap was run: no confidence bands, no tests"
        yield Caution("no-bootstrap", text)
        return
    resamples = int(np.prod(settings.n_resamples))
    # Several pairs are tested together by the largest of their differences, whatever their number; one pair by counting
    # replicates on both sides, or as methods by Student's t, which needs none.
    counted_by = 1 if len(study.pairs) > 1 else 2 if settings.claim == "deployed" else 0
    if study.pairs and counted_by / (resamples + 1) >= error_allowed(settings.confidence_level):
        text = f"{counted(resamples, 'resample')} are too few for any p-value to be significant; use more"
        yield Caution("few-replicates", text)
