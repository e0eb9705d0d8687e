"""What `priori.threshold_interval` holds on six populations: thresholds of new sets, and the best one: record.csv.

    python validation/thresholds/measure.py                 some 15 minutes on one core
    python validation/thresholds/measure.py --repeats 20    rough numbers

``new`` is the share of the thresholds of 400 other sets that the interval of one set holds, ``best`` how often it holds
the threshold that is best in the population.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "coverage"))
from unlike import Users, _cauchy, _exponential, _scaled

import priori
from priori.decisions.criteria import get_criterion

RECORD = Path(__file__).with_name("record.csv")
NEW_SETS = 400
POPULATIONS = (
    Users("62 normal users", 62),
    Users("62 exponential users", 62, 20, 40, _scaled(_exponential, 0.7)),
    Users("62 Cauchy users", 62, 20, 40, _scaled(_cauchy, 0.3)),
    Users("15 normal users", 15, 20, 40),
    Users("62 users, errors of 1 to 2 %", 62, separation=4.5),
    Users("62 users, 10 levels", 62, levels=9),
)
CRITERIA = (("wer", ("0.2", "0.5", "0.8")), ("eer", ("0.5",)), ("at-most-far", ("0.05",)), ("target-far", ("0.05",)))


def best(population: Users, criterion: str, alpha: float) -> float:
    """Return the threshold that is best in the population."""
    half = population.levels // 2
    grid = np.arange(-half - 1.5, half + 1.5) if population.levels else np.linspace(-6, 9, 30_001)
    far, frr = population.rates(grid)
    cost = {
        "wer": alpha * far + (1 - alpha) * frr,
        "eer": np.abs(far - frr),
        "target-far": np.abs(far - alpha),
        "at-most-far": np.where(far <= alpha, frr, 2.0),
    }[criterion]
    return float(grid[np.argmin(cost)])


def measure(population: Users, criterion: str, alphas: Sequence[str], repeats: int) -> list[list[str]]:
    """Return the rows of a criterion on a population."""
    rule, fractions = get_criterion(criterion), [Fraction(alpha) for alpha in alphas]
    rng = np.random.default_rng(5)
    later = np.array([rule.choose(population.draw(rng), fractions).threshold for _ in range(NEW_SETS)])
    truth = np.array([best(population, criterion, float(alpha)) for alpha in fractions])
    held: dict[str, list[np.ndarray]] = {"new": [], "best": []}
    warned, widths = 0, dict[str, list[np.ndarray]](new=[], best=[])
    for repeat in range(repeats):
        dev = population.draw(np.random.default_rng((9, repeat)))
        found = priori.threshold_interval(dev, criterion=criterion, alpha=fractions, rng=repeat, threads=1)
        held["new"].append(((later >= found.new_lower) & (later <= found.new_upper)).mean(axis=0))
        held["best"].append((truth >= found.best_lower) & (truth <= found.best_upper))
        widths["new"].append(found.new_upper - found.new_lower)
        widths["best"].append(found.best_upper - found.best_lower)
        warned += bool(found.warnings)
    rows = []
    for k, alpha in enumerate(alphas):
        for what in held:
            shares = np.array(held[what], dtype=float)[:, k]
            numbers = shares.mean(), shares.std(ddof=1) / np.sqrt(repeats), np.median(widths[what], axis=0)[k]
            cells = [f"{number:.4f}" for number in (0.95, *numbers, warned / repeats)]
            rows.append([population.title, criterion, alpha, what, *cells, str(repeats)])
    return rows


def main() -> None:
    """Measure everything, or what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--output", type=Path, default=RECORD)
    options = parser.parse_args()
    header = ["population", "criterion", "alpha", "interval", "nominal", "held", "standard_error", "median_width"]
    rows = [[*header, "warned", "repeats"]]
    for population in POPULATIONS:
        for criterion, alphas in CRITERIA:
            rows += measure(population, criterion, alphas, options.repeats)
            print(*rows[-1], sep=",", flush=True)
    with options.output.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
