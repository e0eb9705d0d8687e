"""The job's process, from the inside: takes its limits, reads the uploads, computes, writes the results.

It gets one line of JSON on standard input and answers in lines of JSON. Nothing of what it reads goes anywhere
else. When standard input ends, the server is gone, and so is the process.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from priori.app.limits import FieldErrors, megabytes
from priori.base.errors import InputError, PrioriError, TrialsFileError, about_trials_file

if TYPE_CHECKING:
    from priori.app.choices import Choices
    from priori.scores import Scores
    from priori.scores.systems import System
    from priori.studies.evaluation import Study

File = dict[str, Any]
Say = Callable[[dict[str, Any]], None]

#: How often progress is reported, in seconds.
PAUSE = 0.1

#: The longest message that is passed on: nobody reads a label of a million letters to its end.
MESSAGE = 1_000


def main() -> None:
    """Compute the one job described on standard input."""
    say = _channel()
    order = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_server, daemon=True).start()
    _take_limits(order["limits"])
    try:
        compute(order, say)
        say({"finished": True})
    except FieldErrors as error:
        say({"errors": error.errors})
    except PrioriError as error:
        say({"errors": {"form": _message(error, order)}})
    except MemoryError:
        say({"errors": {"form": _too_large(order["limits"]["memory"])}})
    except Exception as error:
        # The message may contain data from the files, so only its type and place are reported.
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"({type(error).__name__} at {Path(last.filename).name}:{last.lineno})"
        say({"errors": {"form": f"the analysis failed unexpectedly {where}; please report this"}, "log": where})


def _channel() -> Say:
    """Keep standard output for our lines; anything else that prints there is discarded."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)

    def say(message: dict[str, Any]) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    return say


def _end_with_server() -> None:
    sys.stdin.buffer.read()
    if sys.platform != "win32" and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _take_limits(limits: dict[str, Any]) -> None:
    """Give up whatever a job does not need, so that no file can make it use more."""
    os.umask(0o077)
    if sys.platform == "win32":
        return
    import resource

    os.nice(5)
    seconds = int(limits["seconds"]) * (os.cpu_count() or 1) + 60
    most_allowed = {
        resource.RLIMIT_AS: limits["memory"],
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 2 * limits["unpacked"],
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in most_allowed.items():
        hard = resource.getrlimit(kind)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError):  # macOS refuses RLIMIT_AS; the clock still limits
            continue


def compute(order: dict[str, Any], say: Say) -> None:
    """Read, compute, write."""
    from priori.app.choices import Choices, command_of, example_command

    choices = Choices(**order["choices"])
    if choices.example:
        say({"stage": "Loading the example", "done": 0, "total": 0})
        from priori.examples import load
        from priori.scores.systems import System

        example = load(choices.example)
        systems = [System(name, sets.dev, sets.test) for name, sets in example.systems.items()]
        choices = replace(choices, title=choices.title or example.title)
        command = example_command(choices.example, example.systems, choices)
    else:
        systems = _read_all(order, choices, say)
        files = [(system["name"], system["dev"]["name"], system["test"]["name"]) for system in order["systems"]]
        command = command_of(files, order["trials"], choices)

    from priori.studies.evaluation import make_study

    study = make_study(systems, choices.settings(), progress=_Progress(say), command=command)
    say({"stage": "Making the page", "done": 0, "total": 0})
    _write(study, Path(order["outcome"]), order["mark"])


class _Progress:
    """Reports progress, now and then."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.stage, self.last = "", 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self.stage or now - self.last > PAUSE:
            self.stage, self.last = stage, now
            self.say({"stage": stage[:1].upper() + stage[1:], "done": done, "total": total})


def _read_all(order: dict[str, Any], choices: Choices, say: Say) -> list[System]:
    """Read every file; report the errors of all at once, each next to its field."""
    from priori.readers import pair_check
    from priori.scores.systems import SourceFile, System

    errors: dict[str, str] = {}
    systems: list[System] = []
    trials = order["trials"]
    total = 2 * len(order["systems"])
    for number, system in enumerate(order["systems"]):
        scores: dict[str, Scores] = {}
        for step, part in enumerate(("dev", "test")):
            field, file = f"{part}-{system['key']}", system[part]
            say({"stage": f"Reading {file['name'][:80]}", "done": 2 * number + step, "total": total})

            def announce(line: str, field: str = field) -> None:
                say({"note": line, "field": field})

            try:
                scores[part] = _read(file, trials.get(part), order["limits"], choices, announce)
            except TrialsFileError as error:
                errors[f"{part}-trials"] = _message(error, order)
            except PrioriError as error:
                errors[field] = _message(error, order)
            except MemoryError:
                errors[field] = f"{_short_name(file)}: {_too_large(order['limits']['memory'])}"
        if len(scores) == 2:
            try:
                pair_check(scores["dev"], scores["test"])
            except PrioriError as error:
                errors[f"test-{system['key']}"] = _message(error, order)
            files = [SourceFile(system[part]["name"], system[part]["sha256"], system[part]["size"]) for part in scores]
            systems.append(System(system["name"], scores["dev"], scores["test"], *files))
    if len(systems) == len(order["systems"]) and not choices.unpaired:  # which pairing would refuse, in other words
        errors |= {f"test-{order['systems'][number]['key']}": text for number, text in exchanged(systems).items()}
    if errors:
        raise FieldErrors(errors)
    return systems


def exchanged(systems: Sequence[System]) -> dict[int, str]:
    """Return which systems have their two sets exchanged: sizes that are those of others the other way round."""
    sizes = [[(scores.n_negatives, scores.n_positives) for scores in (one.dev, one.test)] for one in systems]
    usual = max(sizes, key=sizes.count)
    return {
        number: f"these are as many trials as the development scores of {systems[sizes.index(usual)].name} have, and "
        "the reverse: exchange the two files"
        for number, (dev, test) in enumerate(sizes)
        if dev != test and [test, dev] == usual
    }


def _read(
    file: File, trials: File | None, limits: dict[str, Any], choices: Choices, announce: Callable[[str], None]
) -> Scores:
    from priori.readers import duckdb_parser, read

    # Below the limits of the process, so that duckdb spills to disk or raises an error before they end it.
    memory, disk = f"{limits['memory'] // 3_000_000}MB", f"{limits['unpacked'] // 1_000_000}MB"
    duckdb_parser.SETTINGS.update(memory_limit=memory, max_temp_directory_size=disk, threads="2")
    refuse_bomb(Path(file["path"]), _short_name(file), limits["unpacked"])
    if trials is not None:
        with about_trials_file():
            refuse_bomb(Path(trials["path"]), _short_name(trials), limits["unpacked"])
    with ExitStack() as stack:
        joined = None if trials is None else stack.enter_context(_Named(trials["path"], _short_name(trials)))
        return read(file["path"], source=_short_name(file), trials=joined, announce=announce, **choices.reading())


def _message(error: PrioriError, order: dict[str, Any]) -> str:
    """Return a message on one line, in which files have their owner's names and not the places we keep them at."""
    from priori.app.choices import in_form_words
    from priori.words.numbers import one_line

    message = one_line(in_form_words(error))
    systems = [system[part] for system in order["systems"] for part in ("dev", "test")]
    for file in [*systems, *order["trials"].values()]:
        message = message.replace(file["path"], _short_name(file))
    message = message.replace(order["outcome"], "").replace(str(Path(order["outcome"]).parent), "")
    return message if len(message) <= MESSAGE else message[: MESSAGE - 1] + "…"


def _short_name(file: File) -> str:
    """Return a file's name short enough for a message; its end is kept, since it shows the format."""
    name = str(file["name"])
    return name if len(name) <= 120 else f"{name[:80]}…{name[-30:]}"


class _Named(io.FileIO):
    """An open file that carries its owner's name for it."""

    def __init__(self, path: str, name: str) -> None:
        super().__init__(path)
        self.name = name


def refuse_bomb(path: Path, name: str, most: int) -> None:
    """Refuse a gzip file that is much larger than it looks, before it is read."""
    import gzip
    import zlib

    with path.open("rb") as file:
        if file.read(2) != b"\x1f\x8b":
            return
    size = 0
    try:
        with gzip.open(path) as unpacked:
            while piece := unpacked.read(1 << 20):
                size += len(piece)
                if size > most:
                    raise InputError(f"{name}: more than {megabytes(most)} once decompressed, which is the limit")
    except (EOFError, OSError, zlib.error):
        return  # damaged: the reader reports that, and where


def _too_large(memory: int) -> str:
    return f"too large for the {megabytes(memory)} of memory an analysis may use; use fewer trials or resamples"


def _write(study: Study, outcome: Path, mark: str) -> None:
    from priori.app.pages import render_result
    from priori.base.texts import json_text
    from priori.report.page import environment, page_context
    from priori.report.tables import render_csv, study_dict

    context = page_context(study)
    contents = {
        "report.html": environment().get_template("report.html").render(**context),
        "report.json": json_text(study_dict(study)) + "\n",
        "report.csv": render_csv(study),
        "page.html": render_result(context, mark),
    }
    for name, text in contents.items():
        (outcome / name).write_text(text, encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
