"""Score files in the field's formats, read into `Scores`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from priori.base.errors import InputError, OptionError, about_trials_file, argument
from priori.base.types import Floats, Mask
from priori.readers.formats import FORMATS, Format, Sample, recognise
from priori.readers.input_file import PathOrFile, open_source
from priori.readers.layout import Columns, into_scores, into_stream, said_positive
from priori.readers.text import place_of
from priori.scores import NanPolicy, Scores, ScoreSet, nan_error

__all__ = ["FORMATS", "pair_check", "read"]


def read(
    path: PathOrFile,
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    pos_label: Any = None,
    attack_label: Any = None,
    nan: NanPolicy = "error",
    lower_is_better: bool = False,
    trials: PathOrFile | None = None,
    announce: Callable[[str], None] | None = None,
    source: str | None = None,
) -> Scores:
    """Read the scores of one system on one set from a file, in whichever of the field's formats it is.

    Parameters
    ----------
    path : path, "-" or binary file
        The file, plain or gzip; ``"-"`` is standard input.
    format : str, optional
        The format (csv, tsv, table, parquet, jsonl, matrix, keyed, classes, two-column, bob4, bob5, kaldi,
        voxceleb), when it should not be recognised from the name and the first lines.
    columns : mapping, optional
        For tables with a header: our names (score, label, user, probe_user, trial, dataset, group, attack, time,
        weight, amount) to the file's. Groups, types of attacks, times (to split by), weights (how often a row counts:
        whole numbers) and amounts (what an error costs: `priori.amounts`) are read only where they are named here.
    pos_label : optional
        The label of the positive class; all others are then negative. Needed when the labels are not a pair we know.
    attack_label : optional
        The label of attacks, or several; spoof or attack beside two other labels need not be said. Where the real
        identity tells the classes (bob), it is what stands there, alone or before a slash and the type.
    nan : {"error", "reject", "drop"}
        What a NaN score means: an error, a trial that is always rejected, or a trial to leave out.
    lower_is_better : bool
        The scores are distances: negate them.
    trials : path, "-" or binary file, optional
        For Kaldi and VoxCeleb scores, and for tables without labels: the file that says which trials are positive.
    announce : callable, optional
        Gets one line of text that says what was recognised and found.
    source : str, optional
        What to call the file in messages and reports, instead of its path.

    Raises
    ------
    InputError
        When the file cannot be read; one line that says where and what to do.
    OptionError
        When the options do not go together.

    Examples
    --------
    >>> import io
    >>> import priori
    >>> file = io.BytesIO(b"label score\\n0 0.1\\n0 0.4\\n1 0.3\\n1 0.8\\n")
    >>> priori.read(file, source="dev.txt", announce=print)
    dev.txt: table separated by blanks, 2 positive and 2 negative trials
    Scores(2 negatives, 2 positives)
    """
    with ExitStack() as stack:
        with about_trials_file():
            labels = None if trials is None else Sample(stack.enter_context(open_source(trials)))
        sample = Sample(stack.enter_context(open_source(path, source)), dict(columns or {}), pos_label, labels)
        table, chosen = _table(sample, format, nan)
    name = sample.source.name
    scores = into_scores(table, pos_label, nan, lower_is_better, name, attack_label)
    scores = replace(scores.told([sample.columns.get("user"), chosen.name]), format=chosen.name)
    if announce is not None:
        announce(_announcement(scores, chosen, len(table)) + said_positive(table, pos_label, attack_label))
    return scores


def read_stream(
    path: PathOrFile,
    *,
    labelled: bool = True,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    pos_label: Any = None,
    attack_label: Any = None,
    nan: NanPolicy = "error",
    lower_is_better: bool = False,
    announce: Callable[[str], None] | None = None,
) -> tuple[Mask | None, Floats]:
    """Read trials in the order of time or of the file, perhaps of one class: which are positive, and their scores.

    Arguments as in `read`. Trials that are not ``labelled`` need a score only, and None is known of their classes.
    """
    with open_source(path) as opened:
        sample = Sample(opened, dict(columns or {}), pos_label, labelled=labelled)
        table, chosen = _table(sample, format, nan)
    name = sample.source.name
    positive, score = into_stream(table, labelled, pos_label, attack_label, nan, lower_is_better, name)
    if announce is not None:
        said = f"{score.size} unlabelled"
        if positive is not None:
            said = f"{positive.sum()} positive and {(~positive).sum()} negative"
        announce(f"{name}: {chosen.title}, {said} trials")
    return positive, score


def pair_check(development: ScoreSet, test: ScoreSet, *, name: str = "") -> None:
    """Refuse a development and a test set read from files of formats with different columns.

    Tables with a header (CSV, TSV, Parquet) go together, and so do bob's four and five columns; the two files of one
    set, each of a class, are no two sets. ``name`` goes in front of the message.
    """
    if development.format == test.format == "classes":
        from priori.readers.shapes import partners

        if test.source in [partner for *_, partner in partners(development.source)]:
            raise InputError(
                f"{development.source} and {test.source} are the two classes of one set, not development and test: "
                f"give one of them, which is read with the other, and divide it ({argument('split')})"
            )
    first, second = (FORMATS[each.format] if each.format else None for each in (development, test))
    if first is not None and second is not None and first.family != second.family:
        raise InputError(
            f"{name}{': ' * bool(name)}the development file {development.source} is read as {first.title} and the "
            f"test file {test.source} as {second.title}; both must be of one format: check that they belong together"
        )


def _check_options(chosen: Format, sample: Sample) -> None:
    where = f"{sample.source.name} ({chosen.title})"
    if sample.columns and chosen.family not in ("table", "keyed"):
        raise OptionError(f"{where}: names of columns ({argument('columns')}) are for tables with a header")
    if sample.trials is not None and chosen.name not in ("kaldi", "voxceleb", "keyed"):
        raise OptionError(
            f"{where}: a trials file ({argument('trials')}) goes with Kaldi or VoxCeleb scores, or with a table that "
            "shares a column with it, both named in their first lines"
        )
    if sample.pos_label is not None and chosen.family in ("bob", "matrix"):
        raise OptionError(
            f"{where}: there is no label to call positive ({argument('pos_label')}); "
            "a trial is positive when the claimed identity is the real one"
        )


def _table(sample: Sample, format: str | None, nan: NanPolicy) -> tuple[Columns, Format]:
    """Read the columns of a file, and tell in which format it is."""
    chosen = recognise(sample, format)
    _check_options(chosen, sample)
    table, name = chosen.read(sample), sample.source.name
    if not len(table):
        raise InputError(f"{name}: no trials, only a header; nothing to read")
    if nan == "error" and table.layout is not None:
        missing = np.flatnonzero(np.isnan(table.score))
        if missing.size:
            raise nan_error(name, missing.size, place_of(sample.source, table.layout, int(missing[0])))
    return table, chosen


def _announcement(scores: Scores, chosen: Format, read: int) -> str:
    parts = [chosen.title, f"{scores.n_positives} positive and {scores.n_negatives} negative trials"]
    if scores.n_attacks:
        parts[-1] += (
            f" ({scores.n_attacks} attacks of {scores.n_attack_types} type{'s' * (scores.n_attack_types != 1)})"
        )
    if scores.has_users:
        parts.append(f"{scores.n_users} user{'s' * (scores.n_users != 1)}")
    if scores.datasets is not None:
        parts.append(f"{len(scores.datasets)} data set{'s' * (len(scores.datasets) != 1)}")
    if scores.nan_rejected:
        parts.append(f"{scores.nan_rejected} NaN scores count as rejected")
    if read > len(scores):
        parts.append(f"{read - len(scores)} NaN scores left out")
    return f"{scores.source}: {', '.join(parts)}"
