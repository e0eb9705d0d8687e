"""Cautions of a study: what its results carry, said once for all systems, and what only the whole study shows."""

from __future__ import annotations

import numpy as np

from priori.base.cautions import CODES, Caution, joined, of_systems
from priori.curves.epc import EPC
from priori.studies.evaluation import Member, Study
from priori.uncertainty.evidence import error_allowed
from priori.words.numbers import counted, percent, short

#: How many times one class may outnumber the other before it is said.
UNBALANCED = 10


def cautions(study: Study) -> tuple[Caution, ...]:
    """Return every caution that applies at the alpha of interest, one of each code, the gravest first."""
    names = [short(member.name) for member in study.members]
    every = of_systems([*zip(names, map(_of_member, study.members, study.findings), strict=True)])
    every += tuple(caution for check in (_few_resamples, _no_bootstrap) for caution in check(study))
    texts: dict[str, list[str]] = {}
    for line in every:
        texts.setdefault(line.code if isinstance(line, Caution) else "other", []).append(line)
    order = [*CODES, *texts]
    found = [Caution(code, "; ".join(lines), getattr(lines[0], "named", False)) for code, lines in texts.items()]
    return tuple(sorted(found, key=lambda caution: (caution.level != "warning", order.index(caution.code))))


def _of_member(member: Member, findings: tuple[Caution, ...]) -> tuple[str, ...]:
    """Return warnings about a system: its band, what was found of its curve, its test set."""
    curve, band = member.curve, member.band
    own = [] if band is None else [line for line in band.warnings if line not in curve.warnings]
    sets = [caution for check in (_unbalanced, _missing) for caution in check(curve)]
    return joined(own, findings, sets)


def _unbalanced(curve: EPC) -> list[Caution]:
    negatives, positives = curve.test.n_negatives, curve.test.n_positives
    if max(negatives / positives, positives / negatives) < UNBALANCED:
        return []
    return [Caution(
        "unbalanced",
        f"{negatives:,} negatives to {positives:,} positives in the test set: almost all of the uncertainty comes from "
        f"the smaller class, {percent(min(negatives, positives) / len(curve.test))} of the trials, and the plain error "
        "rate would say little about it",
    )]  # fmt: skip


def _missing(curve: EPC) -> list[Caution]:
    number = curve.dev.nan_rejected + curve.test.nan_rejected
    text = f"{counted(number, 'score')} missing (NaN): each counts as a trial that is always rejected, as asked"
    return [Caution("missing", text)] if number else []


def _few_resamples(study: Study) -> list[Caution]:
    settings = study.settings
    resamples = int(np.prod(settings.n_resamples))
    # Several pairs are tested together by the largest of their differences, whatever their number; one pair by counting
    # replicates on both sides, or as methods by Student's t, which needs none.
    counted_by = 1 if len(study.pairs) > 1 else 2 if settings.claim == "deployed" else 0
    smallest = counted_by / (resamples + 1)
    if settings.bootstrap is None or not study.pairs or smallest < error_allowed(settings.confidence_level):
        return []
    return [Caution(
        "few-resamples",
        f"with {counted(resamples, 'resample')} no p-value can be small enough: no difference can be significant, "
        "however large it is; use more resamples",
    )]  # fmt: skip


def _no_bootstrap(study: Study) -> list[Caution]:
    if study.settings.bootstrap:
        return []
    text = "no bootstrap was run, so the curves have no confidence bands and the differences no test"
    return [Caution("no-bootstrap", text)]
