"""Measure what every interval covers and how often every test rejects a true null: the record, docs/coverage.md.

Run it where priori is installed:

    python validation/coverage/measure.py           about 17 minutes on one core: the committed record
    python validation/coverage/measure.py --quick   about 2 minutes, rough numbers
    python validation/coverage/measure.py --full    an hour, standard errors of a third

Neither --quick nor --full touches the committed files unless --write is given.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import amounts
import attacks
import folds
import people
import plans
import rates
import ratios
import sizes
from bands import measure_bands
from hard import HARD, measure_hard, measure_limits
from page import draw, full_record, page, unlike_rows
from populations import GRID
from tallies import Row, read_record, write_record

import curves
import paper

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
RECORD, PAGE, FIGURE = HERE / "record.csv", DOCS / "coverage.md", DOCS / "images" / "coverage.svg"
#: The record of the test of two systems as methods, which validation/method/measure.py writes.
METHODS = HERE.parent / "method" / "record.csv"
#: That of leaderboards, which validation/leaderboards/measure.py writes.
BOARDS = HERE.parent / "leaderboards" / "record.csv"


@dataclass(frozen=True)
class Size:
    """How often everything is repeated: bands, those of both sets, rates, crossed rates, tests, pools of systems."""

    bands: int
    anew: int
    rates: int
    crossed: int
    tests: int
    pools: int
    replicates: int = 399


SIZES = {
    "quick": Size(bands=40, anew=20, rates=200, crossed=100, tests=40, pools=1, replicates=199),
    "standard": Size(bands=400, anew=100, rates=2000, crossed=1000, tests=250, pools=6),
    "full": Size(bands=2000, anew=800, rates=10_000, crossed=4000, tests=2000, pools=30),
}
Task = Callable[[], list[Row]]


def tasks(size: Size) -> dict[str, list[Task]]:
    """Return the work in independent parts, by the name that --only knows."""
    bands = [partial(measure_bands, one, size.bands, size.anew, size.replicates) for one in GRID]
    experiment = [partial(paper.measure_paper, *case, size.pools, 6 if size.pools == 1 else 24) for case in paper.CASES]
    return {
        "bands": bands,
        "hard": [partial(measure_hard, number, size.bands, size.replicates) for number in range(len(HARD))],
        "curves": [
            partial(curves.roc_bands, size.tests // 2, 399),
            partial(curves.areas, size.tests // 2, 399),
            partial(curves.low_rates, size.tests // 2, 399),
        ],
        "crossed": [partial(rates.crossed_rates, size.crossed, 199)],
        "paper": experiment,
        "tests": [partial(sizes.measure_sizes, *one, size.tests, 399) for one in sizes.PAIRS],
        "rates": [
            partial(rates.averages, size.rates // 3),
            partial(rates.single_rates, size.rates),
            partial(rates.areas, size.rates // 4),
            rates.binomial_rates,
        ],
        "groups": [partial(people.measure_groups, size.bands // 2)],
        "amounts": [partial(amounts.measure_amounts, each, size.bands // 2) for each in amounts.POPULATIONS],
        "people": [partial(people.measure_own, size.bands // 2), partial(people.measure_alike, size.bands // 2)],
        "limits": [partial(rates.limits, size.rates // 4)],
        "hard-limits": [partial(measure_limits, size.rates // 4)],
        "attacks": [
            partial(attacks.surfaces, size.bands // 2, size.replicates),
            partial(attacks.largest, size.rates // 10),
        ],
        "folds": [partial(folds.measure_folds, each, size.bands // 2, size.replicates) for each in folds.POPULATIONS],
        "ratios": [
            *(partial(ratios.measure_ratios, each, size.tests) for each in ratios.POPULATIONS),
            *(partial(ratios.measure_comparisons, each, 2 * size.tests) for each in ratios.PAIRS),
        ],
        "plans": [
            partial(plans.rates, size.rates),
            partial(plans.widths, size.tests // 2, size.replicates),
            partial(plans.powers, size.tests // 3, size.replicates),
        ],
    }


def run(work: list[Task], jobs: int) -> list[Row]:
    """Do the work, saying on standard error how much is left; rows come in the order of the work."""
    start, done = time.monotonic(), 0
    found: list[list[Row]] = [[] for _ in work]
    with ProcessPoolExecutor(jobs) as pool:
        waiting: dict[Future[list[Row]], int] = {pool.submit(task): place for place, task in enumerate(work)}
        for future in as_completed(waiting):
            found[waiting[future]] = future.result()
            done += 1
            spent = time.monotonic() - start
            print(f"\r{done} of {len(work)} parts, {spent:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return [row for rows in found for row in rows]


def write(rows: list[Row]) -> None:
    """Write the record, as data and as tables, and the page with its figure."""
    write_record(RECORD, rows)
    records = {path.parent.name: read_record(path) for path in (RECORD, METHODS, BOARDS)}
    unlike = unlike_rows(HERE / "unlike.csv")
    PAGE.write_text(page(*records.values(), unlike), encoding="utf-8")
    (HERE / "RECORD.md").write_text(full_record({**records, "unlike": unlike}), encoding="utf-8")
    draw(rows, FIGURE)
    print(f"wrote {RECORD.name}, RECORD.md, {PAGE.name} and {FIGURE.name}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", dest="size", action="store_const", const="quick", default="standard")
    parser.add_argument("--full", dest="size", action="store_const", const="full")
    parser.add_argument("--jobs", type=int, default=1, help="processes to use; the numbers do not depend on it")
    parser.add_argument("--write", action="store_true", help="write the record and the page at any size")
    parser.add_argument("--only", action="append", help="measure this part and keep the rest of the record")
    parser.add_argument("--page-only", action="store_true", help="write the page from the record there is")
    given = parser.parse_args()
    work = tasks(SIZES[given.size])
    wanted = [] if given.page_only else given.only or list(work)
    if not set(wanted) <= set(work):
        parser.error(f"--only takes {', '.join(work)}")
    rows = run([task for name in wanted for task in work[name]], given.jobs) if wanted else []
    if given.page_only or given.only:
        kept = [row for row in read_record(RECORD) if row.part not in {row.part for row in rows}]
        rows = kept + rows
    if given.size == "standard" or given.write or given.page_only:
        write(rows)
    else:
        print(page(rows))


if __name__ == "__main__":
    main()
