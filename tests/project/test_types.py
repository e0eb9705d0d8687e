"""Types as a user meets them: mypy --strict on a script that uses Priori, right and wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import priori

ROOT = Path(__file__).parents[2]

RIGHT = """
import numpy as np
import priori
from numpy.typing import NDArray
from priori.sklearn import AprioriThresholdClassifier, EPCDisplay

dev: priori.Scores = priori.Scores.from_arrays(negatives=[0.1, 0.2], positives=[0.3, 0.9])
test: priori.Scores = priori.read("test.csv", lower_is_better=True)
curve: priori.EPC = priori.epc(dev, test, task="authentication", measure="hter", alpha=[0.5])
value: NDArray[np.float64] = curve.value
band: priori.Band = curve.band(n_resamples=100)
width: float = band.expected_width
verdict: priori.Comparison = priori.compare(curve, curve, n_resamples=100)
better: list[str] = [region.better for region in verdict.regions]
saved: priori.Result = priori.EPC.from_json(curve.to_json())
any_result: priori.Result = priori.Result.from_json("result.json")
threshold: float = priori.choose_threshold(dev, criterion="eer")
average: priori.AverageCurve = priori.average([dev, test], method="vertical")
own: priori.Measure = priori.Measure.custom(lambda outcomes: outcomes.fp + 5 * outcomes.fn)
rates: priori.Outcomes = priori.count(test, [threshold])
display: EPCDisplay = EPCDisplay.from_predictions([0, 1], [0.1, 0.9])
classifier = AprioriThresholdClassifier(None, alpha=0.5)
"""

WRONG = {
    'priori.epc(dev, test, points="many")': '"str"; expected "int"',
    "priori.epc(dev)": 'Missing positional argument "test"',
    "priori.epc(dev, test, 0.5)": "Too many positional arguments",
    'priori.roc(dev, points="few")': "Literal['thin', 'all', 'hull']",
    "dev.negatve": '"Scores" has no attribute "negatve"',
    "curve.value = value": 'Property "value" defined in "EPC" is read-only',
    "text: str = curve.area": 'expression has type "float", variable has type "str"',
}


def test_a_users_script(tmp_path: Path) -> None:
    assert (Path(priori.__file__).parent / "py.typed").is_file()
    lines = RIGHT.strip().splitlines()
    (tmp_path / "script.py").write_text("\n".join([*lines, *WRONG]) + "\n")
    # As a user has it: none of our own settings; only the errors of the script itself are told.
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file=",
            "--follow-imports=silent",
            "--no-error-summary",
            f"--cache-dir={ROOT / '.mypy_cache' / 'user'}",
            "script.py",
        ],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(priori.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    errors: dict[int, str] = {}
    for line in done.stdout.splitlines():
        if ": error:" in line:
            number = int(line.split(":")[1])
            errors[number] = errors.get(number, "") + line
    expected = dict(enumerate(WRONG.values(), start=len(lines) + 1))
    assert set(errors) == set(expected), done.stdout + done.stderr
    assert [(words, errors[at]) for at, words in expected.items() if words not in errors[at]] == []
