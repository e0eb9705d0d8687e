"""The command line in this process, for tests that ask what a command answers and not how its process behaves."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import subprocess
import sys
from pathlib import Path
from unittest import mock

from priori.cli import main


def run(
    line: str = "", *more: object, cwd: Path | str = ".", stdin: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; return its exit code, what it printed and what it said, as ``subprocess.run`` does.

    A line is what one types after ``priori``; further words are taken as they are.
    """
    arguments = [*shlex.split(line), *map(str, more)]
    out, err, code = io.StringIO(), io.StringIO(), 0
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "stdin", given),
        mock.patch.dict(os.environ, environment),
    ):
        try:
            main(arguments)
        except SystemExit as ending:
            code = int(ending.code or 0)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())
