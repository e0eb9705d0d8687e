"""Answer a million fuzzed cases in two ways each, and count what became of them: tally.csv.

Run it where priori and its test dependencies are installed: python validation/fuzz/measure.py (about a quarter of an
hour on two processors; --share 0.01 for a hundredth of the cases). It ends with an error at the first disagreement.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import fuzzing

#: How many cases of each kind there are: most are cheap.
CASES = {"numbers": 900_000, "text files": 90_000, "saved results": 8_980, "duckdb engine": 1_000, "spark engine": 20}

#: The cases that one process answers at a time, all from one seed.
BATCH = 10_000


def batch(kind: str, seed: int, count: int) -> Counter[str]:
    """Answer some cases of a kind; those of one seed are always the same."""
    rng = random.Random(f"{kind} {seed}")
    with fuzzing.scratch() as folder, fuzzing.database() as database:
        if kind == "numbers":
            return Counter(fuzzing.check_numbers(database, [fuzzing.number_text(rng) for _ in range(count)]))
        outcomes: Counter[str] = Counter()
        for case in range(seed * BATCH, seed * BATCH + count):
            if kind == "text files":
                format, data = fuzzing.text_file(rng)
                path = folder / "scores"
                path.write_bytes(data)
                outcomes[fuzzing.check_file(database, path, format)] += 1
            elif kind == "saved results":
                outcomes[fuzzing.check_saved(case)] += 1
            else:
                outcomes[fuzzing.check_engine(case, folder, kind.partition(" ")[0])] += 1
        return outcomes


def fuzz(share: float = 1.0, jobs: int = 2, kinds: tuple[str, ...] = tuple(CASES)) -> dict[tuple[str, str], int]:
    """Answer a share of all cases; return how many of each kind ended how."""
    parts = []
    for kind in kinds:
        count = max(1, round(CASES[kind] * share))
        parts += [(kind, seed, min(BATCH, count - seed * BATCH)) for seed in range(-(-count // BATCH))]
    tally: Counter[tuple[str, str]] = Counter()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for (kind, *_), outcomes in zip(parts, pool.map(batch, *zip(*parts, strict=True)), strict=True):
            tally.update({(kind, outcome): number for outcome, number in outcomes.items()})
            print(f"{sum(tally.values())} cases, all alike so far", flush=True)
    return dict(tally)


def main() -> None:
    """Write the tally."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="the share of the million cases (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "tally.csv")
    options = parser.parse_args()
    tally = fuzz(options.share, options.jobs)
    with options.output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["kind", "outcome", "cases"])
        writer.writerows((*key, number) for key, number in sorted(tally.items()))


if __name__ == "__main__":
    main()
