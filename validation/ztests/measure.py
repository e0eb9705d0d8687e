"""Measure the z-tests, the rate intervals, DeLong and the plans (coverage, size, width): sizes.csv and tables.csv.

Run it where priori is installed: python validation/ztests/measure.py (about a minute).
"""

import csv
import json
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import binom, norm

import priori
from priori.scores.pairing import Disagreements
from priori.uncertainty.comparing.ztests import Rates, Setting, ZSystem, differences, significant

HERE = Path(__file__).parent
RUNS = 100_000
SETTING = Setting.of("hter", None, 0.95, "two-sided")

# Rows of sizes.csv: what was asked, of which population, the share promised, and the share measured.
Row = tuple[str, str, float, float]


def write(name: str, header: list[str], rows: list[tuple]) -> None:
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([f"{cell:.4f}" if isinstance(cell, float) else cell for cell in row] for row in rows)


# -- the thesis's tables ---------------------------------------------------------------------------------------


def corners(model: dict) -> list[tuple[float, float, int, int]]:
    """The published rates, and the corners of the box in which their rounding leaves them."""
    half = model["half_digit"]
    return [
        (model["far"] + i * half, model["frr"] + j * half, model["negatives"], model["positives"])
        for i, j in product((0, -1, 1), repeat=2)
    ]


def tables() -> list[tuple]:
    published = json.loads((HERE / "published.json").read_text(encoding="utf-8"))
    models, rows = published["models"], []
    for row in published["widths_percent"]:
        level = row["level"]
        found = [priori.ztest(*at, confidence_level=level).a.intervals for at in corners(models[row["model"]])]
        for method in ("hter", "naive", "class"):
            ours = [100 * float(intervals[method].width) for intervals in found]
            rows.append(
                (row["table"], f"width % at {level:.0%}", method, str(row[method]), ours[0], min(ours), max(ours))
            )
    for row in published["differences"]:
        found = [
            priori.ztest(*one, far_b=other[0], frr_b=other[1]).comparison
            for one in corners(models[row["a"]])
            for other in corners(models[row["b"]])
        ]
        for method, printed in row["confidence_percent"].items():
            ours = [100 * float(tests[method].confidence) for tests in found]
            rows.append((row["table"], "confidence %", method, str(printed), ours[0], min(ours), max(ours)))
        for method, printed in row["sd"].items():
            ours = [float(tests[method].sd) for tests in found]
            rows.append(
                (row["table"], "sd", method, str(printed), *(f"{x:.6f}" for x in (ours[0], min(ours), max(ours))))
            )
    return rows


# -- the z-tests -----------------------------------------------------------------------------------------------


def paired(rng, sizes, rates_a, rates_b, shared):
    """Counts of two systems on the same trials; ``shared`` of the errors that both could make are common."""
    counts = []
    for trials, p, q in zip(sizes, rates_a, rates_b, strict=True):
        both = p * q + shared * (min(p, q) - p * q)
        counts.append(rng.multinomial(trials, [p - both, q - both, both, 1 - p - q + both], RUNS).T)
    (fa_a, fa_b, fa_2, _), (fr_a, fr_b, fr_2, _) = counts
    full = [np.full(RUNS, size) for size in sizes]
    a, b = (Rates((fa + fa_2) / sizes[0], (fr + fr_2) / sizes[1], *full) for fa, fr in ((fa_a, fr_a), (fa_b, fr_b)))
    return a, b, Disagreements(fa_b, fa_a, fr_b, fr_a)


def ztest_sizes(rng) -> list[Row]:
    populations = [
        ("20000 + 2000 trials, FAR 5 %, FRR 8 %, nothing shared", (20_000, 2000), (0.05, 0.08), (0.05, 0.08), 0.0),
        ("the same, half of the errors shared", (20_000, 2000), (0.05, 0.08), (0.05, 0.08), 0.5),
        ("the same, nine tenths shared", (20_000, 2000), (0.05, 0.08), (0.05, 0.08), 0.9),
        (
            "equal HTER, FAR 3 % against 7 %, FRR 10 % against 6 %, half shared",
            (20_000, 2000),
            (0.03, 0.10),
            (0.07, 0.06),
            0.5,
        ),
        ("few errors: 2000 + 200 trials, FAR 1 %, FRR 2 %, half shared", (2000, 200), (0.01, 0.02), (0.01, 0.02), 0.5),
    ]
    rows: list[Row] = []
    for title, sizes, rates_a, rates_b, shared in populations:
        a, b, found = paired(rng, sizes, rates_a, rates_b, shared)
        tests = differences(a, b, SETTING, found)
        for name, test in tests.items():
            rows.append((f"size, {name}", title, 0.05, float(np.mean(test.p_value < 0.05))))
        rows.append(("size, verdict", title, 0.05, float(np.mean(significant(tests, 0.95)))))
        doubled = 2 * norm.sf(2 * np.abs(tests["dependent"].statistic))
        rows.append(("size, a known mistake: difference doubled", title, 0.05, float(np.mean(doubled < 0.05))))
    sizes = (20_000, 2000)
    full = [np.full(RUNS, size) for size in sizes]
    a, b = (
        Rates(*(rng.binomial(n, p, RUNS) / n for n, p in zip(sizes, (0.05, 0.08), strict=True)), *full) for _ in "ab"
    )
    for name, test in differences(a, b, SETTING, None).items():
        title = "independent sets of 20000 + 2000 trials, FAR 5 %, FRR 8 %"
        rows.append((f"size, {name}", title, 0.05, float(np.mean(test.p_value < 0.05))))
    return rows


def user_sizes(rng) -> list[Row]:
    """What user effects do to the z-tests: 100 users, 20 negatives and 10 positives each."""
    rows: list[Row] = []
    users, per_user, runs = 100, (20, 10), 2000
    label = np.tile(np.repeat([0, 1], per_user), users)
    user = np.repeat(np.arange(users), sum(per_user))
    for effect in (0.0, 0.3, 0.6):
        title = f"100 users of 20 + 10 trials, user effect {effect:g} of the trial's deviation"
        covered, rejected = 0, {"dependent": 0, "independent": 0}
        truth = float(norm.sf(1.25 / np.hypot(1, effect)))
        for _ in range(runs):
            both = []
            for _ in "ab":
                score = rng.normal(2.5 * label) + rng.normal(0, effect, users)[user]
                both.append(priori.Scores.from_predictions(label, score))
            found = priori.ztest_scores(both[0], 1.25, both[1], 1.25)
            covered += found.a.hter.lower <= truth <= found.a.hter.upper
            for name in rejected:
                rejected[name] += found.comparison[name].p_value < 0.05
        rows.append(("coverage, HTER interval", title, 0.95, covered / runs))
        rows += [(f"size, {name}", title, 0.05, count / runs) for name, count in rejected.items()]
    return rows


def interval_coverage(rng) -> list[Row]:
    rows: list[Row] = []
    populations = [
        ("20000 + 1000 trials, FAR 3 %, FRR 6 %", (20_000, 1000), (0.03, 0.06)),
        ("1000 + 1000 trials, FAR 3 %, FRR 6 %", (1000, 1000), (0.03, 0.06)),
        ("112000 + 400 trials, FAR 1.15 %, FRR 2.5 %", (112_000, 400), (0.0115, 0.025)),
    ]
    for title, sizes, rates in populations:
        full = [np.full(RUNS, size) for size in sizes]
        drawn = Rates(*(rng.binomial(n, p, RUNS) / n for n, p in zip(sizes, rates, strict=True)), *full)
        system = ZSystem.of("A", drawn, SETTING)
        for name, one in (("HTER", system.hter), ("NAIVE", system.intervals["naive"])):
            inside = (one.lower <= sum(rates) / 2) & (sum(rates) / 2 <= one.upper)
            rows.append((f"coverage, {name} interval", title, 0.95, float(inside.mean())))
    for rate, trials in product((0.005, 0.02, 0.1), (400, 4000)):
        errors = np.arange(trials + 1)
        weight = binom.pmf(errors, trials, rate)
        for method in ("normal", "wilson", "exact"):
            found = priori.proportion_interval(errors, trials, method=method)
            share = float(weight[(found.lower <= rate) & (rate <= found.upper)].sum())
            rows.append((f"coverage, {method} rate interval", f"{trials} trials, rate {rate:.1%}", 0.95, share))
    return rows


# -- DeLong ----------------------------------------------------------------------------------------------------


def delong(rng) -> list[Row]:
    rows: list[Row] = []
    label, runs = np.repeat([0, 1], [120, 80]), 10_000
    for share in (0.0, 0.7):
        rejected = 0
        for _ in range(runs):
            common = rng.normal(0, 1, label.size) * np.sqrt(share)
            a, b = (
                priori.Scores.from_predictions(
                    label, 1.2 * label + common + np.sqrt(1 - share) * rng.normal(0, 1, label.size)
                )
                for _ in "ab"
            )
            rejected += priori.a_posteriori_auc_test(a, b).significant
        title = f"120 + 80 trials, AUC 0.80, noise shared {share:g}"
        rows.append(("size, DeLong paired", title, 0.05, rejected / runs))
    for shift in (1.2, 3.0):
        truth = float(norm.cdf(shift / np.sqrt(2)))
        covered = dict.fromkeys(("normal", "logit"), 0)
        for _ in range(runs):
            scores = priori.Scores.from_arrays(rng.normal(0, 1, 100), rng.normal(shift, 1, 50))
            for method in covered:
                found = priori.a_posteriori_auc_interval(scores, method=method)
                covered[method] += found.lower <= truth <= found.upper
        rows += [
            (f"coverage, DeLong {method} interval", f"100 + 50 trials, AUC {truth:.3f}", 0.95, count / runs)
            for method, count in covered.items()
        ]
    return rows


# -- plans -----------------------------------------------------------------------------------------------------


def planned(rng) -> list[Row]:
    """Promised widths and powers, and what sets of the planned size show."""
    rows: list[Row] = []
    found = priori.plan(width=0.02, far=0.05, frr=0.08, negatives_per_positive=5, assurance=None)
    value = (
        rng.binomial(found.negatives, 0.05, RUNS) / found.negatives
        + rng.binomial(found.positives, 0.08, RUNS) / found.positives
    ) / 2
    rows.append(
        ("planned width", "independent trials, FAR 5 %, FRR 8 %", 0.02, float(2 * norm.ppf(0.975) * value.std()))
    )
    found = priori.plan(difference=0.015, far=0.05, frr=0.08, far_b=0.06, frr_b=0.10, negatives_per_positive=4)
    full = [np.full(RUNS, size) for size in (found.negatives, found.positives)]
    a, b = (
        Rates(
            rng.binomial(found.negatives, p, RUNS) / found.negatives,
            rng.binomial(found.positives, q, RUNS) / found.positives,
            *full,
        )
        for p, q in ((0.05, 0.08), (0.06, 0.10))
    )
    power = np.mean(differences(a, b, SETTING, None)["independent"].p_value < 0.05)
    rows.append(("planned power", "independent sets, HTER 6.5 % against 8 %", 0.8, float(power)))
    for pilot_users in (30, 100, 1000):
        ratios = []
        for _ in range(60):
            pilot = _users(rng, pilot_users)
            users = priori.plan(width=0.04, pilot=pilot, threshold=1.25, assurance=None).users
            many = _users(rng, 50 * users)
            far = np.bincount(many.negative.user, weights=many.negative.score > 1.25) / 20
            frr = np.bincount(many.positive.user, weights=many.positive.score <= 1.25) / 8
            ratios.append(2 * norm.ppf(0.975) * ((far + frr) / 2).std() / np.sqrt(users))
        title = f"users of 20 + 8 trials, design effect from a pilot of {pilot_users} users"
        rows.append(("planned width, median of 60 pilots", title, 0.04, float(np.median(ratios))))
        rows.append(("planned width, 90 % of pilots below", title, 0.04, float(np.quantile(ratios, 0.9))))
    return rows


def _users(rng, users):
    label = np.tile(np.repeat([0, 1], (20, 8)), users)
    user = np.repeat(np.arange(users), 28)
    score = rng.normal(2.5 * label) + rng.normal(0, 0.6, users)[user]
    return priori.Scores.from_predictions(label, score, user=user)


def main() -> None:
    rng = np.random.default_rng(3_30)
    header = ["table", "what", "method", "printed", "ours", "lowest", "highest"]
    write("tables.csv", header, tables())
    rows = ztest_sizes(rng) + interval_coverage(rng) + user_sizes(rng) + delong(rng) + planned(rng)
    write("sizes.csv", ["what", "population", "promised", "measured"], rows)


if __name__ == "__main__":
    main()
