"""``priori average``, ``priori average-epc``: one curve from many, over data sets, folds, users or readers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import click

import priori
from priori.base.errors import InputError, OneClassError, OptionError
from priori.base.texts import cell as percent
from priori.cli.commands import Asked, Group, judging, make_command, output_group, priced
from priori.cli.options import option, options
from priori.cli.output import table_text, tables_of, tell, verbose
from priori.cli.systems import READING, Reading, named_by
from priori.curves.averaging.methods import READINGS
from priori.decisions.recipe import pair_of_costs
from priori.decisions.tasks import get_task
from priori.scores.derived import pool

#: The rates at which the summary reads a vertical and a horizontal average.
SHOWN = {"vertical": (0.001, 0.01, 0.05, 0.1, 0.2, 0.5), "horizontal": (0.5, 0.8, 0.9, 0.95, 0.99)}
#: The bounds that are left out: those of the rate at which an average is read.
FIXED = {"vertical": "fpr_lower fpr_upper", "horizontal": "tpr_lower tpr_upper"}


class Averaging:
    """How data sets are found in files, weighed, and what interval their average gets."""

    def __init__(self, by: str | None, trials: Sequence[str], skip_incomplete: bool, **typed: Any) -> None:
        if len(trials) > 1:
            raise OptionError("--trials: one file that the scores of every file are joined with")
        self.by, self.trials, self.skip_incomplete = by, next(iter(trials), None), skip_incomplete
        #: The options that `priori.average` and `priori.average_epc` share.
        self.options = {
            "weights": "size" if typed.pop("weights") == "size" else None,
            "interval": typed.pop("interval"),
            "confidence_level": typed.pop("level"),
            "skip_incomplete": skip_incomplete,
        }
        self.reading = Reading.typed(**typed)

    def read(self, files: Sequence[str]) -> dict[str, priori.Scores]:
        """Read files and return their data sets by name.

        Without ``--by`` several files are a data set each, and one file is taken apart by its dataset column. With
        ``--by`` all files are taken apart, and trials of one name are one data set, whichever file they came from.
        """
        if not files:
            raise OptionError("give the files with the scores to average: priori average --by dataset FILE...")
        if self.by is None and len(files) > 1:
            return _one_each([(path, self._read(path, self.reading)) for path in files])
        column, reading = "user" if self.by == "user" else "dataset", self.reading
        if self.by not in (None, "user", "dataset"):
            reading = reading.with_columns(dataset=self.by)
        datasets: dict[str, list[priori.Scores]] = {}
        for path in files:
            with named_by("--by NAME", "dataset"):
                scores = self._read(path, reading)
            for name, part in _take_apart(scores, column, self.by).items() if scores is not None else ():
                datasets.setdefault(name, []).append(part)
        return {name: parts[0] if len(parts) == 1 else pool(parts) for name, parts in datasets.items()}

    def _read(self, path: str, reading: Reading) -> priori.Scores | None:
        try:
            return reading.read(path, trials=self.trials).load()
        except OneClassError as error:
            if not self.skip_incomplete:
                raise InputError(f"{error} (--skip-incomplete leaves such a data set out)") from None
            tell(f"left out {path}: it has one class only")
            return None


def _take_apart(scores: priori.Scores, column: Any, by: str | None) -> dict[str, priori.Scores]:
    try:
        return scores.by(column)
    except InputError:
        hint = "name the column with --by COLUMN, or give one file per data set" if by is None else "check --by"
        raise InputError(
            f"{scores.source}: no column {by or column!r} says which data set a trial is of; {hint}"
        ) from None


def _one_each(read: Sequence[tuple[str, priori.Scores | None]]) -> dict[str, priori.Scores]:
    stems = [Path(path).stem for path, _ in read]
    names = stems if len(set(stems)) == len(stems) else [path for path, _ in read]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OptionError(f"the file {twice} is given twice; each data set counts once")
    return {name: scores for name, (_, scores) in zip(names, read, strict=True) if scores is not None}


#: The data sets as other commands name systems, instead of files.
AS_SYSTEMS = option(
    "system", help="A data set's name, development scores and test scores, instead of files; repeatable."
)
#: The options about data sets and intervals; the command gets them as ``datasets``.
DATASETS = Group(
    "datasets",
    Averaging,
    (
        option(
            "by",
            help="The column that names the data set of a trial: dataset, user, or any other. Default: dataset for "
            "one file; several files are a data set each.",
        ),
        option("weights"),
        option(
            "interval",
            kind="priori.curves.averaging.datasets:IntervalKind",
            default="t",
            help="Student's t, or normal as in the paper.",
        ),
        option("level"),
        *options("skip_incomplete"),
    ),
    last=(option("trials"), *READING),
)
OUTPUT = output_group(plot="Draw the average over the single curves")


def _announce(asked: Asked, kind: str, curve: priori.AverageCurve | priori.AverageEPC) -> None:
    """Say on standard error which data sets were left out; and, where no table says it, what the average means."""
    if curve.skipped:
        tell(f"left out, one class only: {', '.join(curve.skipped)}")
    if asked.output.format in ("csv", "json"):
        tell(f"{kind}: {curve.meaning}")


# -- ROC curves ------------------------------------------------------------------------------------------------------


@make_command(
    "average",
    click.Argument(["files"], nargs=-1, metavar="FILE..."),
    AS_SYSTEMS,
    *options("method one_threshold read_along theta"),
    option("costs", help="For --method cost: what a false negative and a false positive cost. Default: 1 each."),
    option("prior", kind=float, help="For --method cost: the prior probability of a positive trial. Default: 0.5."),
    *options("positions"),
    DATASETS,
    OUTPUT,
)
def average(asked: Asked) -> None:
    """Average the ROC curves of several data sets into one.

    Which average is right depends on how the decision will be used, so answer two questions: will one threshold
    serve all data sets in use? If not, along which axis will the curve be read? A warning says when the data sets'
    scores are on different scales.

    The csv columns are fpr, tpr, lower, upper. The last two bound the averaged coordinate: the TPR for vertical, the
    FPR for horizontal, cos(theta) TPR - sin(theta) FPR for diagonal, angle and cost, and the TPR for pooled, whose
    FPR varies too (json has both). For threshold the columns are threshold, fpr, tpr, fpr_lower, fpr_upper,
    tpr_lower, tpr_upper.

    \b
    Examples:
      priori average --own-thresholds --read-along fpr --by dataset scores.csv
      priori average --one-threshold site-a.csv site-b.csv site-c.csv --plot average.svg
      priori average --method vertical --by user scores.csv --format csv --skip-incomplete
      priori average --method cost --prior 0.01 --costs fn=10,fp=1 --by dataset scores.csv
    """
    datasets, chosen = asked.datasets, _choose(asked)
    options = {**asked.only("prior"), "method": chosen, **datasets.options}
    options["theta"] = None if asked.theta is None else math.radians(asked.theta)
    if asked.costs is not None:
        options["cost_fn"], options["cost_fp"] = map(float, pair_of_costs(asked.costs))
    if chosen == "pooled":
        options["weights"] = None
    positions = _positions(asked.positions)
    sets = datasets.read([*asked.files, *(test for _, _, test in asked.system)])
    curve = priori.average(sets, positions=positions, **options)
    _announce(asked, f"{curve.method.name} average of {len(curve.datasets)} data sets", curve)

    def table() -> str:
        points = priori.average(sets, positions=SHOWN.get(chosen, 13), **options)
        without = f"lower upper {FIXED.get(chosen, '')}"
        title = "Some points of the curve (--format csv has all)"
        return f"{_summary(curve)}\n{tables_of(points, title=title, without=without)}"

    names = ["fpr", "tpr", "lower", "upper"]
    if chosen == "threshold":
        names = ["threshold", "fpr", "tpr", "fpr_lower", "fpr_upper", "tpr_lower", "tpr_upper"]
    asked.output.finish(curve, table=table, csv=lambda: {name: curve.columns()[name] for name in names})


def _choose(asked: Asked) -> str:
    """Return the method named, or the one that the two questions give."""
    answered = asked.one_threshold is not None or asked.read_along is not None
    if asked.method is not None:
        if answered:
            raise OptionError("--method names the average; leave out --one-threshold, --own-thresholds, --read-along")
        return str(asked.method)
    axes = "|".join(READINGS)
    if not answered:
        raise OptionError(
            "which average? Answer two questions: will one threshold serve all data sets in use (--one-threshold "
            "or --own-thresholds)? If not, along which axis will the curve be read "
            f"(--read-along {axes})? Or name a --method"
        )
    if not asked.one_threshold and asked.read_along is None:
        raise OptionError(f"along which axis will the curve be read? Say --read-along {axes}")
    return priori.recommend(bool(asked.one_threshold), asked.read_along or "fpr").name


def _positions(text: str) -> int | str:
    if text != "exact" and not text.isdigit():
        raise OptionError(f"--positions {text!r}: write a whole number such as 1001, or exact")
    if text != "exact" and len(text) > 7:
        raise OptionError("--positions: at most 9999999, or exact")
    return text if text == "exact" else int(text)


def _summary(curve: priori.AverageCurve) -> str:
    kind = {"t": "Student's t", "normal": "normal"}[curve.interval]
    rows = []
    for name, found, show in (("AUC", curve.auc, "{:.5f}".format), ("EER", curve.eer, percent)):
        ends = ["-" if math.isnan(end) else show(end) for end in (found.lower, found.upper)]
        rows.append([f"average {name}", show(found.value), *ends])
    rows.append(["area under the average curve", f"{curve.area:.5f}", "", ""])
    if verbose():
        rows.append(["scores: shift / spread (limit 1)", f"{curve.commensurability_ratio:.3f}", "", ""])
    heading = f"{curve.method.name} average of {len(curve.datasets)} ROC curves (a posteriori)"
    note = f"Intervals: {100 * curve.confidence_level:g} % ({kind}, over data sets), for each number alone."
    if curve.method.name == "pooled":
        note += "\nPooled rates are means of the data sets' rates weighted by their sizes: data sets are what varies."
    return table_text(f"{heading}\n{fill(curve.meaning, 100)}\n", ["", "value", "from", "to"], rows, note=note)


# -- Expected Performance Curves -------------------------------------------------------------------------------------


@make_command(
    "average-epc",
    click.Argument(["files"], nargs=-1, metavar="TEST..."),
    AS_SYSTEMS,
    option("dev"),
    option(
        "one_threshold",
        default=False,
        help="One threshold for all, chosen on the pooled development scores, or each data set's own.",
    ),
    judging(),
    option("points"),
    DATASETS,
    OUTPUT,
)
def average_epc(asked: Asked) -> None:
    """Average Expected Performance Curves over data sets, at each alpha.

    Data sets are paired by name (--by COLUMN), or by the order of --dev and test files. To cross-validate one set use
    priori epc --folds.
    The csv columns are alpha, threshold (nan unless one serves all), v1, v2, value, lower, upper, best.

    \b
    Examples:
      priori average-epc --dev a-dev.csv --dev b-dev.csv a-test.csv b-test.csv
      priori average-epc --dev dev.csv --by dataset test.csv --one-threshold --plot average.svg
      priori average-epc --system site-a a-dev.csv a-test.csv --system site-b b-dev.csv b-test.csv
    """
    datasets, pairs = asked.datasets, asked.system
    dev, files = (*asked.dev, *(each for _, each, _ in pairs)), (*asked.files, *(each for _, _, each in pairs))
    if not dev:
        raise OptionError("give the development scores, --dev FILE; to cross-validate one set use priori epc --folds")
    tests, devs = datasets.read(files), datasets.read(dev)
    in_order = datasets.by is None and len(files) > 1
    if in_order and len(dev) != len(files):
        raise OptionError(f"{len(dev)} --dev files for {len(files)} test files; give as many, in the same order")
    curve = priori.average_epc(
        list(devs.values()) if in_order else devs,
        list(tests.values()) if in_order else tests,
        thresholds="common" if asked.one_threshold else "per-dataset",
        points=asked.points,
        **priced(asked.settings),
        **datasets.options,
    )
    heading = f"Average EPC of {len(curve.names)} data sets"
    _announce(asked, heading, curve)
    title = f"{heading}, thresholds by {curve.criterion.title}\n{fill(curve.meaning, 100)}\n"
    note = f"Intervals: {100 * curve.confidence_level:g} % over data sets ({curve.interval}), at each alpha."
    rates = {name: getattr(get_task(asked.settings["task"]), name).name for name in ("v1", "v2")}
    asked.output.finish(curve, table=lambda: tables_of(curve, title=title, whole=False, note=note, **rates))
