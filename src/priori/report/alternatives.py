"""Text alternatives: what each figure shows, for those who cannot see it."""

from __future__ import annotations

import numpy as np

from priori.report.study import Member, Study
from priori.words.numbers import aggregate, alpha_text, listing, percent, short, threshold_text, value
from priori.words.sentences import deployable

__all__ = ["describe_curves", "describe_det", "describe_difference", "describe_roc", "describe_scores"]


def _names(study: Study) -> str:
    names = [short(member.name) for member in study.members]
    return listing(names if len(names) <= 6 else [*names[:5], f"{len(names) - 5} others"])


def describe_curves(study: Study) -> str:
    """Describe the Expected Performance Curves."""
    measure, alpha = study.settings.shown, study.curves[0].alpha
    parts = []
    for member in study.members[:6]:
        low, high = int(np.argmin(member.curve.value)), int(np.argmax(member.curve.value))
        parts.append(
            f"{short(member.name)} lies between {value(float(member.curve.value[low]), measure)} (at alpha "
            f"{alpha_text(alpha[low])}) and {value(float(member.curve.value[high]), measure)} (at alpha "
            f"{alpha_text(alpha[high])})"
        )
    banded = " with bands" if study.members[0].band is not None else ""
    return (
        f"Line chart: {aggregate(measure)} on the test set against alpha for {_names(study)}{banded}, thresholds "
        f"chosen on the development set. {'; '.join(parts)}."
    )


def describe_difference(study: Study) -> str:
    """Describe the difference of the first pair."""
    pair = study.pairs[0]
    a, b = (short(study.members[place].name) for place in (pair.a, pair.b))
    regions = [f"{alpha_text(low)} to {alpha_text(high)}" for low, high in pair.regions()]
    if pair.significant is None:
        said = ""
    else:
        said = f" It is significant for alpha {listing(regions)}." if regions else " It is significant at no alpha."
    panel = "" if pair.confidence is None else " Below it, the confidence of the z-test that the two differ."
    return f"Line chart: {aggregate(study.settings.shown)} of {a} minus that of {b} against alpha.{said}{panel}"


def describe_roc(study: Study) -> str:
    """Describe the ROC curves."""
    parts = [f"{short(member.name)} has an area of {member.auc:.3f}" for member in study.members[:6]]
    return (
        f"Line chart: ROC curves of {_names(study)} on the test set, a posteriori, with each a priori operating point "
        f"marked. {'; '.join(parts)}."
    )


def describe_det(study: Study) -> str:
    """Describe the DET curves."""
    parts = [f"{short(member.name)} has an equal error rate of {percent(member.eer)}" for member in study.members[:6]]
    return (
        f"Line chart: DET curves of {_names(study)} on the test set, a posteriori, with each a priori operating point "
        f"marked. {'; '.join(parts)}."
    )


def describe_scores(study: Study, member: Member) -> str:
    """Describe the histogram of one system."""
    test = member.curve.test.load()
    middle = [float(np.median(ordered)) for ordered in (test.negatives, test.positives)]
    return (
        f"Histogram of the test scores of {short(member.name)}: {len(test.negative):,} negatives around "
        f"{middle[0]:.4g}, {len(test.positive):,} positives around {middle[1]:.4g}; threshold at alpha = "
        f"{alpha_text(study.settings.alpha)}: {threshold_text(deployable(member.curve, study.at))}."
    )
