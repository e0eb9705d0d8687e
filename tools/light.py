"""Print what short commands cost: how many of our modules they import, and their processor time beside numpy's.

``make light``. Times are those of the processor, the least of several runs, beside ``import numpy, click`` in the same
minute: so a busy machine counts little.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

#: The commands looked at; DEV and TEST stand for small files of scores.
COMMANDS = (("--version",), ("--help",), ("epc", "--system", "A", "DEV", "TEST"))
#: Runs the command line, and prints the modules it imported last.
COUNTED = """
import sys
from priori.__main__ import main
try:
    main()
except SystemExit:
    pass
print(*sorted(name for name in sys.modules if name.partition(".")[0] == "priori"))
"""


def modules(words: Sequence[str], folder: Path) -> list[str]:
    """Return the modules of Priori that a command imports."""
    typed = [sys.executable, "-c", COUNTED, *_with_files(words, folder)]
    return subprocess.run(typed, capture_output=True, text=True, check=True).stdout.splitlines()[-1].split()


def _with_files(words: Sequence[str], folder: Path) -> list[str]:
    for name in ("DEV", "TEST"):
        rows = "".join(f"{number % 2},{(number * 7919 % 100) / 100 + number % 2}\n" for number in range(400))
        (folder / name).write_text(f"label,score\n{rows}")
    return [str(folder / word) if word.isupper() and len(word) > 1 else word for word in words]


def seconds(typed: Sequence[str], runs: int = 7) -> float:
    """Return the processor time of a command: the least of several runs."""
    times = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *typed], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main() -> None:
    """Print a line for each command."""
    reference = seconds(["-c", "import numpy, click"])
    with tempfile.TemporaryDirectory() as name:
        for words in COMMANDS:
            ratio = seconds(["-m", "priori", *_with_files(words, Path(name))]) / reference
            count = len(modules(words, Path(name)))
            print(f"priori {' '.join(words)}: {count} modules, {ratio:.2f} times numpy and click")


if __name__ == "__main__":
    main()
