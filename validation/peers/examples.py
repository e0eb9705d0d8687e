"""Run the documented examples of other packages, theirs and ours on the same data: record.csv, docs/peers.md.

    python validation/peers/examples.py                       every peer that needs no data of its own
    python validation/peers/examples.py stambo                this one; the rest of the record stays
    python validation/peers/examples.py cutpointr suicide.rda the data set of an R package, from its folder data/

``pip install stambo==0.1.4 mapie==1.6.0 fairlearn==0.15.0 confidence-intervals==0.0.3 lir==1.3.1 dcurves==1.1.7 rdata``
in an environment with priori. What R packages give is taken from their documentation and tests; lir is given the folder
of the glass data (github.com/NetherlandsForensicInstitute/elemental_composition_glass).
"""

from __future__ import annotations

import csv
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

import priori
from priori import Scores

sys.path.insert(0, str(Path(__file__).parents[1] / "coverage"))
from simulation import population

RECORD = Path(__file__).with_name("record.csv")


class Line(NamedTuple):
    """One quantity of an example: what the peer gives, what we give, and why they differ where they do."""

    peer: str
    quantity: str
    theirs: str
    ours: str
    why: str


def known(threshold: float) -> Scores:
    """Return a development set on which this threshold is chosen."""
    return Scores.from_arrays([threshold - 1e-9], [threshold + 1e-9])


def span(value: float, lower: float, upper: float, digits: int = 3) -> str:
    """Return a value and its interval."""
    return f"{value:.{digits}f} ({lower:.{digits}f} to {upper:.{digits}f})"


def read_r(path: str) -> dict:
    """Return the first data frame of an R file, as columns."""
    import rdata

    frame = next(iter(rdata.read_rda(path).values()))
    return {name: frame[name].to_numpy() for name in frame.columns}


def cutpointr(path: str) -> list[Line]:
    """The first example of its README (1.2.0): 532 people, the score of a questionnaire, sum_sens_spec."""
    data = read_r(path)
    scores = Scores.from_predictions(data["suicide"] == "yes", data["dsi"])
    threshold = priori.choose_threshold(scores, task="diagnosis", alpha=0.5)
    at = priori.count(scores, threshold)
    folds = priori.cross_epc(scores, task="diagnosis", alpha=["0.5"], folds=5)
    band = folds.band()
    return [
        Line("cutpointr", "AUC", "0.9238", f"{priori.a_posteriori_auc(scores):.4f}", "the same"),
        Line(
            "cutpointr", "cutpoint", "2, x >= 2", f"{threshold:g}, x > {threshold:g}", "midpoints; the same decisions"
        ),
        Line("cutpointr", "TP, FN, FP, TN", "32, 4, 68, 428", f"{at.tp}, {at.fn}, {at.fp}, {at.tn}", "the same"),
        Line(
            "cutpointr",
            "sensitivity + specificity on new people",
            "1.71 (1.56 to 1.86)",
            span(*(2 * limit[0] for limit in (folds.value, band.lower, band.upper)), 2),
            "out-of-bag, 5 and 95 % of its draws; five folds, a 95 % interval",
        ),
    ]


def proc(path: str) -> list[Line]:
    """aSAH, 113 patients (1.19.0.1): its README's comparisons, with the numbers of its tests; coords "best"."""
    data = read_r(path)
    sick = data["outcome"] == "Poor"
    wfns, s100b, ndka = (
        Scores.from_predictions(sick, np.asarray(data[name], float), trial=np.arange(sick.size))
        for name in ("wfns", "s100b", "ndka")
    )
    auc = priori.a_posteriori_auc_interval(ndka, method="normal")
    test = priori.a_posteriori_auc_test(wfns, s100b)
    threshold = priori.choose_threshold(s100b, alpha=0.5)
    at = priori.count(s100b, threshold)
    return [
        Line(
            "pROC",
            "AUC of ndka, DeLong",
            "0.6120 (0.5012 to 0.7227)",
            span(auc.auc, auc.lower, auc.upper, 4),
            "the same",
        ),
        Line("pROC", "wfns against s100b, DeLong's p", "0.02717578", f"{test.p_value:.8f}", "the same"),
        Line(
            "pROC",
            "partial AUC of wfns, specificity 1 to 0.9",
            "0.03344173",
            f"{priori.a_posteriori_partial_auc(wfns, (0, 0.1)):.8f}",
            "the same",
        ),
        Line(
            "pROC",
            "best threshold of s100b: specificity, sensitivity",
            "0.205: 0.8056, 0.6341",
            f"{threshold:.3f}: {at.tn / (at.tn + at.fp):.4f}, {at.tp / (at.tp + at.fn):.4f}",
            "the same on the data it was chosen on",
        ),
    ]


def dcurves() -> list[Line]:
    """Its README: net benefit of a prediction model for cancer, 750 patients."""
    import pandas
    from dcurves import data as folder
    from dcurves import dca

    frame = pandas.read_csv(Path(folder) / "df_binary.csv")
    result = dca(data=frame, outcome="cancer", modelnames=["cancerpredmarker"], thresholds=np.array([0.1, 0.2, 0.3]))
    theirs = result[result.model == "cancerpredmarker"].set_index("threshold").net_benefit
    scores = Scores.from_predictions(frame.cancer, frame.cancerpredmarker)
    prior = float(frame.cancer.mean())
    lines = []
    for p in (0.1, 0.2, 0.3):
        curve = priori.epc(known(p), scores, costs=f"fn=1,fp={p / (1 - p)}", prior=prior, alpha=None)
        band = curve.band()
        limits = [prior - limit[0] for limit in (curve.value, band.upper, band.lower)]
        nearest = theirs[np.isclose(theirs.index, p)].iloc[0]
        why = "prevalence minus cost per decision; ours has an interval"
        lines.append(Line("dcurves", f"net benefit at {p:g}", f"{nearest:.4f}", span(*limits, 4), why))
    return lines


def stambo() -> list[Line]:
    """Its notebooks: two models of the breast cancer data; models tested on three subjects."""
    import stambo as peer
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold, train_test_split
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import StandardScaler

    seed = 2025
    x, y = load_breast_cancer(return_X_y=True)
    train, test, label, truth = train_test_split(x, y, test_size=0.5, random_state=seed, stratify=y)
    scaler = StandardScaler().fit(train)
    models = KNeighborsClassifier(n_neighbors=3), LogisticRegression(C=1e-2, random_state=42)
    predicted = [
        model.fit(scaler.transform(train), label).predict_proba(scaler.transform(test))[:, 1] for model in models
    ]
    options = {"seed": seed, "n_bootstrap": 1000, "silent": True}
    theirs = peer.compare_models(truth, *predicted, metrics=("ROCAUC", "BACC"), **options)
    knn, logistic = (Scores.from_predictions(truth, scores, trial=np.arange(truth.size)) for scores in predicted)
    auc = priori.a_posteriori_auc_test(logistic, knn)
    curves = [priori.epc(known(0.5), scores, measure="balanced-accuracy", alpha=["0.5"]) for scores in (logistic, knn)]
    balanced = priori.compare(*curves, claim="deployed")
    lines = [
        Line(
            "stambo",
            "AUC, LR minus kNN",
            f"{span(*theirs['ROCAUC'][1:4], 4)}, p = {theirs['ROCAUC'][0]:.3f}",
            f"{span(auc.difference, auc.lower, auc.upper, 4)}, p = {auc.p_value:.3f}",
            "percentiles of 1000 draws; DeLong's variance, symmetric",
        ),
        Line(
            "stambo",
            "balanced accuracy at 0.5, LR minus kNN",
            f"{span(*theirs['BACC'][1:4], 4)}, p = {theirs['BACC'][0]:.3f}",
            f"{span(balanced.difference[0], balanced.lower[0], balanced.upper[0], 4)}, p = {balanced.p_value[0]:.3f}",
            "a bootstrap here and there",
        ),
    ]
    np.random.seed(seed)  # noqa: NPY002 - as in the notebook
    sizes = peer.synthetic.generate_n_measurements(10, 400, random=True, d_temp=2)
    x, subject, _ = peer.synthetic.generate_non_iid_measurements(sizes, np.array((-5, 0)), np.ones((2, 2)))
    order = np.random.choice(400, size=400, replace=False)  # noqa: NPY002
    x, subject, y = x[order], subject[order], np.zeros(400)
    y[:120] = 1
    x[:120] += np.random.randn(120, 2) + 2  # noqa: NPY002
    order = np.random.choice(400, size=400, replace=False)  # noqa: NPY002
    x, subject, y = x[order], subject[order], y[order]
    folds = StratifiedGroupKFold(n_splits=3, shuffle=True, random_state=seed)
    train, test = next(folds.split(x, y, groups=subject))
    models = KNeighborsClassifier(n_neighbors=5), LogisticRegression()
    predicted = [model.fit(x[train], y[train]).predict(x[test]) for model in models]
    theirs = peer.compare_models(y[test], *predicted, metrics=("ROCAUC",), groups=subject[test], **options)
    knn, logistic = (
        Scores.from_predictions(y[test], scores, user=subject[test], trial=np.arange(test.size)) for scores in predicted
    )
    auc = priori.a_posteriori_auc_test(logistic, knn)
    people = np.unique(subject[test]).size
    lines.append(
        Line(
            "stambo",
            f"AUC of decisions, LR minus kNN, {people} subjects of {test.size} trials",
            f"{span(*theirs['ROCAUC'][1:4])}, p = {theirs['ROCAUC'][0]:.3f}",
            f"{span(auc.difference, auc.lower, auc.upper)}, p = {auc.p_value:.3f}, warns: {auc.warnings[0].code}",
            f"{people} subjects, drawn again and again, show little of what others would do",
        )
    )
    return lines


def mapie() -> list[Line]:
    """Its quick start of risk control, with the false positive rate as the risk; then users who differ."""
    from mapie.risk_control import BinaryClassificationController
    from mapie.utils import train_conformalize_test_split
    from scipy.special import ndtr
    from sklearn.datasets import make_circles
    from sklearn.neural_network import MLPClassifier

    x, y = make_circles(n_samples=5000, noise=0.3, factor=0.3, random_state=42)
    train, calibration, _, train_y, calibration_y, _ = train_conformalize_test_split(
        x, y, train_size=0.7, conformalize_size=0.1, test_size=0.2, random_state=42
    )
    model = MLPClassifier(max_iter=150, random_state=42).fit(train, train_y)
    options = {"target_level": 0.1, "confidence_level": 0.9}
    controller = BinaryClassificationController(model.predict_proba, "fpr", **options).calibrate(
        calibration, calibration_y
    )
    theirs = float(controller.best_predict_param)
    many = make_circles(n_samples=400_000, noise=0.3, factor=0.3, random_state=32)
    dev, new = (
        Scores.from_predictions(label, model.predict_proba(part)[:, 1])
        for part, label in ((calibration, calibration_y), many)
    )
    ours = priori.choose_threshold(dev, criterion="at-most-far:0.9", alpha=0.1)
    shown = []
    for threshold in (np.nextafter(theirs, 0), ours):
        at = priori.count(new, threshold)
        shown.append(f"{threshold:.3f}: {at.fp / (at.fp + at.tn):.3f}, {at.tp / (at.tp + at.fn):.3f}")
    lines = [
        Line(
            "MAPIE",
            "threshold for FPR at most 0.1, 90 % sure: FPR and recall of 400,000 new points",
            *shown,
            "theirs corrects for testing 100 thresholds; ours tests from the top until one fails",
        )
    ]
    limit = 0.1
    for users, trials in ((62, 20), (124, 96)):
        kept: dict[str, list[bool]] = {"theirs": [], "ours": []}
        for repeat in range(200):
            scores = population(users, 9, trials, user_effect_sd=0.8, rng=(32, repeat))
            score = np.concatenate([scores.negatives, scores.positives])
            label = np.repeat([0, 1], [scores.negatives.size, scores.positives.size])
            # It wants probabilities: any increasing function of the scores will do.
            controller = BinaryClassificationController(
                lambda given: np.column_stack([1 - ndtr(given[:, 0]), ndtr(given[:, 0])]), "fpr", **options
            ).calibrate(score[:, None], label)
            found = controller.best_predict_param
            kept["theirs"].append(found is None or 1 - found <= limit)  # the negatives' scores are normal
            chosen = priori.choose_threshold(scores, criterion="at-most-far:0.9", alpha=limit)
            kept["ours"].append(ndtr(-chosen) <= limit)
        lines.append(
            Line(
                "MAPIE",
                f"how often the population keeps that limit: {users} users of {trials} trials, 200 sets, 90 % wanted",
                *(f"{100 * np.mean(kept[name]):.1f} %" for name in ("theirs", "ours")),
                "trials of one user are not independent; ours counts users",
            )
        )
    return lines


def confidence_intervals() -> list[Line]:
    """Its README: the accuracy of 400 decisions under 20 conditions."""
    from confidence_intervals import evaluate_with_conf_int
    from confidence_intervals.utils import create_data
    from sklearn.metrics import accuracy_score

    decisions, labels, conditions = create_data(200, 200, 20)
    value, (lower, upper) = evaluate_with_conf_int(
        decisions, accuracy_score, labels, conditions, num_bootstraps=1000, alpha=5
    )
    scores = Scores.from_predictions(labels, decisions, user=conditions)
    curve = priori.epc(known(0.5), scores, measure="accuracy", alpha=["0.5"])
    lines = []
    for quantity, options, why in (
        (
            "accuracy, conditions and trials within them",
            {"bootstrap": "joint", "interval": "percentile"},
            "a condition drawn twice has one draw of its trials there, two here",
        ),
        ("the same, by default", {}, "conditions alone are drawn, with their trials as they are"),
    ):
        band = curve.band(**options)
        ours = span(curve.value[0], band.lower[0], band.upper[0])
        lines.append(Line("confidence_intervals", quantity, span(value, lower, upper), ours, why))
    return lines


def lir(folder: str) -> list[Line]:
    """Its example glass.yaml, the score-based system without KDE: pairs of measurements of glass, log10 ratios."""
    from lir.data.data_strategies import PredefinedTrainTestSplit
    from lir.data.datasets.glass import GlassData
    from lir.data.models import LLRData
    from lir.metrics import cllr, cllr_cal, cllr_min
    from lir.transform.pairing import InstancePairing
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    train, test = next(iter(PredefinedTrainTestSplit().apply(GlassData(folder).get_instances())))
    scale = StandardScaler().fit(train.features).scale_
    sets = [InstancePairing(ratio_limit=1, seed=0).pair(part, 1, 1) for part in (train, test)]
    apart = [np.abs(part.features[:, 0] - part.features[:, 1]) / scale for part in sets]
    model = LogisticRegression().fit(apart[0], sets[0].labels)  # classes are even: odds are likelihood ratios
    natural, labels = model.decision_function(apart[1]), sets[1].labels
    result = LLRData(features=natural / np.log(10), labels=labels)
    sources = np.asarray(sets[1].source_ids)
    scores = Scores.from_predictions(labels, natural, user=sources[:, 0], probe_user=sources[:, 1])
    costs = priori.llr_costs(scores, scores)
    row = list(costs.cost).index("cllr")
    minimum = priori.a_posteriori_min_cllr(scores)
    ours = span(costs.value[row], costs.lower[row], costs.upper[row], 4)
    return [
        Line(
            "lir", "Cllr of 6400 pairs", f"{cllr(result):.4f}", ours, "the interval allows for both sources of a pair"
        ),
        Line("lir", "minimum Cllr", f"{cllr_min(result):.4f}", f"{minimum:.4f}", "the same"),
        Line("lir", "calibration loss", f"{cllr_cal(result):.4f}", f"{costs.value[row] - minimum:.4f}", "the same"),
    ]


def fairlearn() -> list[Line]:
    """Its page on confidence intervals, with the false negative rate; then groups who do not differ."""
    from fairlearn.metrics import MetricFrame, false_negative_rate, false_positive_rate

    y_true = [0, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    y_pred = [0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0]
    group = list("bbabbaaababa") + list("bbabbb")
    options = {"n_boot": 1000, "ci_quantiles": [0.025, 0.975], "random_state": 20231019}
    frame = MetricFrame(metrics=false_negative_rate, y_true=y_true, y_pred=y_pred, sensitive_features=group, **options)
    scores = Scores.from_predictions(y_true, y_pred, group=group)
    found = priori.group_rates(scores, 0.5, rates=["frr"]).rows("frr", "gap")
    lower, upper = (float(limit) for limit in frame.difference_ci())
    lines = [
        Line(
            "fairlearn",
            "gap of the false negative rates, 12 people in two groups",
            span(float(frame.difference()), lower, upper, 2),
            span(float(found["value"][0]), float(found["lower"][0]), float(found["upper"][0]), 2),
            "percentiles of the largest gap; ours can say that there may be none",
        )
    ]
    covered: dict[str, list[bool]] = {"theirs": [], "ours": []}
    for repeat in range(40):
        rng = np.random.default_rng([32, repeat])
        label, group = np.repeat([0, 1], [600, 20]), np.concatenate([np.arange(600) % 2, np.arange(20) % 2])
        wrong = (rng.random(620) < 0.1).astype(int)
        predicted = np.where(label == 1, 1 - wrong, wrong)
        frame = MetricFrame(
            metrics=false_positive_rate,
            y_true=label,
            y_pred=predicted,
            sensitive_features=group,
            **{**options, "n_boot": 100},
        )
        lower, upper = (float(limit) for limit in frame.difference_ci())
        covered["theirs"].append(lower <= 0 <= upper)
        found = priori.group_rates(Scores.from_predictions(label, predicted, group=group), 0.5, rates=["far"])
        row = found.rows("far", "gap")
        covered["ours"].append(bool(row["lower"][0] <= 0 <= row["upper"][0]))
    lines.append(
        Line(
            "fairlearn",
            "how often the interval of the gap holds a true gap of 0: two groups of 300, 40 sets, 95 % wanted",
            *(f"{100 * np.mean(covered[name]):.1f} %" for name in ("theirs", "ours")),
            "the largest gap of a resample is never 0",
        )
    )
    return lines


#: What runs each example, the distribution whose version is recorded (or the version), and whether it takes a path.
PEERS = {
    "cutpointr": (cutpointr, "1.2.0", True),
    "pROC": (proc, "1.19.0.1", True),
    "dcurves": (dcurves, "dcurves", False),
    "stambo": (stambo, "stambo", False),
    "MAPIE": (mapie, "mapie", False),
    "confidence_intervals": (confidence_intervals, "confidence-intervals", False),
    "lir": (lir, "lir", True),
    "fairlearn": (fairlearn, "fairlearn", False),
}


def read() -> list[dict[str, str]]:
    """Return the record."""
    with RECORD.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def main(names: list[str], path: str | None) -> None:
    """Run the examples and write the record: what was run, and what was there of the others."""
    for name in names:
        run, of, needs_path = PEERS[name]
        lines = run(path) if needs_path else run()
        edition = of if of[0].isdigit() else version(of)
        rows = [row for row in (read() if RECORD.exists() else []) if row["peer"] != name]
        rows += [{**line._asdict(), "version": edition} for line in lines]
        with RECORD.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ("peer", "version", *Line._fields[1:]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(rows, key=lambda row: list(PEERS).index(row["peer"])))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    given = sys.argv[1:]
    asked = [given[0]] if given else [name for name, (_, _, needs_path) in PEERS.items() if not needs_path]
    main(asked, given[1] if len(given) > 1 else None)
