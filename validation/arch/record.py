"""Record what arch gives for seeded losses: the model confidence set, and step-down tests against the middle system.

Run in an environment of its own: ``pip install arch==8.0.0 && python validation/arch/record.py``. It is given draws in
which every user comes equally often in total, so that their mean is the mean of the data: it centres by the latter,
Priori by the former.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

#: Seed, users, systems, and how much worse each system is than the one before it.
CASES = {"ten systems": (3, 60, 10, 0.12), "alike": (4, 40, 6, 0.0), "far apart": (2, 80, 5, 0.4)}
DRAWS, SIZE = 500, 0.05


def losses_and_draws(seed: int, users: int, systems: int, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the loss of each user (row) with each system, and the users of each draw (row)."""
    rng = np.random.default_rng(seed)
    losses = rng.normal(0, 1, (users, 1)) + rng.normal(step * np.arange(systems), 0.7, (users, systems))
    return losses, rng.permutation(np.tile(np.arange(users), DRAWS)).reshape(DRAWS, users)


def ask_arch(losses: np.ndarray, draws: np.ndarray) -> dict[str, Any]:
    """Return arch's p-values of being the best, and of being no better than the middle system, step by step."""
    from arch.bootstrap import MCS, SPA, StepM

    confidence = MCS(losses, SIZE, DRAWS, block_size=1, method="R", bootstrap="moving block", seed=0)
    confidence.bootstrap.update_indices = iter(draws).__next__
    confidence.compute()
    middle = losses.shape[1] // 2
    given, others = losses[:, [middle]], np.delete(losses, middle, axis=1)
    test = SPA(given, others, block_size=1, reps=DRAWS, bootstrap="moving block", studentize=False, seed=0)
    test.bootstrap.update_indices = iter(draws).__next__
    stepped, left = [0.0] * others.shape[1], np.ones(others.shape[1], dtype=bool)
    for system in np.argsort(others.mean(axis=0)):
        test.subset(left.copy())
        test.compute()
        stepped[system] = float(test.pvalues["upper"])
        left[system] = False
    steps = StepM(given, others, SIZE, 1, DRAWS, bootstrap="moving block", studentize=False, seed=0)
    steps.spa.bootstrap.update_indices = iter(draws).__next__
    steps.compute()
    return {
        "best": [float(confidence.pvalues.loc[system, "Pvalue"]) for system in range(losses.shape[1])],
        "could_be_best": sorted(map(int, confidence.included)),
        "stepped": stepped,
        "superior": sorted(map(int, steps.superior_models)),
    }


def main() -> None:
    cases = {name: {"settings": settings, **ask_arch(*losses_and_draws(*settings))} for name, settings in CASES.items()}
    record = {"program": f"arch {version('arch')}, numpy {np.__version__}", "cases": cases}
    Path(__file__).with_name("record.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
