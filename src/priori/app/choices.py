"""Choices: what a visitor can choose, checked field by field, and the command that makes the same report."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from priori.app.limits import FieldErrors, Limits
from priori.base import dataframes
from priori.base.alphas import as_fraction
from priori.base.errors import OptionError, PrioriError, unknown
from priori.base.options import TYPED
from priori.decisions.criteria import CRITERIA, get_criterion
from priori.decisions.measures import MEASURES, get_measure
from priori.decisions.tasks import TASKS
from priori.examples import ABOUT
from priori.scores import NAN_POLICIES
from priori.studies.evaluation.settings import Settings
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.comparing.claims import Claim
from priori.words.numbers import rate_name

#: The bundled examples, as the form lists them.
EXAMPLES = {name: f"{name.capitalize()}: {about.title} ({about.task})" for name, about in ABOUT.items()}
FORMATS = {
    "csv": "CSV, with a header",
    "tsv": "TSV, with a header",
    "table": "columns separated by blanks, with a header",
    "parquet": "Parquet",
    "two-column": "two columns: label score",
    "bob4": "bob, four columns",
    "bob5": "bob, five columns",
    "kaldi": "Kaldi scores, with trials",
    "voxceleb": "VoxCeleb scores, with trials",
}
#: Times, weights and amounts are for programs.
COLUMNS = tuple(column for column in dataframes.COLUMNS if column not in ("time", "weight", "amount"))
CLAIMS: dict[Claim, str] = {"method": "the systems, tuned again", "deployed": "these thresholds"}


@dataclass(frozen=True)
class FormField:
    """How the form asks how to resample: label and help, the name in messages, the texts or the range allowed.

    ``most`` is None where the server's own limit holds.
    """

    label: str
    what: str = ""
    help: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    least: float = 0
    most: float | None = None


#: The options of a resampling that the form has, by the names that are typed.
RESAMPLING = {
    "bootstrap": FormField("Bootstrap", "bootstrap", "What is resampled for the intervals."),
    "resamples": FormField("Resamples", "the number of resamples", least=100),
    "resample": FormField(
        "Resample", "set to resample", texts={"test": "the test set", "both": "both sets, with new thresholds"}
    ),
    "level": FormField("Level", "the level", "Of the intervals, from 0.5 up.", least=0.5, most=0.9999),
    "simultaneous": FormField("Simultaneous bands: they cover the whole curve with the stated confidence"),
    "seed": FormField("Seed", "the seed", most=999_999_999),
}

#: What the form calls the options that messages name, as the command line and as Python spell them.
LABELS = {
    **dict.fromkeys(("column", "columns"), "Names of columns"),
    **dict.fromkeys(("positive", "pos_label"), "Positive label"),
    **dict.fromkeys(("input-format", "format"), "Format"),
    **dict.fromkeys(("lower-is-better", "lower_is_better"), "Lower scores are better"),
    "nan": "Scores that are NaN",
    "trials": "Trials",
    "unpaired": "The systems were tested on different trials",
    "group": "Column of groups",
    "attack_label": "Column of attack types",
    "claim": "Differences are about",
    **{name: RESAMPLING[typed].label for own, typed in TYPED.items() if typed in RESAMPLING for name in (own, typed)},
}
#: An argument as an error marks it in its message, or an option as it names it: --positive VALUE, pos_label=VALUE.
OPTION = re.compile(
    "\x1f(?P<argument>\\w+)=?(?P<value>.*?)\x1f"
    r"|--(?P<option>[a-z][a-z-]*)(?P<given> [a-z_]+=[A-Z]+| \w+ or \w+| [a-z]+(?=,))?"
    r"(?: [A-Z]+)?(?:, \w+=[^()]*| \(\w+=[^()]*\))?"
)

#: A number as people type it. Exponents are left out on purpose: the exact value of 1e-999999999 fills any memory.
NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{0,12})?|\.[0-9]{1,12}")
FRACTION = re.compile(rf"({NUMBER.pattern})|[0-9]{{1,9}}/[0-9]{{1,9}}")


@dataclass(frozen=True)
class Choices:
    """What a visitor chose; all plain text and numbers, so that it can go to the job's process as JSON."""

    example: str = ""
    task: str = "authentication"
    criterion: str = ""
    measure: str = ""
    alpha: str = "0.5"
    bootstrap: str = "auto"
    resample: str = "test"
    resamples: int = 10_000
    level: float = 0.95
    simultaneous: bool = False
    unpaired: bool = False
    claim: str = "method"
    seed: int = 0
    title: str = ""
    nan: str = "error"
    lower_is_better: bool = False
    positive: str = ""
    format: str = ""
    columns: str = ""
    group: str = ""
    attack: str = ""

    @classmethod
    def from_fields(cls, fields: Mapping[str, str], limits: Limits) -> Choices:
        """Read the fields of a form; raises `FieldErrors` with everything that is wrong."""
        errors: dict[str, str] = {}
        values: dict[str, Any] = {}
        for name, check in _checks(limits).items():
            try:
                values[name] = check(fields.get(name, "").strip())
            except PrioriError as error:
                errors[name] = in_form_words(error)
        if errors:
            raise FieldErrors(errors)
        choices = cls(**values)
        try:
            choices.settings()
        except PrioriError as error:
            raise FieldErrors({"form": in_form_words(error)}) from None
        return choices

    def settings(self) -> Settings:
        """Return what the report is to compute."""
        resampling = {own: getattr(self, typed) for own, typed in TYPED.items() if typed in RESAMPLING}
        resampling |= {"bootstrap": None if self.bootstrap == "none" else self.bootstrap, "seed": resampling.pop("rng")}
        return Settings(
            task=self.task,
            criterion=self.criterion or None,
            measure=self.measure or None,
            alpha=self.alpha,
            unpaired=self.unpaired,
            claim=self.claim,  # type: ignore[arg-type]
            title=self.title,
            **resampling,
        )

    def reading(self) -> dict[str, Any]:
        """Return how `priori.read` is to read the files."""
        return {
            "format": self.format or None,
            "columns": self.column_names() or None,
            "pos_label": self.positive or None,
            "nan": self.nan,
            "lower_is_better": self.lower_is_better,
        }

    def column_names(self) -> dict[str, str]:
        """Return the visitor's names of our columns."""
        own = {ours: theirs for ours, theirs in (("group", self.group), ("attack", self.attack)) if theirs}
        return _columns(self.columns) | own


def in_form_words(error: PrioriError) -> str:
    """Return what an error says, of fields of the form where it speaks of options.

    Examples
    --------
    >>> in_form_words(OptionError("say which it is (--column score=NAME, columns={'score': NAME})"))
    "say which it is ('Names of columns': score=NAME)"
    """

    def as_field(match: re.Match[str]) -> str:
        label = LABELS.get(match["option"] or match["argument"])
        if label is None:
            return match[0].strip("\x1f")
        typed = re.sub(r"^\{'(.*)': (.*)\}$", r"\1=\2", match["given"] or match["value"] or "").strip("' ")
        return repr(label) + (f": {typed}" if typed not in ("", "True") and not typed.isupper() else "")

    return OPTION.sub(as_field, getattr(error, "marked", str(error)))


def options() -> dict[str, Any]:
    """Return what the selections of the form offer: value and text of each."""
    return {
        "example": EXAMPLES,
        "task": {name: f"{name}: {rate_name(task.v1)}, {rate_name(task.v2)}" for name, task in TASKS.items()},
        "criterion": {name: f"{name}: {cost}" for name, cost in CRITERIA.items()},
        "measure": {name: measure.title for name, measure in MEASURES.items()},
        "format": FORMATS,
        "claim": CLAIMS,
        "resampling": resampling_fields(),
    }


def resampling_fields() -> dict[str, FormField]:
    """Return the form's fields that say how to resample."""
    bootstraps = {name: bootstrap.resamples for name, bootstrap in BOOTSTRAPS.items()}
    bootstraps = {"auto": "what the data allow: people, else trials", **bootstraps, "none": "none: no intervals"}
    return {**RESAMPLING, "bootstrap": replace(RESAMPLING["bootstrap"], texts=bootstraps)}


def _checks(limits: Limits) -> dict[str, Callable[[str], Any]]:
    return {
        "example": _one_of("example", ("", *EXAMPLES), ""),
        "task": _one_of("task", tuple(TASKS), "authentication"),
        "criterion": _known(get_criterion),
        "measure": _known(get_measure),
        "alpha": _alpha,
        **{name: _resampling_check(name, form, limits) for name, form in resampling_fields().items()},
        "unpaired": _flag,
        "claim": _one_of("claim", tuple(CLAIMS), "method"),
        "title": _at_most("the title"),
        "nan": _one_of("NaN policy", NAN_POLICIES, "error"),
        "lower_is_better": _flag,
        "positive": _at_most("the positive label"),
        "format": _one_of("format", ("", *FORMATS), ""),
        **dict.fromkeys(("group", "attack"), _at_most("the name of a column")),
        "columns": lambda text: ", ".join(f"{ours}={theirs}" for ours, theirs in _columns(text).items()),
    }


def _resampling_check(name: str, form: FormField, limits: Limits) -> Callable[[str], Any]:
    """Return the check of a field that says how to resample; left empty, it is what it is by default."""
    usual = getattr(Choices, name)
    if form.texts:
        return _one_of(form.what, tuple(form.texts), usual)
    if usual is False:
        return _flag
    most = limits.resamples if form.most is None else form.most
    return lambda text: type(usual)(_number(form.what, text or str(usual), form.least, most, isinstance(usual, int)))


def _one_of(kind: str, allowed: tuple[str, ...], default: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        chosen = text or default
        if chosen not in allowed:
            raise unknown(kind, chosen[:40], [name for name in allowed if name])
        return chosen

    return check


def _known(get: Callable[[str], Any]) -> Callable[[str], str]:
    def check(text: str) -> str:
        if text:
            get(_at_most("the name", 100)(text))
        return text

    return check


def _flag(text: str) -> bool:
    if text not in ("", "0", "1", "on"):
        raise OptionError(f"choose yes or no, not {text[:40]!r}")
    return text in ("1", "on")


def _at_most(subject: str, longest: int = 200) -> Callable[[str], str]:
    def check(text: str) -> str:
        if len(text) > longest:
            raise OptionError(f"{subject} has {len(text):,} characters; at most {longest} are taken")
        return " ".join(text.split())

    return check


def _number(subject: str, text: str, low: float, high: float, whole: bool = False) -> float:
    form = re.compile(r"[0-9]{1,9}") if whole else NUMBER
    if not form.fullmatch(text) or not low <= float(text) <= high:
        kind = "a whole number" if whole else "a number"
        raise OptionError(f"{subject} must be {kind} from {low:,g} to {high:,g}, not {text[:40]!r}")
    return float(text)


def _alpha(text: str) -> str:
    chosen = text or "0.5"
    if not FRACTION.fullmatch(chosen):
        raise OptionError(f"alpha must be a number between 0 and 1 such as 0.5 or 99/109, not {chosen[:40]!r}")
    as_fraction(chosen)
    return chosen


def _columns(text: str) -> dict[str, str]:
    """Read ``score=similarity, user=model``."""
    names: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in _at_most("the list of columns", 1000)(text).split(","))):
        ours, equals, theirs = (part.strip() for part in pair.partition("="))
        if not (ours and equals and theirs):
            raise OptionError(f"write ours=theirs, for example score=similarity, not {pair[:60]!r}")
        if ours not in COLUMNS:
            raise unknown("column", ours[:40], COLUMNS)
        names[ours] = theirs
    return names


#: Choices that are no options of ``priori report``, or are told after the others.
APART = ("example", "bootstrap", "columns", "group", "attack")
#: Names that differ on the command line.
RENAMED = {"format": "input-format"}


def command_of(systems: Iterable[tuple[str, str, str]], trials: Mapping[str, Any] | None, choices: Choices) -> str:
    """Return the command for systems given as name, development file and test file.

    Examples
    --------
    >>> command_of([("my system", "dev.csv", "-test.csv")], None, Choices(measure="far"))
    "priori report --system 'my system' dev.csv ./-test.csv --measure far -o report.html"
    """
    words = ["priori", "report"]
    for name, dev, test in systems:
        words += ["--system", name, _as_path(dev), _as_path(test)]
    if trials and len(trials) == 2:
        words += [word for part in ("dev", "test") for word in ("--trials", _as_path(trials[part]["name"]))]
    return shlex.join([*words, *_options(choices), "-o", "report.html"])


def example_command(example: str, systems: Iterable[str], choices: Choices) -> str:
    """Return the commands for a bundled example: one writes its files, the other makes the report."""
    files = [(name, f"demo/{name}-dev.csv", f"demo/{name}-test.csv") for name in systems]
    return f"priori demo {example} --output demo && {command_of(files, None, choices)}"


def _as_path(name: str) -> str:
    """Return a file name that no command takes for an option."""
    return f"./{name}" if name.startswith("-") else name


def _options(choices: Choices) -> list[str]:
    """Return the options that differ from what goes without saying."""
    usual, words = Choices(), []
    for name in (each.name for each in fields(Choices) if each.name not in APART):
        value, option = getattr(choices, name), "--" + RENAMED.get(name, name.replace("_", "-"))
        if value != getattr(usual, name):
            words += [option] if value is True else [option, f"{value:g}" if isinstance(value, float) else str(value)]
    if choices.bootstrap == "none":
        words.append("--no-bootstrap")
    elif choices.bootstrap != usual.bootstrap:
        words += ["--bootstrap", choices.bootstrap]
    for ours, theirs in choices.column_names().items():
        words += ["--column", f"{ours}={theirs}"]
    return words
