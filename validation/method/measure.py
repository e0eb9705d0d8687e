"""Measure the test of two systems as methods, and the band of one: record.csv, shown in docs/coverage.md.

python validation/method/measure.py           about 12 minutes on one core: the committed record
python validation/method/measure.py --quick   about 2 minutes, rough numbers, printed only
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.special import ndtr, stdtrit

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "coverage")]

from system_pairs import ALPHAS, ALTERNATIVES, NULLS, SMALL, Systems  # noqa: E402
from tallies import Row, read_record, write_record  # noqa: E402

import priori  # noqa: E402
from priori.decisions.criteria import get_criterion  # noqa: E402
from priori.uncertainty.bands import value_of  # noqa: E402
from priori.uncertainty.bootstrap.resampling import Resampling  # noqa: E402
from priori.uncertainty.bootstrap.run import replicate, system_of  # noqa: E402
from priori.uncertainty.expected_bands import around  # noqa: E402
from priori.uncertainty.method import expected_values  # noqa: E402

RECORD = HERE / "record.csv"
#: The tests, in words.
METHOD, KEPT, RAW, ORACLE = "method", "thresholds kept", "observed difference, both resampled", "oracle on the observed"
BAND = "band of one system"
EVERYWHERE = "all alphas together"


def measure(systems: Systems, repeats: int, truths: int) -> list[Row]:
    """Draw pairs of sets, make every test of the true difference, and the band of the first system."""
    criterion = get_criterion(None, "authentication")
    fractions = priori.epc(*(systems.draw(20, k, prefix="x")[0] for k in (1, 2)), alpha=ALPHAS).fractions
    expected = []
    sets = []
    for repeat in range(repeats):
        dev, test = (systems.draw(n, repeat, k, prefix="dt"[k]) for k, n in enumerate((systems.dev, systems.test)))
        curves = [priori.epc(*pair, alpha=ALPHAS) for pair in zip(dev, test, strict=True)]
        expected.append([systems.value(s, curve.threshold) for s, curve in enumerate(curves)])
        sets.append(_one(curves, repeat))
    for repeat in range(truths):
        dev = systems.draw(systems.dev, repeat, 9, prefix="d")
        chosen = [criterion.choose(scores, fractions).threshold for scores in dev]
        expected.append([systems.value(s, thresholds) for s, thresholds in enumerate(chosen)])
    truth = np.mean(expected, axis=0)
    difference = np.zeros(len(ALPHAS)) if systems.exchangeable else truth[0] - truth[1]
    if systems in ALTERNATIVES:
        difference = np.zeros(len(ALPHAS))
    return _rows(systems, sets, truth[0], difference)


def _one(curves: list[priori.EPC], seed: int) -> dict[str, np.ndarray]:
    """Return the estimates, standard errors and reaches of each test on one pair of sets."""
    a, b = curves
    plan = Resampling(None, 200, "both", rng=seed).settle(a.dev, a.test)
    estimates = expected_values(curves, plan, threads=1)
    difference, variance, degrees = estimates.contrast([1, -1])
    draws = estimates.draws(1000, seed)
    spread = draws[:, 0] - draws[:, 1]
    largest = np.quantile(np.abs(spread / spread.std(axis=0)).max(axis=1), 0.95)
    band = around(a, estimates, plan)
    plain = replace(plan, interval="percentile")

    def values(outcomes: list, first: int) -> np.ndarray:
        return value_of(a.measure, outcomes[0], a.alpha) - value_of(b.measure, outcomes[1], b.alpha)

    both, kept = (
        replicate([system_of(a), system_of(b)], each, values, threads=1).std(axis=0)
        for each in (plain, replace(plain, resample="test"))
    )
    users = a.test.n_users or len(a.test)
    reach = -stdtrit(users - 1, 0.025)
    return {
        METHOD: np.array([difference, np.sqrt(variance), -stdtrit(degrees, 0.025)]),
        KEPT: np.array([a.value - b.value, kept, np.full(len(ALPHAS), reach)]),
        RAW: np.array([a.value - b.value, both, np.full(len(ALPHAS), reach)]),
        EVERYWHERE: np.array([difference, np.sqrt(variance), -stdtrit(degrees, ndtr(-largest))]),
        BAND: np.array([band.lower, band.upper]),
    }


def _rows(systems: Systems, sets: list[dict[str, np.ndarray]], truth: np.ndarray, difference: np.ndarray) -> list[Row]:
    rows = []
    part = "power" if systems in ALTERNATIVES else "size"

    def add(part: str, method: str, promise: str, nominal: float, shares: np.ndarray, width: float) -> None:
        share = float(np.mean(shares))
        error = float(np.sqrt(share * (1 - share) / shares.size))
        rows.append(Row(part, systems.title, method, promise, nominal, share, error, width, shares.size))

    observed = np.array([one[RAW][0] for one in sets])
    for method in (METHOD, KEPT, RAW, ORACLE, EVERYWHERE):
        if method == ORACLE:
            deviation, half = observed - difference, 1.96 * observed.std(axis=0, ddof=1) * np.ones_like(observed)
        else:
            each = np.array([one[method] for one in sets])
            deviation, half = each[:, 0] - difference, each[:, 1] * each[:, 2]
        rejected = np.abs(deviation) > half
        if method == EVERYWHERE:
            add(part, METHOD, EVERYWHERE, 0.05, rejected.any(axis=1), 2 * float(half.mean()))
            continue
        for k, alpha in enumerate(ALPHAS):
            add(part, method, f"alpha {alpha}", 0.05, rejected[:, k], 2 * float(half[:, k].mean()))
    bands = np.array([one[BAND] for one in sets])
    inside = (bands[:, 0] <= truth) & (truth <= bands[:, 1])
    for k, alpha in enumerate(ALPHAS):
        width = float((bands[:, 1] - bands[:, 0])[:, k].mean())
        add("band", BAND, f"alpha {alpha}", 0.95, inside[:, k], width)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few sets; the record stays as it is")
    parser.add_argument("--repeats", type=int, default=250, help="sets of each population")
    parser.add_argument("--only", help="measure populations whose title has this, and keep the others' rows")
    given = parser.parse_args()
    repeats, truths = (20, 100) if given.quick else (given.repeats, 4 * given.repeats)
    chosen = [one for one in (*NULLS, *ALTERNATIVES, *SMALL) if not given.only or given.only in one.title]
    rows = []
    for systems in chosen:
        rows += measure(systems, repeats, 0 if systems.exchangeable and systems not in SMALL else truths)
        shares = [row.measured for row in rows if row.population == systems.title and row.method == METHOD]
        print(f"{systems.title}: {' '.join(f'{100 * share:.1f}' for share in shares)} %", flush=True)
        if not given.quick:
            _write(rows)


def _write(rows: list[Row]) -> None:
    """Write the record: these rows, and those of populations that were not measured now."""
    measured = {row.population for row in rows}
    kept = [row for row in read_record(RECORD) if row.population not in measured] if RECORD.exists() else []
    write_record(RECORD, [*kept, *rows])


if __name__ == "__main__":
    main()
