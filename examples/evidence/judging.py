"""One leaderboard of published scores, judged by both claims."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

import priori
from examples.evidence.sources import Question, Source
from priori.uncertainty.ranking.leaderboard import Leaderboard

#: A system that lacks more of the trials than this is left out; of the others, the trials that all of them have count.
LACKING = 0.1


@dataclass(frozen=True)
class Judged:
    """A question and its answers: the thresholds as they are (deployed), and the systems tuned anew (method)."""

    source: str
    question: Question
    deployed: Leaderboard
    method: Leaderboard
    left_out: tuple[str, ...]
    curves: tuple[priori.EPC, ...]

    @property
    def first_by_eer(self) -> int:
        """The row of the system that is first a posteriori."""
        return int(self.deployed.post_rank.argmin())

    @property
    def movers(self) -> tuple[int, int]:
        """How many systems gain or lose ranks by more than chance: at these thresholds, and as methods."""
        deployed, method = (sum(move["significant"] for move in each.moves) for each in (self.deployed, self.method))
        return deployed, method


def judge(data: Path, source: Source, question: Question, *, n_resamples: int = 10_000) -> Judged:
    """Rank the systems of a question at thresholds from its development rows, and by EER on its test rows."""
    systems, left_out = scores_of(data, source, question)
    curves = tuple(priori.epc(dev, test, name=name) for name, (dev, test) in systems.items())
    boards = [priori.rank(curves, claim=claim, n_resamples=n_resamples, rng=0) for claim in ("deployed", "method")]
    return Judged(source.key, question, boards[0], boards[1], left_out, curves)


def scores_of(
    data: Path, source: Source, question: Question
) -> tuple[dict[str, tuple[priori.Scores, priori.Scores]], tuple[str, ...]]:
    """Return each system's development and test scores, on the trials that all of them have."""
    base = duckdb.connect()
    base.execute(
        f"""CREATE TABLE rows AS
        SELECT system, score, label, {source.user} AS "user", {source.trial} AS trial, ({question.dev}) AS dev
        FROM read_csv(?) WHERE (({question.dev}) OR ({question.test})) AND isfinite(score)""",
        [str(data / source.file)],
    )
    sizes = base.execute("SELECT system, count(*) FROM rows GROUP BY system ORDER BY system").fetchall()
    most = max(size for _, size in sizes)
    kept = [name for name, size in sizes if size >= (1 - LACKING) * most]
    base.execute("DELETE FROM rows WHERE NOT list_contains(?, system)", [kept])
    base.execute(
        """DELETE FROM rows WHERE (dev, trial) IN
        (SELECT (dev, trial) FROM rows GROUP BY dev, trial HAVING count(DISTINCT system) < ?)""",
        [len(kept)],
    )
    scores = {}
    for name in kept:
        sets = []
        for dev in (True, False):
            query = 'SELECT score, label, "user", trial FROM rows WHERE system = ? AND dev = ? ORDER BY trial'
            sets.append(priori.Scores.from_frame(base.sql(query, params=[name, dev]), source=name))
        scores[name] = (sets[0], sets[1])
    return scores, tuple(name for name, _ in sizes if name not in kept)
