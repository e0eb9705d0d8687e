"""The tables of Priori against its peers, where they do the same work."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

from suite.measure import Bench, Measured, Table

__all__ = ["tables"]


def _classes(negatives: int, positives: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {"negative": rng.normal(0, 1, negatives), "positive": rng.normal(2, 1, positives)}


def curves(bench: Bench, size: str) -> Table:
    """Expected Performance Curves: bob.measure, and the time numpy needs to sort."""
    table = Table(
        "Expected Performance Curve",
        "Four unsorted arrays (development and test, negative and positive) to the curve. The floor is the time numpy "
        "needs to sort them. bob.measure compiles for some seconds in every process; that is not counted here.",
    )
    for number in (10**4,) if size == "quick" else (10**4, 10**5, 10**6):
        rng = np.random.default_rng(0)
        columns = {
            f"{role}_{own}": rng.normal(shift, 1, number)
            for role in ("dev", "test")
            for own, shift in (("negative", 0), ("positive", 2))
        }
        data = bench.data(f"epc-{number}", **columns)
        for points in (100, 2000):
            # The largest take bob long: fewer runs of it, unless all are asked for.
            costly = number * points > 10**8
            few = costly and size != "full"
            theirs = bench.run("bob_epc", data, 1 if few else None, points=points)
            table.rows.append(
                (
                    f"{number:,} scores a class, {points} alphas",
                    bench.run("priori_epc", data, points=points),
                    [("bob.measure", theirs), ("numpy sort (floor)", bench.run("numpy_sort", data))],
                    "bob: one run" if few else "",
                )
            )
    return table


def commands(bench: Bench, size: str) -> Table:
    """The command line, from cold start to a plot."""
    table = Table(
        "Command line",
        "From a cold start: read two files of two columns, draw the curve. `bob measure epc` gives a picture and no "
        "numbers; `priori epc` gives both.",
    )
    for number in (10**4,) if size == "quick" else (10**4, 10**5):
        paths = []
        for role, seed in (("dev", 1), ("test", 2)):
            found = _classes(number, number, seed)
            path = bench.folder / f"{role}-{number}.txt"
            score = np.concatenate([found["negative"], found["positive"]])
            label = np.repeat([-1, 1], number)
            np.savetxt(path, np.column_stack([label, score]), "%d %.9g")
            paths.append(str(path))
        ours = [sys.executable, "-m", "priori", "epc", "--system", "A", *paths, "--format", "csv", "--plot"]
        bob = bench.peer_command("bob", "bob")
        theirs = (
            Measured(failure=bob)
            if isinstance(bob, str)
            else _timed(bench, [str(bob), "measure", "epc", *paths, "--points", "101", "--output"], "bob.pdf")
        )
        table.rows.append(
            (
                f"{number:,} scores a class, 101 alphas",
                _timed(bench, ours, "ours.pdf"),
                [("bob measure epc", theirs)],
                "",
            )
        )
    return table


def _timed(bench: Bench, command: list[str], output: str) -> Measured:
    seconds = []
    for _ in range(bench.repeats + 1):
        start = time.perf_counter()
        done = subprocess.run([*command, str(bench.folder / output)], capture_output=True, text=True)
        if done.returncode:
            return Measured(failure=(done.stderr.strip().splitlines() or ["failed"])[-1][:120])
        seconds.append(time.perf_counter() - start)
    return Measured(tuple(seconds[1:]), seconds[0])


def roc(bench: Bench, size: str) -> Table:
    """ROC curves, areas and equal error rates."""
    table = Table(
        "ROC, AUC, EER", "Two unsorted arrays to the whole curve and its area; or to the equal error rate alone."
    )
    for number in {"quick": (10**4,), "ordinary": (10**5,), "full": (10**5, 10**6)}[size]:
        data = bench.data(f"roc-{number}", **_classes(number // 2, number // 2))
        peers = [
            ("scikit-learn roc_curve, roc_auc_score", bench.run("sklearn_roc", data)),
            ("score-analysis roc (100 points), auc", bench.run("score_analysis_roc", data)),
            ("pROC roc, auc", bench.run_r("pROC_roc", data)),
            ("ROCR prediction, performance", bench.run_r("ROCR_roc", data)),
        ]
        table.rows.append((f"ROC and AUC of {number:,} scores", bench.run("priori_roc", data), peers, ""))
        peers = [
            ("bob.measure eer", bench.run("bob_eer", data)),
            ("score-analysis eer", bench.run("score_analysis_eer", data)),
            ("pyeer get_eer_stats", bench.run("pyeer_stats", data)),
        ]
        table.rows.append((f"EER of {number:,} scores", bench.run("priori_eer", data), peers, "pyeer gives more"))
        delong = bench.run("priori_auc_interval", data)
        peers = [("pROC ci.auc, DeLong", bench.run_r("pROC_delong", data))]
        table.rows.append((f"AUC with DeLong's interval, {number:,} scores", delong, peers, ""))
    return table


def bootstraps(bench: Bench) -> Table:
    """Bands and tests by resampling."""
    table = Table(
        "Bootstrap",
        "The same number of replicates for each. Loops that would take minutes are run with a tenth of the replicates "
        "and multiplied.",
    )
    data = bench.data("band", **_classes(100_000, 10_000))
    table.rows.append(
        (
            "ROC band, 1,000 replicates, 110,000 scores",
            bench.run("priori_roc_band", data, replicates=1000),
            [
                ("rocci roc_band", bench.run("rocci_band", data, replicates=1000)),
                ("score-analysis roc_with_ci", bench.run("score_analysis_band", data, 1, replicates=100).scaled(10)),
                ("pROC ci.se", bench.run_r("pROC_band", data, 20, 1).scaled(50)),
            ],
            "101 false positive rates; rocci: simultaneous, all rates",
        )
    )
    data = bench.data("hter", **_classes(50_000, 50_000))
    few = bench.run("sklearn_hter", data, 1, replicates=100).scaled(10)
    table.rows.append(
        (
            "HTER at one fixed threshold, 1,000 replicates, 100,000 scores",
            bench.run("priori_hter", data, replicates=1000, points=1),
            [
                ("scipy.stats.bootstrap", bench.run("scipy_hter", data, 3, replicates=1000)),
                ("scikit-learn in a loop", few),
            ],
            "Priori sorts and chooses the threshold too",
        )
    )
    table.rows.append(
        (
            "the same at 101 thresholds",
            bench.run("priori_hter", data, replicates=1000, points=101),
            [("scikit-learn in a loop, one threshold", few)],
            "",
        )
    )
    auc = bench.run("sklearn_auc", data, 1, replicates=50).scaled(20)
    table.rows.append(
        (
            "interval of the AUC, 100,000 scores",
            bench.run("priori_auc_interval", data),
            [("scikit-learn in a loop, 1,000 replicates", auc)],
            "not the same work: Priori has DeLong's formula",
        )
    )
    rng = np.random.default_rng(3)
    label, user = rng.integers(0, 2, 10_000), rng.integers(0, 100, 10_000)
    base = 2 * label + rng.normal(0, 0.5, 100)[user] + rng.normal(size=10_000)
    columns = {"a": base + rng.normal(0, 0.5, 10_000), "b": base + rng.normal(0, 0.7, 10_000)}
    data = bench.data("paired", label=label, user=user, **columns)
    table.rows.append(
        (
            "paired test by user, 1,000 replicates, 10,000 trials, 100 users",
            bench.run("priori_paired", data, replicates=1000),
            [("stambo compare_models, groups", bench.run("stambo_paired", data, 3, replicates=1000))],
            "",
        )
    )
    return table


def tables(bench: Bench, size: str) -> list[Table]:
    """Return every table against peers."""
    return [curves(bench, size), commands(bench, size), roc(bench, size), bootstraps(bench)]
