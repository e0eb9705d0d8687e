"""Record what pyeer gives for seeded scores.

Run in an environment of its own: ``pip install pyeer==0.5.6 && python validation/pyeer/record.py``.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from pyeer.eer_info import get_eer_stats

#: Seed, impostor and genuine scores, digits: few digits make ties.
CASES = {"continuous": (0, 5000, 500, 9), "small": (1, 100, 60, 9), "ties": (2, 2000, 1000, 1)}
FIELDS = ("eer", "auc", "fmr100", "fmr1000", "fmr0", "j_index")

record: dict[str, object] = {"program": f"pyeer {version('pyeer')}, numpy {np.__version__}", "cases": {}}
for name, (seed, impostors, genuines, digits) in CASES.items():
    rng = np.random.default_rng(seed)
    impostor, genuine = (rng.normal(mean, 1, size).round(digits) for mean, size in ((0, impostors), (2, genuines)))
    stats = get_eer_stats(genuine.tolist(), impostor.tolist())
    record["cases"][name] = {  # type: ignore[index]
        "settings": [seed, impostors, genuines, digits],
        **{field: float(getattr(stats, field)) for field in FIELDS},
    }
Path(__file__).with_name("record.json").write_text(json.dumps(record, indent=2) + "\n")
