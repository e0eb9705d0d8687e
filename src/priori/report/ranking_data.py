"""What the page carries to draw a ranking: where systems stand at each alpha, who beats whom, and both rankings."""

from __future__ import annotations

from typing import Any

import numpy as np

from priori.plots.leaderboard import MATRIX_NAMED, named_rows, spread
from priori.studies.evaluation import Study

#: The height of a rank in the slope chart and of a line of its text, in pixels.
RANK, LINE = 6, 15


def ranking_data(study: Study) -> dict[str, Any] | None:
    """Return what the figures of three or more systems need; None of fewer, and where nothing was tested."""
    if study.standings is None or study.ranking is None:
        return None
    possible = study.standings[2]
    return {
        "possible": ["".join("01"[int(could)] for could in column) for column in possible.T],
        "beats": beats(study) if study.many else None,
        "board": _board(study),
    }


def beats(study: Study) -> list[str]:
    """Return for each alpha a letter per pair: ``a`` or ``b`` for the one that is significantly better, else a dot."""
    assert study.ranking is not None
    tested = study.ranking.verdict
    first = (tested.expected > 0) == study.ranking.greater_is_better
    letters = np.where(tested.significant, np.where(first, "a", "b"), ".")
    return ["".join(column) for column in letters.T.tolist()]


def _board(study: Study) -> dict[str, Any] | None:
    """Return both rankings at the alpha of interest: each row a system, by its number, from best to worst."""
    board = study.board
    if board is None:
        return None
    number = {member.name: place for place, member in enumerate(study.members)}
    ranks = {"before": board.post_rank, "after": board.rank}
    named = named_rows(board, MATRIX_NAMED)
    height = max(RANK * board.system.size, LINE * len(named))
    gap = LINE * board.system.size / height
    return {
        "systems": [number[str(name)] for name in board.system],
        "against": board.settings["against"],
        "gain": [move["gain"] for move in board.moves],
        "significant": [move["significant"] for move in board.moves],
        **ranks,
        "named": named,
        "height": height,
        "at": {side: spread(values[named].astype(np.float64), gap) for side, values in ranks.items()},
        "probability": np.round(board.rank_probability, 3),
    }
