"""The numbers of all leaderboards: one row a board and one row a system, as they are committed beside the page."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from examples.evidence.judging import Judged
from priori.uncertainty.ranking.leaderboard import Leaderboard

BOARDS = (
    "source",
    "board",
    "kind",
    "systems",
    "tau",
    "tau_lower",
    "tau_upper",
    "moving",
    "method_moving",
    "first_by_eer",
    "eer",
    "hter",
    "rank",
    "rank_lower",
    "rank_upper",
    "method_rank_lower",
    "method_rank_upper",
    "first_a_priori",
    "its_hter",
    "its_eer_rank",
    "could_be_best",
    "method_could_be_best",
)
SYSTEMS = (
    "source",
    "board",
    "system",
    "hter",
    "lower",
    "upper",
    "rank",
    "rank_lower",
    "rank_upper",
    "method_rank_lower",
    "method_rank_upper",
    "eer",
    "eer_rank",
    "gain",
    "gain_significant",
)


def board_row(judged: Judged) -> dict[str, Any]:
    """Return what a board says, in one row."""
    board, first, best = judged.deployed, judged.first_by_eer, 0
    anew = row_of(judged.method, str(board.system[first]))
    values = (
        judged.source,
        judged.question.name,
        judged.question.kind,
        board.system.size,
        *(round(number, 3) for number in (board.tau, board.tau_lower, board.tau_upper)),
        *judged.movers,
        board.system[first],
        _rate(board.post_value[first]),
        _rate(board.value[first]),
        board.rank[first],
        board.rank_lower[first],
        board.rank_upper[first],
        judged.method.rank_lower[anew],
        judged.method.rank_upper[anew],
        board.system[best],
        _rate(board.value[best]),
        board.post_rank[best],
        len(board.could_be_best),
        len(judged.method.could_be_best),
    )
    return dict(zip(BOARDS, values, strict=True))


def system_rows(judged: Judged) -> list[dict[str, Any]]:
    """Return what a board says of each system."""
    board, method, rows = judged.deployed, judged.method, []
    for row, name in enumerate(board.system.tolist()):
        anew, move = row_of(method, name), board.moves[row]
        values = (
            judged.source,
            judged.question.name,
            name,
            *map(_rate, (board.value[row], board.lower[row], board.upper[row])),
            board.rank[row],
            board.rank_lower[row],
            board.rank_upper[row],
            method.rank_lower[anew],
            method.rank_upper[anew],
            _rate(board.post_value[row]),
            board.post_rank[row],
            move["gain"],
            "yes" if move["significant"] else "no",
        )
        rows.append(dict(zip(SYSTEMS, values, strict=True)))
    return rows


def row_of(board: Leaderboard, name: str) -> int:
    """Return where a system stands in a board."""
    return board.system.tolist().index(name)


def _rate(value: float) -> str:
    return f"{value:.4f}"


def write_csv(path: Path, columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
