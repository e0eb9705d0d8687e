"""Measure false alarms of a watched threshold over 10^6 trials, and how soon it finds a change: record.csv.

    python validation/watching/measure.py [STREAMS]

Users differ strongly (beta rates), return, and may drift: each one's risk moves slowly up and down around its own mean.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from priori.studies.watching import WatchedRate, log_wealth

LIMIT, TRIALS, USERS = 0.01, 1_000_000, 200


def risks(rng: np.random.Generator, trials: int, drift: float) -> np.ndarray:
    """Return the risk of each trial: its user's own, drifting by up to that share, with the limit as mean."""
    own = rng.beta(0.5, 0.5 / LIMIT - 0.5, USERS)
    user = rng.integers(0, USERS, trials)
    phase = rng.uniform(0, 2 * np.pi, USERS)
    risk = own[user] * (1 + drift * np.sin(2 * np.pi * 5 * np.arange(trials) / trials + phase[user]))
    # The claim is about the mean risk so far, at every moment: it is never above the limit where no prefix mean is.
    prefix = np.cumsum(risk) / np.arange(1, trials + 1)
    return risk * (LIMIT / prefix[1000:].max()) if drift else risk * (LIMIT / own.mean())


def outside(wrong: np.ndarray, risk: np.ndarray) -> bool:
    """Tell whether the mean risk so far ever lies outside its bounds."""
    trials = np.arange(1, wrong.size + 1)
    counts = np.cumsum(wrong), trials, (np.cumsum(risk) / trials)[:, None]
    parts = zip(*(np.array_split(column, 20) for column in counts), strict=True)
    return any((log_wealth(*part, above=above) >= np.log(40)).any() for part in parts for above in (True, False))


def measure(streams: int) -> list[tuple[str, str, float]]:
    """Return what was measured, as (population, what, value)."""
    rows = []
    for drift in (0.0, 0.5):
        rng = np.random.default_rng([7, int(10 * drift)])
        broken = changed = missed = 0
        for _ in range(streams):
            watched, risk = WatchedRate("far", LIMIT), risks(rng, TRIALS, drift)
            wrong = rng.random(TRIALS) < risk
            missed += outside(wrong, risk)
            for part in np.array_split(wrong, 20):
                watched.update(part, 0.95, 1e7)
            broken += watched.broken is not None
            changed += watched.changed is not None
        population = f"200 users who differ strongly, drift {drift:g}, at the limit"
        rows.append((population, "share of streams of 10^6 trials with a false alarm", broken / streams))
        rows.append((population, "share whose 95 % bounds ever miss the mean risk so far", missed / streams))
        rows.append((population, "share with a false change, one allowed in 10^7 trials", changed / streams))
    rng = np.random.default_rng(8)
    for times in (1.5, 2.0, 4.0):
        found = []
        for _ in range(max(streams, 100)):
            watched = WatchedRate("far", LIMIT)
            watched.update(rng.random(50_000) < np.minimum(times * risks(rng, 50_000, 0.0), 1), 0.95, 1e5)
            found.append(watched.broken or 50_000)
        rows.append((f"{times:g} times the limit", "median trials until the alarm", float(np.median(found))))
    delays = []
    for _ in range(max(streams, 100)):
        watched = WatchedRate("far", LIMIT)
        risk = risks(rng, 70_000, 0.0) * np.where(np.arange(70_000) < 50_000, 0.5, 2.0)
        watched.update(rng.random(70_000) < np.minimum(risk, 1), 0.95, 1e5)
        delays.append((watched.changed or 70_000) - 50_000)
    rows.append(
        (
            "half the limit, then double after 50,000 trials",
            "median trials until the change is found",
            float(np.median(delays)),
        )
    )
    return rows


def main() -> None:
    rows = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    with (Path(__file__).parent / "record.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["population", "what", "value"])
        writer.writerows((population, what, f"{value:.4g}") for population, what, value in rows)


if __name__ == "__main__":
    main()
