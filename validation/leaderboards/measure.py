"""Measure what leaderboards promise on simulated ones: record.csv, shown in docs/coverage.md.

python validation/leaderboards/measure.py           about 8 minutes on one core: the committed record
python validation/leaderboards/measure.py --quick   about 1 minute, rough numbers, printed only
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.special import ndtr

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "coverage")]

from boards import BOARDS, GRADED, LeaderboardPopulation  # noqa: E402
from tallies import Row, Tally, read_record, write_record  # noqa: E402

import priori  # noqa: E402
from priori.uncertainty.bootstrap.resampling import Resampling  # noqa: E402
from priori.uncertainty.comparing.evidence import gather_evidence  # noqa: E402
from priori.uncertainty.ranking import leaderboard  # noqa: E402
from priori.uncertainty.ranking.ranks import kendall_tau, ranks_of  # noqa: E402

RECORD = HERE / "record.csv"
REPLICATES = 999
#: Leaderboards of each population, by how many systems they have: claim "deployed", claim "method", both rankings.
REPEATS = {10: (300, 100, 80), 30: (200, 60, 40), 100: (100, 20, 16)}
FAMILYWISE, RANKS, BEST, TAU, MOVES = "familywise error", "all ranks", "the best", "Kendall's tau", "false moves"
MAX_T, COUNTED, NORMAL = "max-T", "Holm, replicates counted", "Holm, normal tails"


def two_better(board: LeaderboardPopulation, claim: str, repeats: int) -> list[Row]:
    """Measure familywise error, ranks and the best where two systems are better, and the power to see that."""
    tally, errors, power = (Tally(claim, board.title, nominal) for nominal in (0.95, 0.05, 1.0))
    first, second = np.triu_indices(board.systems, 1)
    differ = board.separations[first] != board.separations[second]
    truth = ranks_of(-board.separations)
    for repeat in range(repeats):
        curves = board.curves(claim, repeat)
        ranking = priori.compare_all(curves, claim=claim, n_resamples=REPLICATES, threads=1)
        ahead = ranking.area.expected < 0  # the first is better
        wrong = ranking.area.significant & (~differ | ~ahead)  # the better ones come first
        errors.add(("all pairs", FAMILYWISE), wrong.any(), 0.0)
        places = {place.name: place for place in ranking.places()}
        low, high = (
            np.array([getattr(places[name], bound) for name in ranking.names]) for bound in ("rank_lower", "rank_upper")
        )
        tally.add(("all pairs", RANKS), ((low <= truth) & (truth <= high)).all(), float((high - low).mean()))
        best = {place.name for place in places.values() if place.could_be_best}
        tally.add(("model confidence set", BEST), {"S0", "S1"} <= best, len(best))
        power.add((MAX_T, "power"), ranking.area.significant[differ].mean(), 0.0)
        if claim == "deployed" and repeat < repeats // 2:
            for method, p_values in _single(curves).items():
                power.add((method, "power"), (_holm(p_values) < 0.05)[differ].mean(), 0.0)
    return [row for each in (errors, tally, power) for row in each.rows()]


def _single(curves: list[priori.EPC]) -> dict[str, np.ndarray]:
    """Return the p-value of each pair on its own, from replicates counted and from their spread."""
    evidence = gather_evidence(curves, Resampling(None, REPLICATES), "deployed", threads=1)
    counted = np.maximum(evidence.single_p_values()[:, 0], 2 / (1 + REPLICATES))
    return {COUNTED: counted, NORMAL: 2 * ndtr(-np.abs(evidence.deviates()[:, 0]))}


def _holm(p_values: np.ndarray) -> np.ndarray:
    order = np.argsort(p_values)
    adjusted = np.empty_like(p_values)
    factors = p_values.size - np.arange(p_values.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return adjusted


def both_rankings(board: LeaderboardPopulation, repeats: int) -> list[Row]:
    """Measure ranks, tau and moves where systems are graded, as deployed."""
    tally, moves = Tally("both rankings", board.title), Tally("both rankings", board.title, 0.05)
    post = board.equal_error_rates
    for repeat in range(repeats):
        curves = board.curves("deployed", repeat)
        truth = board.values(np.array([curve.threshold[0] for curve in curves]))
        found = priori.rank(curves, n_resamples=REPLICATES, threads=1)
        numbers = np.array([int(name[1:]) for name in found.system])
        rank = ranks_of(truth)[numbers]
        inside = (found.rank_lower <= rank) & (rank <= found.rank_upper)
        tally.add(("all pairs", RANKS), inside.all(), float((found.rank_upper - found.rank_lower).mean()))
        tally.add(("model confidence set", BEST), f"S{truth.argmin()}" in found.could_be_best, len(found.could_be_best))
        tau = float(kendall_tau(truth, post))
        tally.add(("interval", TAU), found.tau_lower <= tau <= found.tau_upper, found.tau_upper - found.tau_lower)
        gain = (ranks_of(post) - ranks_of(truth))[numbers]
        wrong = [
            move["significant"] and np.sign(move["gain"]) != np.sign(true)
            for move, true in zip(found.moves, gain, strict=True)
        ]
        moves.add(("any", MOVES), any(wrong), 0.0)
    return tally.rows() + moves.rows()


def work(quick: bool) -> dict[str, Callable[[], list[Row]]]:
    """Return what is to be measured, by a name."""
    parts: dict[str, Callable[[], list[Row]]] = {}
    for board in (*BOARDS, *GRADED):
        deployed, method, both = (max(4, each // 10) if quick else each for each in REPEATS[board.systems])
        if board.kind != "two better":
            parts[board.title] = lambda board=board, n=both: both_rankings(board, n)
            continue
        parts[f"{board.title}, deployed"] = lambda board=board, n=deployed: two_better(board, "deployed", n)
        if board.systems < 100 or board.users == 62:  # a hundred methods take seconds each
            parts[f"{board.title}, method"] = lambda board=board, n=method: two_better(board, "method", n)
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few leaderboards; the record stays as it is")
    parser.add_argument("--only", default="", help="measure what has this in its name, and keep the other rows")
    given = parser.parse_args()
    leaderboard.DRAWS = 300  # spreads need no more
    rows: list[Row] = []
    for name, measure in work(given.quick).items():
        if given.only in name:
            rows += (found := measure())
            print(
                name, *(f"{row.promise} ({row.method}) {100 * row.measured:.1f}" for row in found), sep="; ", flush=True
            )
            if not given.quick:
                _write(rows)


def _write(rows: list[Row]) -> None:
    """Write the record: these rows, and those that were not measured now, in the order of the work."""
    measured = {(row.part, row.population) for row in rows}
    kept = [row for row in read_record(RECORD) if (row.part, row.population) not in measured] if RECORD.exists() else []
    write_record(RECORD, [*kept, *rows])


if __name__ == "__main__":
    main()
