"""Layouts: what a saved result holds, name by name. Each class of results declares one; schemas are made from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from priori.base.saved import Saved

#: A piece of a JSON schema: what one value may be.
Schema = dict[str, Any]
Held = TypeVar("Held", str, Schema)

NUMBER: Schema = {"$ref": "#/$defs/number"}
NUMBERS: Schema = {"$ref": "#/$defs/numbers"}
PLAIN_NUMBER: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
FLAG: Schema = {"type": "boolean"}
INTEGER: Schema = {"type": "integer"}
SIZE: Schema = {"type": "integer", "minimum": 0}
LEVEL: Schema = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}


def of(held: Held, names: str) -> dict[str, Held]:
    """Return names, separated by blanks, that all hold the same.

    Examples
    --------
    >>> of(FLAG, "exact rate")
    {'exact': {'type': 'boolean'}, 'rate': {'type': 'boolean'}}
    """
    return dict.fromkeys(names.split(), held)


def choice(*names: str) -> Schema:
    """Return what is one of these texts."""
    return {"enum": list(names)}


def listed(items: Schema, size: int | None = None) -> Schema:
    """Return a list of such values, of one size where it is given."""
    return {"type": "array", "items": items, **({} if size is None else {"minItems": size, "maxItems": size})}


def maybe(value: Schema) -> Schema:
    """Return such a value, or null."""
    return {"type": [value["type"], "null"]} if list(value) == ["type"] else {"anyOf": [{"type": "null"}, value]}


def record(values: dict[str, Schema]) -> Schema:
    """Return an object with exactly these names."""
    return {"type": "object", "properties": values, "required": list(values), "additionalProperties": False}


#: What to mind about a result: `priori.base.cautions`.
CAUTIONS: Schema = listed(record({"code": TEXT, "text": TEXT}))

#: The kinds of columns: what a document says of such a column, and the column itself.
KINDS: dict[str, tuple[Schema, Schema]] = {
    "number": ({"const": "number"}, NUMBERS),
    "number or missing": ({"const": "number"}, NUMBERS),
    "integer": ({"const": "integer"}, listed(maybe(INTEGER))),
    # A column of whole numbers of which none is known cannot be told from numbers.
    "integer or missing": (choice("integer", "number"), listed(maybe(INTEGER))),
    "boolean": ({"const": "boolean"}, listed(maybe(FLAG))),
    "text": ({"const": "text"}, listed(maybe(TEXT))),
}

#: What names mean wherever they stand, unless a layout says otherwise.
DESCRIPTIONS = {
    "S": "Draws of trials.",
    "U": "Draws of users.",
    "alpha": "The trade-off; for an exact curve, where each constant piece begins.",
    "best": "What choosing the thresholds on the test set itself would have shown.",
    "bootstrap": "What is resampled.",
    "bounds": "The first and the last alpha.",
    "confidence": "1 minus the p-value.",
    "conjecture": "Whether the widths are in the order that the 2007 paper conjectures.",
    "claim": "What is compared: systems tuned on other development sets (method), or the thresholds as they are.",
    "coverage": "The mean share covered.",
    "criterion": "What the thresholds minimise on the development set.",
    "custom": "Which of these are the caller's own, so that their names do not say what they are.",
    "dev": "The development set.",
    "dev_outcomes": "Counts on the development set, one per row.",
    "dev_v1": "V1 on the development set.",
    "dev_v2": "V2 on the development set.",
    "equation": "The number of the equation in the thesis.",
    "exact": "Whether every piece of the curve is there, instead of a grid.",
    "expected_width": "The mean width over the rows.",
    "fixed": "How many draws of the other kind the rows that vary one kind have.",
    "lower": "The lower bound of the interval.",
    "mean": "The mean of the replicates.",
    "meaning": "What the curve tells, in one sentence.",
    "measure": "The measure, by its name.",
    "measure_title": "The measure, as figures call it.",
    "n_resamples": "How many replicates; two numbers are draws of users and of their trials.",
    "outcomes": "Counts on the test set, one per row.",
    "p_adjusted": "The p-value adjusted for all that is tested together (step-down max-T).",
    "p_fitted": "Whether the p-value is smaller than draws can show, from a tail fitted to them.",
    "p_value": "The p-value of no difference.",
    "probit_fnr": "fnr on the normal-deviate scale.",
    "probit_fpr": "fpr on the normal-deviate scale.",
    "promise": "Cover the curve of the whole population, or the one that a new test set will show.",
    "ranking": "From best to worst; systems that share a letter do not differ.",
    "rate": "Whether the measure is shown as a percentage.",
    "regions": "Where one system is significantly better, as asked for.",
    "resample": "Resample the test set only, or the development set too.",
    "sd": "The standard deviation.",
    "seed": "The same seed, the same numbers.",
    "simultaneous_regions": "The same, with one confidence for all alphas at once.",
    "skipped": "Data sets left out because they have one class only.",
    "task": "The domain: its pair V1, V2 and its aggregate.",
    "test": "The test set.",
    "theta": "The angle of the averaging axis in radians.",
    "threshold": "Accept where the score is greater than this.",
    "upper": "The upper bound of the interval.",
    "v1": "V1 on the test set.",
    "v1_name": "The measure that V1 is.",
    "v2": "V2 on the test set.",
    "v2_name": "The measure that V2 is.",
    "value": "The measure on the test set.",
    "warnings": "What to mind: the code by which it is known and silenced, and the words.",
}


@dataclass(frozen=True)
class Layout:
    """What results of one class hold: ``columns`` by kind (see `KINDS`), ``summary`` by what each value may be.

    ``optional`` names are not in every result; ``settings`` are the names that make up its settings; the table of
    some classes has ``one_row``. ``descriptions`` stand instead of those of `DESCRIPTIONS`. ``shown`` names the records
    of the summary that notebooks show instead of the table; where all values are ``rates`` they show per cent.
    """

    description: str
    columns: dict[str, str]
    summary: dict[str, Schema]
    optional: tuple[str, ...] = ()
    settings: Iterable[str] = ()
    one_row: bool = False
    descriptions: dict[str, str] = field(default_factory=dict)
    shown: str = ""
    rates: bool = False

    def read(self, saved: Saved, names: Iterable[str]) -> dict[str, Any]:
        """Return what a file has under these names, as the classes hold it."""
        present = {*self.columns, *self.summary} & {*saved.table, *saved.summary}
        known = {name: self._read(saved, name) for name in names if name in present and name not in self.settings}
        # Files from before these results carried warnings.
        known |= {name: () for name in self.optional if self.summary.get(name) == CAUTIONS and name not in present}
        return {**known, "settings": saved.values(*self.settings)} if self.settings else known

    def _read(self, saved: Saved, name: str) -> Any:
        if name in self.columns:
            values = saved.columns(name)[name]
            value = values.tolist()[0] if self.one_row else values
            return None if self.columns[name].endswith("missing") and value != value else value
        readers = ((NUMBER, saved.number), (NUMBERS, saved.numbers), (TEXTS, saved.texts), (CAUTIONS, saved.cautions))
        return next((read(name) for held, read in readers if self.summary[name] == held), saved[name])
