"""One of each result, from a few hundred simulated scores that came from a pandas dataframe."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

import priori
from priori.base.options import ResamplingOptions
from priori.base.results import Result
from priori.uncertainty.bands.bands import area_bands


def scores(quality: float, seed: int, size: int = 200) -> priori.Scores:
    """Scores of twenty users in four data sets; a few are infinite."""
    rng = np.random.default_rng(seed)
    label = np.repeat([0, 1], size)
    score = rng.normal(quality * label)
    score[0], score[-1] = -np.inf, np.inf
    user, dataset = np.tile(np.arange(20), size // 10), np.tile(list("abcd"), size // 2)
    return priori.Scores.from_frame(pd.DataFrame({"score": score, "label": label, "user": user, "dataset": dataset}))


def priced(seed: int) -> priori.Scores:
    """Scores of twenty users whose trials have amounts."""
    rng, label = np.random.default_rng(seed), np.repeat([0, 1], 200)
    frame = pd.DataFrame({"score": rng.normal(2 * label), "label": label, "user": np.tile(np.arange(20), 20)})
    frame["euros"] = np.round(rng.exponential(20, 400), 2)
    return priori.Scores.from_frame(frame, columns={"amount": "euros"})


def curves(points: int = 11) -> tuple[priori.EPC, priori.EPC]:
    """Two curves at the same alphas."""
    a, b = (
        priori.epc(scores(quality, seed), scores(quality, seed + 1), points=points, name=name)
        for quality, seed, name in ((2.0, 0, "A"), (1.5, 2, "<B> & é"))
    )
    return a, b


def attacked(seed: int) -> priori.Scores:
    """Scores with impostors, attacks of two types and genuine trials."""
    rng = np.random.default_rng(seed)
    label = np.repeat(["impostor", "attack", "genuine"], [200, 60, 100])
    kind = np.where(label == "attack", np.tile(["mask", "<print> & é"], 180), "-")
    score = rng.normal(np.select([label == "impostor", label == "attack"], [0.0, 1.0], 2.0))
    frame = pd.DataFrame({"score": score, "label": label, "kind": kind})
    return priori.Scores.from_frame(frame, columns={"attack": "kind"})


@cache
def every_result() -> dict[str, Result]:
    """Results of every class, some classes more than once, by a name for messages."""
    a, b = curves()
    test, other = a.test, b.test
    under_attack = priori.epsc(attacked(0), attacked(1), omega=[0, 0.5, 1], beta=[0.3, 0.7])
    return {
        "epc": a,
        "epc exact": priori.epc(a.dev, test, exact=True, bounds=("0.1", "0.9")),
        "epc of one's own": priori.epc(
            a.dev, test, alpha=[0.5], criterion=lambda o, alpha: o.fp + alpha * o.fn, measure=lambda o: o.fp + 5 * o.fn
        ),
        "epc of folds": priori.cross_epc(test, folds=3, points=5),
        "epc by user": priori.epc_by(a.dev, test, points=3),
        "epsc": under_attack,
        "epsc band": under_attack.band(n_resamples=50),
        "epc under attack": under_attack.over_beta(0.5),
        "a-DCF": priori.adcf(attacked(0), attacked(1)),
        "pad": priori.pad(attacked(0), attacked(1)),
        "threshold": priori.threshold_interval(test, alpha=[0.3, 0.5]),
        "areas": priori.areas(a.dev, test),
        "band": a.band(n_resamples=100),
        "band joint": a.band(bootstrap="joint", n_resamples=(10, 10), resample="both"),
        "areas with intervals": area_bands(a.dev, test, ResamplingOptions(n_resamples=50)),
        "roc": priori.roc(test),
        "roc band": priori.roc(test).band(n_resamples=50, points=5),
        "det": priori.det(test),
        "average": priori.average(test, positions=21),
        "average threshold": priori.average(test, method="threshold", positions=21),
        "average of one": priori.average([test], positions=5),
        "average epc": priori.average_epc(a.dev, test, points=5),
        "comparison": priori.compare(a, b, n_resamples=100),
        "comparison at one alpha": priori.compare(a.at(0.5), b.at(0.5), n_resamples=100, unpaired=True, margin=0.3),
        "ranking": priori.compare_all([a, b, replace(b, name="C")], n_resamples=50),
        "leaderboard": priori.rank([a, b, replace(b, name="C")], n_resamples=50),
        "rate": priori.rate_interval(test, 1.0),
        "rates by group": priori.group_rates(test, 1.0, groups={user: "ab"[user % 2] for user in range(20)}),
        "rates by user": priori.user_rates(test, 1.0),
        "ztest of two": priori.ztest_scores(test, 1.0, other, 0.7),
        "ztest of rates": priori.ztest(far=0.01, frr=0.02, negatives=1000, positives=500),
        "proportion": priori.proportion_interval([3, 0], [100, 50]),
        "one proportion": priori.proportion_interval(3, 100),
        "proportion test": priori.proportion_test(3, 100, 5, 100),
        "auc": priori.a_posteriori_auc_interval(test),
        "auc test": priori.a_posteriori_auc_test(test, other),
        "auc test unpaired": priori.a_posteriori_auc_test(test, other, unpaired=True),
        "amounts": priori.amounts(priced(3), priced(4), fp="0.5", currency="EUR"),
        "amounts test": priori.compare_amounts(*(priori.amounts(priced(3), priced(seed), fp=1) for seed in (4, 4))),
        "llr costs": priori.llr_costs(a.dev, test, calibrate="isotonic", alpha=[0.1, 0.5]),
        "reliability": priori.reliability(a.dev, test, bins=4),
        "tippett": priori.tippett(a.dev, test, llr=[-1, 0, 1]),
        "ece": priori.ece(a.dev, test, log_odds=[-1, 0, 1]),
        "llr costs test": priori.compare_llr_costs(
            priori.llr_costs(a.dev, test, calibrate="logistic"), priori.llr_costs(b.dev, other, calibrate="logistic")
        ),
        "plan of a limit": priori.plan_limit("far=1e-4", expect="far=3e-5"),
        "plan": priori.plan(width=0.01, far=0.02, frr=0.03),
        "plan by users": priori.plan(difference=0.01, pilot=test, threshold=1.0),
    }


def again(result: Result, text: str | None = None) -> Result:
    """The result as it comes back from JSON; what is the caller's own is handed in, as a file does not hold it."""
    own = {name: getattr(result, name) for name in result.summary().get("custom", ())}
    return type(result).from_json(text or result.to_json(), **own)


#: Those made from scores, which came from pandas.
FROM_RATES = ("ztest of rates", "proportion", "one proportion", "proportion test", "plan", "plan of a limit")
