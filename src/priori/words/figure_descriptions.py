"""Text alternatives: what each figure shows, for those who cannot see it."""

from __future__ import annotations

import numpy as np

from priori.studies.evaluation import Member, Study
from priori.words.numbers import (
    abridged,
    aggregate,
    alpha_text,
    deployable,
    listing,
    percent,
    short,
    threshold_text,
    value,
)


def describe_figures(study: Study) -> dict[str, str]:
    """Describe every figure of a study, by the name it has on the page."""
    members = study.members[:6]
    areas = [f"{short(member.name)} has an area of {member.auc:.3f}" for member in members]
    eers = [f"{short(member.name)} has an equal error rate of {percent(member.eer)}" for member in members]
    described = {
        "epc": _curves(study),
        "roc": _a_posteriori(study, "ROC", areas),
        "det": _a_posteriori(study, "DET", eers),
    }
    if study.pairs:
        described["difference"] = _difference(study)
    return described | {f"scores-{number}": _scores(study, member) for number, member in enumerate(study.members)}


def _names(study: Study) -> str:
    return abridged([short(member.name) for member in study.members], most=6)


def _curves(study: Study) -> str:
    measure, alpha = study.settings.shown, study.curves[0].alpha
    parts = []
    for member in study.members[:6]:
        values = member.curve.value
        low, high = (
            f"{value(float(values[index]), measure)} (at alpha {alpha_text(alpha[index])})"
            for index in (int(np.argmin(values)), int(np.argmax(values)))
        )
        parts.append(f"{short(member.name)} lies between {low} and {high}")
    banded = " with bands" if study.members[0].band is not None else ""
    return (
        f"Line chart: {aggregate(measure)} on the test set against alpha for {_names(study)}{banded}, thresholds "
        f"chosen on the development set. {'; '.join(parts)}."
    )


def _difference(study: Study) -> str:
    pair = study.pairs[0]
    a, b = (short(study.members[system].name) for system in (pair.a, pair.b))
    regions = [f"{alpha_text(low)} to {alpha_text(high)}" for low, high in pair.regions()]
    where = f"for alpha {listing(regions)}" if regions else "at no alpha"
    significant = "" if pair.significant is None else f" It is significant {where}."
    panel = "" if pair.confidence is None else " Below it, the confidence of the z-test that the two differ."
    return f"Line chart: {aggregate(study.settings.shown)} of {a} minus that of {b} against alpha.{significant}{panel}"


def _a_posteriori(study: Study, kind: str, parts: list[str]) -> str:
    return (
        f"Line chart: {kind} curves of {_names(study)} on the test set, a posteriori, with each a priori operating "
        f"point marked. {'; '.join(parts)}."
    )


def _scores(study: Study, member: Member) -> str:
    test = member.curve.test.load()
    middle = [float(np.median(ordered)) for ordered in (test.negatives, test.positives)]
    return (
        f"Histogram of the test scores of {short(member.name)}: {test.n_negatives:,} negatives around "
        f"{middle[0]:.4g}, {test.n_positives:,} positives around {middle[1]:.4g}; threshold at alpha = "
        f"{alpha_text(study.settings.alpha)}: {threshold_text(deployable(member.curve, study.at))}."
    )
