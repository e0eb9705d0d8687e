"""What action.yml runs: ``priori check`` with the words that the inputs of the action stand for."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from typing import NoReturn


def refuse(message: str) -> NoReturn:
    """End as the command does on bad input: 1 would be a verdict."""
    print(f"priori: error: {message}", file=sys.stderr)
    sys.exit(2)


def words(inputs: Mapping[str, str]) -> list[str]:
    """Return the words of ``priori check``; it says itself which of them are wrong.

    Examples
    --------
    >>> words({"dev": "d.csv", "test": "t.csv", "max": "hter=0.05"})
    ['--system', 'new', 'd.csv', 't.csv', '--max', 'hter=0.05']
    """
    given = {name: value.strip() for name, value in inputs.items() if value.strip()}
    if missing := [name for name in ("dev", "test") if name not in given]:
        refuse(f"the action needs the input {missing[0]}, a file of scores")
    found = ["--system", "new", given["dev"], given["test"]]
    for name in ("max", "min"):
        for limit in given.get(name, "").split():
            found += [f"--{name}", limit]
    baseline = [given[name] for name in ("baseline-dev", "baseline-test") if name in given]
    if len(baseline) == 1:
        refuse("give both baseline-dev and baseline-test, or neither")
    if baseline:
        found += ["--system", "baseline", *baseline, "--no-worse-than", "baseline"]
    for name in ("margin", "at", "junit"):
        found += [f"--{name}", given[name]] if name in given else []
    try:
        return [*found, *shlex.split(given.get("arguments", ""))]
    except ValueError as error:
        refuse(f"the input arguments cannot be taken apart into words ({error})")


if __name__ == "__main__":
    inputs = json.loads(os.environ["INPUTS"])
    checked = subprocess.run([sys.executable, "-m", "priori", "check", *words(inputs), "--github"], check=False)
    if outputs := os.environ.get("GITHUB_OUTPUT"):
        with open(outputs, "a", encoding="utf-8") as file:
            file.write(f"junit={inputs.get('junit', '')}\n")
    sys.exit(checked.returncode)
