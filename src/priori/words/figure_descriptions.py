"""Text alternatives: what each figure shows, for those who cannot see it."""

from __future__ import annotations

import numpy as np

from priori.studies.evaluation import Member, Study
from priori.words.headline import deployment
from priori.words.numbers import abridged, aggregate, alpha_text, listing, percent, short, threshold_text, value
from priori.words.vocabulary import study_words


def describe_figures(study: Study) -> dict[str, str]:
    """Describe every figure of a study, by the name it has on the page."""
    members = [study.members[place] for place in study.matter[:6]]
    areas = [f"{short(member.name)} has an area of {member.roc.auc:.3f}" for member in members]
    eers = [f"{short(member.name)} has an equal error rate of {percent(member.roc.eer)}" for member in members]
    described = {
        "people": _people(study),
        "epc": _curves(study),
        "roc": _a_posteriori(study, "ROC", areas),
        "det": _a_posteriori(study, "DET", eers),
    }
    if study.pairs:
        difference, described["replicates"] = _difference(study)
        described["epc"] += f" {difference}"
    if study.report_card:
        described["card"] = "Dot chart: error rates of each kind of trials, type of attack and group, with intervals."
    if study.users is not None:
        described["users"] = study_words(study).said(
            "Line chart: the error rates of the users, the highest lower bound first."
        )
    if study.attacked:
        described["epsc"] = "Line chart: HTER_omega and IAPMR against the share of attacks."
    described |= _standings(study)
    return described | {f"scores-{place}": _scores(study, study.members[place]) for place in study.matter}


def _standings(study: Study) -> dict[str, str]:
    """Describe the figures of a ranking."""
    settings = study.settings
    at = f"at alpha = {alpha_text(settings.alpha)}"
    values = [
        f"{short(study.members[place].name)} {value(float(study.curves[place].value[study.at]), settings.shown)}"
        for place in study.order_at(study.at)[:6]
    ]
    intervals = "" if study.members[0].band is None else " with intervals"
    dots = f"Dot chart: {aggregate(settings.shown)}{intervals}, from best to worst, {at}: {listing(values)}."
    described = {"dots": dots}
    if study.standings is not None:
        best = [short(study.members[place].name) for place in np.flatnonzero(study.standings[2][:, study.at])]
        described["dots"] += f" The best could be {abridged(best, 'or', most=6)}. The table Ranking has the numbers."
    if (board := study.board) is not None and not study.many:
        moved = [short(str(move["name"])) for move in board.moves if move["significant"]]
        described["slopes"] = (
            f"Slope chart: the rank of each system by {board.settings['against']} on the test set, and at thresholds "
            f"fixed in advance, {at}; Kendall's tau {board.tau:.2f}. "
            f"{abridged(moved, most=6) if moved else 'No system'} move{'s' * (len(moved) < 2)} significantly."
        )
        first = short(str(board.system[0]))
        described["ranks"] = (
            f"Heat map: how often each system had each rank under resampling, {at}; {first} was first in "
            f"{percent(float(board.rank_probability[0, 0]))} of the draws."
        )
    return described


def _people(study: Study) -> str:
    """Describe what happens to a thousand."""
    lines = " ".join(line.text for line in deployment(study, study.at).lines)
    return f"A thousand dots, coloured where there are errors. {lines}"


def _names(study: Study) -> str:
    return abridged([short(member.name) for member in study.members], most=6)


def _curves(study: Study) -> str:
    measure, alpha = study.settings.shown, study.curves[0].alpha
    parts = []
    for member in (study.members[place] for place in study.matter[:6]):
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


def _difference(study: Study) -> tuple[str, str]:
    """Describe the difference of the pair shown first, along alpha and its replicates."""
    pair = study.pairs_that_matter[0]
    a, b = (short(study.members[system].name) for system in (pair.a, pair.b))
    regions = [f"{alpha_text(low)} to {alpha_text(high)}" for low, high in pair.regions()]
    where = f"for alpha {listing(regions)}" if regions else "at no alpha"
    significant = "" if pair.significant is None else f" It is significant {where}."
    panel = "" if pair.confidence is None else " Below it, the confidence of the z-test that the two differ."
    return (
        f"Line chart: {aggregate(study.settings.shown)} of {a} minus that of {b} against alpha.{significant}{panel}",
        f"Histogram of the replicates of the difference, {a} minus {b}, with the ends of the interval and 0.",
    )


def _a_posteriori(study: Study, kind: str, parts: list[str]) -> str:
    return (
        f"Line chart: {kind} curves of {_names(study)} on the test set, a posteriori, with each a priori operating "
        f"point marked. {'; '.join(parts)}."
    )


def _scores(study: Study, member: Member) -> str:
    test, sign = member.curve.test, -1 if member.curve.distances else 1
    negatives, positives = (sign * middle for middle in member.medians)
    return (
        f"Histogram of the test scores of {short(member.name)}: {test.n_negatives:,} negatives around "
        f"{negatives:.4g}, {test.n_positives:,} positives around {positives:.4g}; threshold at alpha = "
        f"{alpha_text(study.settings.alpha)}: {threshold_text(member.deployable[study.at])}."
    )
