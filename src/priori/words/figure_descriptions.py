"""Text alternatives: what each figure shows, for those who cannot see it."""

from __future__ import annotations

import numpy as np

from priori.studies.evaluation import Member, Study
from priori.words.numbers import aggregate, alpha_text, deployable, listing, percent, short, threshold_text, value


def describe_figures(study: Study) -> dict[str, str]:
    """Describe every figure of a study, by the name it has on the page."""
    described = {"epc": _curves(study), "roc": _roc(study), "det": _det(study)}
    if study.pairs:
        described["difference"] = _difference(study)
    return described | {f"scores-{place}": _scores(study, member) for place, member in enumerate(study.members)}


def _names(study: Study) -> str:
    names = [short(member.name) for member in study.members]
    return listing(names if len(names) <= 6 else [*names[:5], f"{len(names) - 5} others"])


def _curves(study: Study) -> str:
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


def _difference(study: Study) -> str:
    pair = study.pairs[0]
    a, b = (short(study.members[place].name) for place in (pair.a, pair.b))
    regions = [f"{alpha_text(low)} to {alpha_text(high)}" for low, high in pair.regions()]
    if pair.significant is None:
        said = ""
    else:
        said = f" It is significant for alpha {listing(regions)}." if regions else " It is significant at no alpha."
    panel = "" if pair.confidence is None else " Below it, the confidence of the z-test that the two differ."
    return f"Line chart: {aggregate(study.settings.shown)} of {a} minus that of {b} against alpha.{said}{panel}"


def _roc(study: Study) -> str:
    parts = [f"{short(member.name)} has an area of {member.auc:.3f}" for member in study.members[:6]]
    return (
        f"Line chart: ROC curves of {_names(study)} on the test set, a posteriori, with each a priori operating point "
        f"marked. {'; '.join(parts)}."
    )


def _det(study: Study) -> str:
    parts = [f"{short(member.name)} has an equal error rate of {percent(member.eer)}" for member in study.members[:6]]
    return (
        f"Line chart: DET curves of {_names(study)} on the test set, a posteriori, with each a priori operating point "
        f"marked. {'; '.join(parts)}."
    )


def _scores(study: Study, member: Member) -> str:
    test = member.curve.test.load()
    middle = [float(np.median(ordered)) for ordered in (test.negatives, test.positives)]
    return (
        f"Histogram of the test scores of {short(member.name)}: {test.n_negatives:,} negatives around "
        f"{middle[0]:.4g}, {test.n_positives:,} positives around {middle[1]:.4g}; threshold at alpha = "
        f"{alpha_text(study.settings.alpha)}: {threshold_text(deployable(member.curve, study.at))}."
    )
