"""Options: all of them, each declared once by its name, under the heading that --help-all describes it under."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import click

from priori.base.errors import nearest
from priori.base.limits import MOST_THREADS
from priori.base.options import Claim, Interval, Resample, Weight
from priori.cli.files import WRITTEN, Drawn

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


@dataclass(frozen=True)
class Declared:
    """An option as `SECTIONS` declares it.

    It is ``written`` as --help shows it: ``--system NAME DEV TEST`` takes three words. The ``kind`` is a type, the
    choices, or the table of the names to choose from, ``module:NAME``; without one it is that of the default. With
    ``names``, such a table too, the option takes text that may begin with a name, and ``{}`` in its help stands for
    them. Tables are imported when somebody asks for them.
    """

    written: str
    help: str
    kind: Any = None
    default: Any = None
    multiple: bool = False
    required: bool = False
    shown: bool = True
    names: str = ""

    def make(self, name: str) -> click.Option:
        """Make the option, whose value a command gets by this name."""
        words = self.written.split()
        flags = [word for word in words if word.startswith("-")]
        kind, default = self.kind, self.default
        kind = type(default) if kind is None and default is not None else kind
        settings: dict[str, Any] = {"type": Beginning(self.names) if self.names else kind}
        if isinstance(kind, str) and not self.names:
            settings["type"] = Named(kind)
        elif isinstance(kind, tuple):
            settings["type"] = click.Choice(kind)
        elif kind is bool:
            settings = {"is_flag": True}
            default = False if default is None and "/" not in self.written else default
        if not self.required:  # some versions of click take None for a value, so that nothing is missing
            settings["default"] = default
        return click.Option(
            [*flags, name],
            help=self.help,
            metavar=" ".join(words[len(flags) :]) or None,
            nargs=max(len(words) - len(flags), 1),
            multiple=self.multiple,
            required=self.required,
            show_default=self.shown and self.default is not None and kind is not bool,
            **settings,
        )


def names_in(table: str) -> tuple[str, ...]:
    """Return the names that a table, or a `Literal`, lists."""
    module, _, name = table.partition(":")
    found = getattr(importlib.import_module(module), name)
    return tuple(get_args(found) or found)


class Beginning(click.types.StringParamType):
    """The type of text that begins with a name of a table, perhaps with more behind it."""

    def __init__(self, table: str) -> None:
        self.table = table

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin like this."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in names_in(self.table) if name.startswith(incomplete)]


class Named(click.Choice[str]):
    """A choice among the names of a table, and ``auto`` where one can say so; it is imported when somebody chooses."""

    def __init__(self, table: str, *names: str) -> None:
        self.table, self.names, self.case_sensitive = table, names, True

    @cached_property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names, once somebody asks for them."""
        return (*self.names, *names_in(self.table))

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return what to say of a name that is not one of them."""
        return f"{value!r}; {nearest(value, self.choices)}"


def listed(typed: str | None) -> list[str]:
    """Return the parts between commas."""
    return [part.strip() for part in (typed or "").split(",") if part.strip()]


SEED = click.IntRange(min=0)
DRAWN = "FILE.svg, .png or .pdf."

#: The options by heading; those without a heading are described by --help, the others only named there.
SECTIONS: dict[str, dict[str, Declared]] = {
    "": {
        # Systems and their scores.
        "system": Declared(
            "--system NAME DEV TEST",
            "A system's name, development scores and test scores. Repeat for more systems.",
            multiple=True,
        ),
        "scores": Declared(
            "--scores NAME FILE", "Or a name and one file, divided by --split. Repeatable.", multiple=True
        ),
        "table": Declared("--table FILE", "Or one table with all systems, divided by --split."),
        "split": Declared(
            "--split HOW",
            "How trials are divided into development and test: 50/50 at random, COLUMN=DEV:TEST by the values of a "
            "column, or COLUMN=2024-01-31 before and from then on. Trials of a user stay together, except with "
            "COLUMN=DEV:TEST.",
        ),
        "worst_by": Declared(
            "--by COLUMN",
            "Keep the limit of --criterion at-most-far or at-most-frr in every group that this column names; sex,age: "
            "in their combinations. Without ranges.",
        ),
        "by": Declared(
            "--by COLUMN",
            "Compare the groups that this column names (sex, age, site), with differentials; sex,age compares their "
            "combinations. Or, with user, show who makes the errors.",
        ),
        "dev": Declared(
            "--dev FILE",
            "Development scores; repeatable: as many as test files, in the same order, or files with the same data "
            "sets. Without it the data sets are folds.",
            multiple=True,
        ),
        "weights": Declared(
            "--weights", "Data sets count equally, or by their number of trials.", ("equal", "size"), "equal"
        ),
        "skip_incomplete": Declared("--skip-incomplete", "Leave out data sets that have one class only.", bool),
        # What is chosen and shown.
        "criterion": Declared(
            "--criterion NAME",
            "What the threshold minimises on development scores: {}. wer is the weighted error rate alpha FAR + "
            "(1 - alpha) FRR, pr weighs precision and recall, v1 and v2 are the task's two rates. For any rate: "
            "target-far, at-most-far, at-most-far:0.95 (holds in the population with 95 % confidence), "
            "at-least-recall. bayes:logistic calibrates first. For any measure: max:f1, min:dcf. Default: the task's.",
            names="priori.decisions.criteria:CRITERIA",
        ),
        "measure": Declared(
            "--measure NAME",
            "What is shown on the test scores: {}; with parameters, wer:0.3, f2, "
            "dcf:cost_fn=10,cost_fp=1,prior=0.01, precision:prior=0.01. Default: the task's.",
            names="priori.decisions.measures:MEASURES",
        ),
        "alpha": Declared(
            "--alpha LIST",
            "Trade-offs between the two errors: 0.5, a list 0.1,0.5,99/109, or costs:COST_FN,COST_FP,PRIOR. For "
            "at-most-far and similar criteria: the limits. Default: 0.5, or that of --costs.",
        ),
        "costs": Declared(
            "--costs fn=A,fp=B",
            "Costs of a false negative and a false positive; needs --prior. Sets alpha, and shows the cost per "
            "decision unless --measure is given.",
        ),
        "prior": Declared(
            "--prior P",
            "The share of positives in actual use. Without --costs, show precision, F1, NPV and accuracy at that "
            "share.",
        ),
        "threshold": Declared("--threshold X", "The threshold; repeatable.", multiple=True, required=True),
        "min_users": Declared(
            "--min-users N",
            "With --by, leave out groups with fewer claimed users in the trials of a rate, and name them.",
            kind=int,
            default=1,
        ),
        "given": Declared(
            "--from",
            "What the scores are: log-likelihood ratios (llr) or probabilities. Probabilities become log-likelihood "
            "ratios by the share of positives of the development scores.",
            "priori.decisions.likelihood_ratios:Meaning",
            "llr",
        ),
        "calibrations": Declared(
            "--calibrate LIST",
            "Calibrations, fitted on the development scores: {}; logistic:0.01 for that prior.",
            default="none",
            names="priori.decisions.likelihood_ratios:CALIBRATIONS",
        ),
        "method": Declared(
            "--method", "How to average. Or answer the two questions below.", "priori.curves.averaging:METHODS"
        ),
        "one_threshold": Declared(
            "--one-threshold/--own-thresholds",
            "Will one threshold serve all data sets in use, or will each have its own?",
            bool,
        ),
        "read_along": Declared(
            "--read-along",
            "Along which axis the curve will be read, with --own-thresholds: at a fixed FPR, TPR, balance of the "
            "error rates (EER), or cost.",
            "priori.curves.averaging.methods:READINGS",
        ),
        "axes": Declared(
            "--axes",
            "What is shown: both errors (far-frr, as in the papers) or recall and precision, each with the break-even "
            "line; far-tpr, or the same with the names of medicine, specificity-sensitivity.",
            "priori.curves.roc:AXES",
            "far-tpr",
        ),
        "log": Declared("--log", "Draw errors on logarithmic axes.", bool),
        "omega": Declared(
            "--omega LIST",
            "Shares of attacks among the negatives. Default: 0, 0.1, ..., 1.",
            default="0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1",
            shown=False,
        ),
        "beta": Declared("--beta LIST", "Weights of false acceptances against false rejections.", default="0.5"),
        "three_costs": Declared(
            "--costs fn=A,fp=B,attack=C", "The costs of the three errors.", default="fn=1,fp=10,attack=20"
        ),
        "priors": Declared(
            "--priors LIST", "The share of each kind of trial.", default="positive=0.9,negative=0.05,attack=0.05"
        ),
        "unnormalised": Declared(
            "--unnormalised", "Do not divide by the cost of accepting all or rejecting all, whichever is lower.", bool
        ),
        "apcer": Declared(
            "--apcer LIST",
            "Also choose thresholds at which no type's APCER on the development scores exceeds these rates.",
            default="0.05,0.1,0.2",
        ),
        "fp_cost": Declared(
            "--fp COST", "What a false positive costs: a number, or its own amount (amount).", required=True
        ),
        "currency": Declared("--currency TEXT", "The currency of the amounts, to be shown.", default="", shown=False),
        # Tests and limits.
        "claim": Declared(
            "--claim",
            "Test systems tuned on similar development sets (method), or these thresholds (deployed).",
            get_args(Claim),
            "method",
        ),
        "margin": Declared(
            "--margin SIZE",
            "Also test two systems for non-inferiority: whether each is no worse than the other by more than SIZE, "
            "such as 0.01 for one point.",
            float,
        ),
        "against": Declared(
            "--against",
            "Figure for the a posteriori ranking, read on the test scores.",
            "priori.uncertainty.ranking.leaderboard:POSTERIORS",
            "eer",
        ),
        "maxima": Declared(
            "--max MEASURE=LIMIT", "A measure must not exceed this: hter=0.05, far=0.001. Repeatable.", multiple=True
        ),
        "minima": Declared("--min MEASURE=LIMIT", "A measure must reach this: recall=0.9. Repeatable.", multiple=True),
        "at": Declared(
            "--at",
            "What must keep the limit: the worse end of the confidence interval, or the value.",
            "priori.testing:At",
            "upper",
        ),
        "no_worse_than": Declared("--no-worse-than NAME", "Others may not be worse than NAME by more than --margin."),
        "limits": Declared("--limit RATE=VALUE", "A limit to keep: far=0.01, frr=0.1. Repeatable.", multiple=True),
        "threshold_from": Declared("--threshold-from DEV", "Or the development scores it is chosen on."),
        "state": Declared("--state FILE", "Save the state to FILE; the next call continues from it.", WRITTEN),
        "change_every": Declared(
            "--change-every N", "Mean number of trials between false reports of a change.", default=100_000
        ),
        "share": Declared(
            "--share LOW:HIGH", "Between which limits the share of positives lies, if FILE has no labels."
        ),
        "junit": Declared("--junit FILE", "Also write a JUnit XML report to FILE.", WRITTEN),
        # Rates and sizes.
        "expect": Declared("--expect RATE=VALUE", "The rate that you expect, for --limit: far=3e-5."),
        "width": Declared("--width W", "The full width of the interval.", float),
        "difference": Declared("--difference D", "Or the difference of two systems to detect.", float),
        "far": Declared("--far RATE", "False acceptance rate, as a fraction.", float),
        "frr": Declared("--frr RATE", "False rejection rate, as a fraction.", float),
        "negatives": Declared("--negatives N", "Number of negative trials.", int),
        "positives": Declared("--positives N", "Number of positive trials.", int),
        # Output.
        "format_": Declared("--format", "Output format. Default: by the ending of FILE, or table."),
        "output": Declared("-o --output FILE", "Write the numbers to FILE (atomically)."),
        "plot": Declared("--plot FILE", f"Draw the curves: {DRAWN}", Drawn()),
        "directory": Declared("--output DIR", "The directory to write to.", default="demo"),
        "host": Declared(
            "--host ADDRESS",
            "The address to listen on. Any address but the local one lets other machines connect.",
            default="127.0.0.1",
        ),
        "port": Declared("--port", "The port to listen on; 0 picks a free one.", click.IntRange(0, 65535), 8000),
        "names": Declared(
            "--name NAME", "A name this server is also reached by (example.org). Repeatable.", multiple=True
        ),
        "max_upload": Declared(
            "--max-upload MB", "Maximum total size of the files of one analysis.", click.IntRange(1, 100_000), 200
        ),
        "max_jobs": Declared(
            "--max-jobs N", "Number of analyses computed at the same time; others wait.", click.IntRange(1, 1000), 2
        ),
        "max_memory": Declared(
            "--max-memory MB", "Maximum memory of one analysis.", click.IntRange(500, 1_000_000), 4000
        ),
        "open_": Declared("--open/--no-open", "Open the page in a browser.", bool, False),
        "force": Declared("--force", "Replace files that are in DIR already.", bool),
        "bootstrap": Declared(
            "--bootstrap",
            "What is resampled; auto: people if they are known, else trials.",
            Named("priori.uncertainty.bootstrap.designs:BOOTSTRAPS", "auto"),
        ),
    },
    "Giving data": {
        "folds": Declared(
            "--folds N",
            "Or divide into N folds; each is judged with thresholds chosen on the others.",
            click.IntRange(min=2),
        ),
        "mixed_users": Declared("--mixed-users", "Allow trials of one user on both sides.", bool),
        "split_seed": Declared("--split-seed", "Seed of random splits and folds.", SEED, 0),
        "systems_in": Declared("--systems-in COLUMN", "The column of the table that names the system of each row."),
        "systems_columns": Declared("--systems-columns A,B,...", "Or the columns with the scores of one system each."),
        "where": Declared(
            "--where COLUMN=VALUE,...",
            "Keep only rows with these values; a set that lacks one of them keeps all its rows. Repeatable.",
            multiple=True,
        ),
    },
    "Curves": {
        "task": Declared(
            "--task",
            "The field: sets the two rates traded (V1, V2) and the default criterion and measure.",
            "priori.decisions.tasks:TASKS",
            "authentication",
        ),
        "preset": Declared("--preset", "The settings of an evaluation campaign.", "priori.decisions.presets:PRESETS"),
        "figure": Declared(
            "--figure",
            "What --plot draws: the errors of an APE plot, a reliability diagram, a Tippett plot, or the empirical "
            "cross-entropy.",
            ("ape", "reliability", "tippett", "ece"),
            "ape",
        ),
        "points": Declared("--points", "Number of alphas.", default=101),
        "bounds": Declared("--range A B", "The first and last alpha.", default=("0", "1"), kind=str, shown=False),
        "weight": Declared(
            "--weight",
            "What has equal weight in the test set: each trial, or each user (the mean of the users' own rates).",
            get_args(Weight),
            "trial",
        ),
        "exact": Declared("--exact", "The exact curve, one row per piece; alpha is where the piece begins.", bool),
        "theta": Declared(
            "--theta DEG", "The angle for --method angle, in degrees: 0 is vertical, 90 horizontal.", float
        ),
        "positions": Declared(
            "--positions N|exact",
            "Number of positions (or thresholds) to sample, or 'exact': every one where a curve can turn.",
            default="1001",
        ),
    },
    "Tests": {
        "alternative": Declared(
            "--alternative",
            "Alternative hypothesis: any difference, A below B, or A above B.",
            ("two-sided", "less", "greater"),
            "two-sided",
        ),
        "unpaired": Declared("--unpaired", "The systems were tested on different trials.", bool),
        "family": Declared(
            "--family", "What is tested together: every pair, or the best against the rest.", ("pairs", "best"), "pairs"
        ),
    },
    "Rates and sizes": {
        "power": Declared("--power", "The probability of detecting --difference.", default=0.8),
        "assurance": Declared(
            "--assurance P",
            "How often an interval will be no wider than --width, or a system pass --limit.",
            default=0.8,
        ),
        "far_b": Declared("--far-b RATE", "The second system's false acceptance rate.", float),
        "frr_b": Declared("--frr-b RATE", "The second system's false rejection rate.", float),
        "negatives_b": Declared(
            "--negatives-b N", "The second system's negative trials. Default: the same number.", int
        ),
        "positives_b": Declared(
            "--positives-b N", "The second system's positive trials. Default: the same number.", int
        ),
        "intraclass": Declared(
            "--intraclass RHO",
            "The correlation of the errors of one user, where there is no pilot.",
            default=0.0,
            shown=False,
        ),
        "negatives_per_positive": Declared("--negatives-per-positive R", "Default: the pilot's, or 1.", float),
        "negatives_per_user": Declared(
            "--negatives-per-user M", "Negative trials per user, averaged over all users. Default: the pilot's.", float
        ),
        "positives_per_user": Declared(
            "--positives-per-user M",
            "Positive trials per user; if each person has one trial, the share of positives.",
            float,
        ),
        "one_sided": Declared(
            "--one-sided", "--level is that of the bound alone: 0.95 is the upper end of a 90 % interval.", bool
        ),
    },
    "Resampling": {
        "no_bootstrap": Declared("--no-bootstrap", "No confidence intervals and no tests: faster.", bool),
        "threads": Declared(
            "--threads", "Threads to use; the numbers do not depend on it.", click.IntRange(1, MOST_THREADS)
        ),
        "resamples": Declared(
            "--resamples N|UxS",
            "Number of replicates; UxS draws users U times and their trials S times in each (joint); with U = 1 only "
            "trials vary.",
            default="10000",
        ),
        "resample": Declared(
            "--resample",
            "Resample the test scores only, or the development scores too, with new thresholds.",
            get_args(Resample),
            "test",
        ),
        "level": Declared("--level", "The confidence level.", default=0.95),
        "interval": Declared(
            "--interval",
            "How bounds are computed from replicates. Default: calibrated, or percentile for the joint and the "
            "user-constrained bootstrap, as published.",
            get_args(Interval),
        ),
        "simultaneous": Declared(
            "--simultaneous", "Simultaneous band: covers the whole curve with the stated confidence.", bool
        ),
        "seed": Declared("--seed", "Seed of the random numbers.", SEED, 0),
        "shared_users": Declared(
            "--shared-users/--own-users",
            "Resample the users of both sets together or independently. Default: together if they are the same.",
            bool,
        ),
    },
    "Output": {
        "json_": Declared("--json", "Short for --format json.", bool),
        "verbose": Declared("--verbose", "Print all warnings, and figures that few people need.", bool),
        "github": Declared("--github", "Also append a table to the file named by GITHUB_STEP_SUMMARY.", bool),
        "pdf": Declared("--pdf FILE", "Also write the report to FILE as PDF, its first page a summary.", WRITTEN),
        "title": Declared(
            "--title TEXT", "The heading of the page. Default: the systems' names.", default="", shown=False
        ),
        "histogram": Declared(
            "--histogram ALPHA",
            "Let --plot draw the bootstrap distribution of the difference at this alpha, with its interval and 0, "
            "instead of the band along alpha.",
            click.FloatRange(0, 1),
        ),
    },
    "Reading files": {
        "trials": Declared(
            "--trials FILE",
            "A file with the labels (Kaldi, VoxCeleb, ASVspoof 5); give it twice if DEV and TEST have their own.",
            multiple=True,
        ),
        "input_format": Declared(
            "--input-format NAME",
            "Force the file format instead of recognising it: {}.",
            names="priori.readers.formats:FORMATS",
        ),
        "column": Declared(
            "--column OURS=THEIRS",
            "The name of a column in your files: score, label, user, trial, dataset, group, attack, time, weight "
            "(how often a row counts) or amount (docs/formats.md has all); in those of one system, "
            "SYSTEM:OURS=THEIRS. user= ignores a column. Repeatable.",
            multiple=True,
        ),
        "positive": Declared(
            "--positive VALUE", "The label of the positive class, if the labels are not a known pair."
        ),
        "attack": Declared(
            "--attack VALUE", "The label of attacks, if it is not spoof or attack. Repeatable.", multiple=True
        ),
        "nan": Declared(
            "--nan",
            "What a NaN score means: an error, a trial that is always rejected, or one to leave out.",
            ("error", "reject", "drop"),
            "error",
        ),
        "lower_is_better": Declared("--lower-is-better", "The scores are distances: negate them.", bool),
        "engine": Declared(
            "--engine",
            "Where trials are counted; auto: memory if the files fit, else duckdb, which scans them. A quoted glob or "
            "a directory names many Parquet files.",
            ("auto", "memory", "duckdb", "spark"),
            "auto",
        ),
        "memory": Declared("--memory SIZE", "How much memory to use.", default="1GB"),
        "temp": Declared(
            "--temp DIR",
            "Where temporary files go; they are removed at the end. Pipes are stored in TMPDIR, at most 16 GiB.",
        ),
    },
}


OPTIONS = {name: declared for section in SECTIONS.values() for name, declared in section.items()}
#: The options that --help only names, by the heading that --help-all describes them under.
HEADINGS = {heading: (*section,) for heading, section in SECTIONS.items() if heading}


def option(name: str, **changes: Any) -> click.Option:
    """Return an option by its name, with another default, help or kind where a command has its own."""
    return replace(OPTIONS[name], **changes).make(name)


def options(names: str) -> tuple[click.Option, ...]:
    """Return options by their names, between blanks."""
    return tuple(map(option, names.split()))
