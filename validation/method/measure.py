"""Measure the test of two systems as methods, and the band of one: record.csv, shown in docs/coverage.md.

python validation/method/measure.py           about 12 minutes on one core: the committed record
python validation/method/measure.py --quick   about 2 minutes, rough numbers, printed only
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "coverage")]

from system_pairs import ALPHAS, ALTERNATIVES, NULLS, SMALL, Systems  # noqa: E402
from tallies import Row, Tally, read_record, write_record  # noqa: E402

import priori  # noqa: E402
from priori.decisions.criteria import get_criterion  # noqa: E402
from priori.uncertainty.bootstrap.readers import replicate, system_of, value_of  # noqa: E402
from priori.uncertainty.bootstrap.resampling import Resampling  # noqa: E402

RECORD = HERE / "record.csv"
#: The tests, in words.
METHOD, KEPT, RAW, ORACLE = "method", "thresholds kept", "observed difference, both resampled", "oracle on the observed"
BAND = "band of one system"
EVERYWHERE = "all alphas together"

#: The ends of each test's interval, and what results warn of.
Ends, Said = dict[str, np.ndarray], dict[str, tuple[str, ...]]


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


def _one(curves: list[priori.EPC], seed: int) -> tuple[Ends, Said]:
    """Return the ends of each test's interval on one pair of sets, and the warnings that the results carry."""
    a, b = curves
    options = {"n_resamples": 1000, "rng": seed, "threads": 1}
    method = priori.compare(a, b, **options)
    deployed = priori.compare(a, b, claim="deployed", **options)
    band = a.band(resample="both", **options)
    plan = Resampling(None, 200, "both", interval="percentile", rng=seed).settle(a.dev, a.test, threads=1)

    def values(outcomes: list, first: int) -> np.ndarray:
        return value_of(a.measure, outcomes[0], a.alpha) - value_of(b.measure, outcomes[1], b.alpha)

    spread = replicate([system_of(a), system_of(b)], plan, values).std(axis=0)
    reach = -stdtrit((a.test.n_users or len(a.test)) - 1, 0.025) * spread
    return {
        METHOD: np.array([method.pointwise.lower, method.pointwise.upper]),
        EVERYWHERE: np.array([method.simultaneous.lower, method.simultaneous.upper]),
        KEPT: np.array([deployed.lower, deployed.upper]),
        RAW: np.array([method.difference - reach, method.difference + reach]),
        BAND: np.array([band.lower, band.upper]),
    }, {METHOD: method.warnings, BAND: band.warnings}


def _rows(systems: Systems, sets: list[tuple[Ends, Said]], truth: np.ndarray, difference: np.ndarray) -> list[Row]:
    part = "power" if systems in ALTERNATIVES else "size"
    tests, bands = Tally(part, systems.title, 0.05), Tally("band", systems.title, 0.95)

    def add(tally: Tally, method: str, promise: str, shares: np.ndarray, widths: np.ndarray) -> None:
        for share, width, (_, said) in zip(shares, widths, sets, strict=True):
            tally.add((method, promise), share, width)
            tally.say((method, promise), said.get(method, ()))

    ends = {name: np.array([one[name] for one, _ in sets]) for name in sets[0][0]}
    observed = ends[RAW].mean(axis=1)
    reach = 1.96 * observed.std(axis=0, ddof=1)
    ends[ORACLE] = np.stack([observed - reach, observed + reach], axis=1)
    for method in (METHOD, KEPT, RAW, ORACLE, EVERYWHERE):
        lower, upper = ends[method].swapaxes(0, 1)
        rejected = (lower > difference) | (difference > upper)
        if method == EVERYWHERE:
            add(tests, METHOD, EVERYWHERE, rejected.any(axis=1), upper - lower)
            continue
        for k, alpha in enumerate(ALPHAS):
            add(tests, method, f"alpha {alpha}", rejected[:, k], (upper - lower)[:, k])
    lower, upper = ends[BAND].swapaxes(0, 1)
    inside = (lower <= truth) & (truth <= upper)
    for k, alpha in enumerate(ALPHAS):
        add(bands, BAND, f"alpha {alpha}", inside[:, k], (upper - lower)[:, k])
    return [*tests.rows(), *bands.rows()]


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
