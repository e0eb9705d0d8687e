"""Record what bob.measure gives for an EPC on seeded scores.

Run in an environment of its own: ``pip install bob.measure==6.1.1 && python validation/bob/record.py``.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import bob.measure
import numpy as np


def sets(seed: int, digits: int, sizes: tuple[int, int], shift: float) -> list[np.ndarray]:
    """Return development and test negatives and positives, rounded so that ``digits`` decides how many tie."""
    rng = np.random.default_rng(seed)
    draw = [rng.normal(mean, 1, size) for mean, size in zip((0, shift) * 2, sizes * 2, strict=True)]
    return [np.round(scores, digits) for scores in draw]


CASES = {
    "continuous": (1, 9, (300, 200), 1.5),
    "unbalanced": (2, 9, (900, 40), 2.0),
    "ties": (3, 1, (300, 200), 1.5),
    "shared maximum": (4, 0, (120, 80), 0.5),
}

record = {"program": f"bob.measure {version('bob.measure')}, numpy {np.__version__}", "cases": {}}
for name, (seed, digits, sizes, shift) in CASES.items():
    arrays = sets(seed, digits, sizes, shift)
    alpha, hter, threshold = bob.measure.epc(*arrays, n_points=101, thresholds=True)
    record["cases"][name] = {
        "dev_negatives": arrays[0].tolist(),
        "dev_positives": arrays[1].tolist(),
        "test_negatives": arrays[2].tolist(),
        "test_positives": arrays[3].tolist(),
        "alpha": alpha.tolist(),
        "hter": hter.tolist(),
        "threshold": threshold.tolist(),
    }
Path(__file__).with_name("epc.json").write_text(json.dumps(record) + "\n")
