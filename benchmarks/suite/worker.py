"""Runs one task, a few times, in the environment of whoever is measured; prints the seconds as JSON.

    python worker.py TASK DATA.npz REPEATS '{"points": 100}'

The first run warms up (imports, just-in-time compilation) and is reported on its own. Imports nothing of ours, so that
it works in a peer's own virtual environment.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

Data = dict[str, np.ndarray]


def priori_epc(data: Data, points: int) -> Callable[[], Any]:
    import priori

    def work() -> Any:
        dev = priori.Scores.from_arrays(data["dev_negative"], data["dev_positive"])
        test = priori.Scores.from_arrays(data["test_negative"], data["test_positive"])
        return priori.epc(dev, test, points=points).value

    return work


def bob_epc(data: Data, points: int) -> Callable[[], Any]:
    import bob.measure

    return lambda: bob.measure.epc(
        data["dev_negative"], data["dev_positive"], data["test_negative"], data["test_positive"], points
    )


def numpy_sort(data: Data) -> Callable[[], Any]:
    return lambda: [np.sort(column) for column in data.values()]


# -- ROC ---------------------------------------------------------------------------------------------------------


def _labelled(data: Data) -> tuple[np.ndarray, np.ndarray]:
    label = np.repeat([0, 1], [data["negative"].size, data["positive"].size])
    return label, np.concatenate([data["negative"], data["positive"]])


def priori_roc(data: Data) -> Callable[[], Any]:
    import priori

    def work() -> Any:
        curve = priori.roc(priori.Scores.from_arrays(data["negative"], data["positive"]))
        return curve.fpr, curve.tpr, curve.auc

    return work


def priori_eer(data: Data) -> Callable[[], Any]:
    import priori

    return lambda: priori.a_posteriori_eer(priori.Scores.from_arrays(data["negative"], data["positive"]))


def sklearn_roc(data: Data) -> Callable[[], Any]:
    from sklearn.metrics import roc_auc_score, roc_curve

    label, score = _labelled(data)
    return lambda: (roc_curve(label, score), roc_auc_score(label, score))


def score_analysis_roc(data: Data) -> Callable[[], Any]:
    from score_analysis import Scores, roc

    def work() -> Any:
        scores = Scores(pos=data["positive"], neg=data["negative"])
        return roc(scores, nb_points=100), scores.auc()

    return work


def score_analysis_eer(data: Data) -> Callable[[], Any]:
    from score_analysis import Scores

    return lambda: Scores(pos=data["positive"], neg=data["negative"]).eer()


def bob_eer(data: Data) -> Callable[[], Any]:
    import bob.measure

    return lambda: bob.measure.eer(data["negative"], data["positive"])


def pyeer_stats(data: Data) -> Callable[[], Any]:
    from pyeer.eer_info import get_eer_stats

    positive, negative = data["positive"].tolist(), data["negative"].tolist()
    return lambda: get_eer_stats(positive, negative)


# -- bootstrap ---------------------------------------------------------------------------------------------------


def priori_roc_band(data: Data, replicates: int) -> Callable[[], Any]:
    import priori

    def work() -> Any:
        scores = priori.Scores.from_arrays(data["negative"], data["positive"])
        return priori.roc(scores).band(points=101, bootstrap="sample", n_resamples=replicates)

    return work


def rocci_band(data: Data, replicates: int) -> Callable[[], Any]:
    import rocci

    label, score = _labelled(data)
    return lambda: rocci.roc_band(label, score, n_boot=replicates, random_state=0)


def score_analysis_band(data: Data, replicates: int) -> Callable[[], Any]:
    from score_analysis import BootstrapConfig, Scores, roc_with_ci

    config = BootstrapConfig(nb_samples=replicates, bootstrap_method="quantile")
    return lambda: roc_with_ci(Scores(pos=data["positive"], neg=data["negative"]), nb_points=101, config=config)


def priori_hter(data: Data, replicates: int, points: int) -> Callable[[], Any]:
    import priori

    alpha = [0.5] if points == 1 else None

    def work() -> Any:
        scores = priori.Scores.from_arrays(data["negative"], data["positive"])
        curve = priori.epc(scores, scores, alpha=alpha, points=max(points, 2))
        return curve.band(bootstrap="sample", interval="percentile", n_resamples=replicates)

    return work


def sklearn_hter(data: Data, replicates: int) -> Callable[[], Any]:
    from sklearn.metrics import balanced_accuracy_score

    label, score = _labelled(data)
    decision = (score > 1.0).astype(int)
    groups = [np.flatnonzero(label == own) for own in (0, 1)]

    def work() -> Any:
        rng = np.random.default_rng(0)
        values = []
        for _ in range(replicates):
            index = np.concatenate([group[rng.integers(group.size, size=group.size)] for group in groups])
            values.append(1 - balanced_accuracy_score(label[index], decision[index]))
        return np.quantile(values, [0.025, 0.975])

    return work


def sklearn_auc(data: Data, replicates: int) -> Callable[[], Any]:
    from sklearn.metrics import roc_auc_score

    label, score = _labelled(data)
    groups = [np.flatnonzero(label == own) for own in (0, 1)]

    def work() -> Any:
        rng = np.random.default_rng(0)
        values = []
        for _ in range(replicates):
            index = np.concatenate([group[rng.integers(group.size, size=group.size)] for group in groups])
            values.append(roc_auc_score(label[index], score[index]))
        return np.quantile(values, [0.025, 0.975])

    return work


def scipy_hter(data: Data, replicates: int) -> Callable[[], Any]:
    from scipy.stats import bootstrap

    def hter(negative: np.ndarray, positive: np.ndarray, axis: int = -1) -> Any:
        return ((negative > 1.0).mean(axis=axis) + (positive <= 1.0).mean(axis=axis)) / 2

    def work() -> Any:
        samples = (data["negative"], data["positive"])
        return bootstrap(samples, hter, n_resamples=replicates, method="percentile", batch=50, rng=0)

    return work


def priori_auc_interval(data: Data) -> Callable[[], Any]:
    import priori

    return lambda: priori.a_posteriori_auc_interval(priori.Scores.from_arrays(data["negative"], data["positive"]))


def priori_paired(data: Data, replicates: int) -> Callable[[], Any]:
    import priori

    def work() -> Any:
        sets = [priori.Scores.from_predictions(data["label"], data[name], user=data["user"]) for name in ("a", "b")]
        curves = [priori.epc(scores, scores, alpha=[0.5], name=name) for scores, name in zip(sets, "AB", strict=True)]
        return priori.compare(
            *curves, claim="deployed", bootstrap="user", interval="percentile", n_resamples=replicates
        )

    return work


def stambo_paired(data: Data, replicates: int) -> Callable[[], Any]:
    import stambo
    from stambo.metrics import Metric

    class Hter(Metric):
        def __init__(self) -> None:
            super().__init__(self.hter)

        @staticmethod
        def hter(label: np.ndarray, score: np.ndarray) -> float:
            accepted = score > 1.0
            return float((accepted[label == 0].mean() + (~accepted[label == 1]).mean()) / 2)

        def __str__(self) -> str:
            return "HTER"

    return lambda: stambo.compare_models(
        data["label"],
        data["a"],
        data["b"],
        metrics=(Hter(),),
        groups=data["user"],
        n_bootstrap=replicates,
        seed=0,
        silent=True,
    )


def arch_mcs(data: Data, replicates: int) -> Callable[[], Any]:
    from arch.bootstrap import MCS

    return lambda: MCS(data["losses"], 0.05, replicates, 1, bootstrap="moving block", seed=0).compute()


def arch_stepm(data: Data, replicates: int) -> Callable[[], Any]:
    from arch.bootstrap import StepM

    losses = data["losses"]
    return lambda: StepM(losses[:, [0]], losses[:, 1:], 0.05, 1, replicates, bootstrap="moving block", seed=0).compute()


DISTRIBUTIONS = {
    "priori": "priori",
    "bob": "bob.measure",
    "numpy": "numpy",
    "sklearn": "scikit-learn",
    "score": "score-analysis",
    "pyeer": "pyeer",
    "rocci": "rocci",
    "scipy": "scipy",
    "stambo": "stambo",
    "arch": "arch",
}


def main() -> None:
    task, path, repeats, parameters = sys.argv[1:5]
    warnings.simplefilter("ignore")
    with np.load(path) as file:
        data = {name: file[name] for name in file.files}
    start = time.perf_counter()
    work = globals()[task](data, **json.loads(parameters))
    work()
    first = time.perf_counter() - start
    seconds = []
    for _ in range(int(repeats)):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    try:
        made_by = version(DISTRIBUTIONS[task.partition("_")[0]])
    except Exception:  # run from a checkout that is not installed
        made_by = ""
    print(json.dumps({"first": first, "seconds": seconds, "version": made_by}))


if __name__ == "__main__":
    main()
