"""What every result can do: become a dictionary, a file, a dataframe, a notebook's output, a figure."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.dataframes import make_frame
from priori.base.declarations import Summary, columns_of, members, told

if TYPE_CHECKING:
    from pathlib import Path

    from priori.saving.documents import SavedResult

#: What the interval from ``lower`` to ``upper`` may be around: the first of these columns that a table has.
AROUND = ("expected", "value", "difference", "rate", "auc", "tpr")
#: Rounding may put a value this far outside its interval, as a share of the larger.
ROUNDING = 1e-9


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; infinite numbers become the texts 'inf' and '-inf', NaN becomes null.

    A caution becomes its code and its text.
    """
    if isinstance(value, Caution):
        return {"code": value.code, "text": str(value)}
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind == "f" and np.isfinite(value).all():  # large tables are
            return value.tolist()
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if value is None or isinstance(value, (str, float, int)):
        return value
    value = told(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def negated(found: dict[str, Any], ranges: tuple[str, ...]) -> dict[str, Any]:
    """Return values in which thresholds and ranges of them are negated: distances are scores negated, and back."""
    turned = {"threshold": "threshold"}
    for name in ranges:
        turned |= {f"{name}_lower": f"{name}_upper", f"{name}_upper": f"{name}_lower"}
    return {name: 0.0 - found[turned[name]] if name in turned else value for name, value in found.items()}


@dataclass(init=False, frozen=True, eq=False, repr=False)
class Result:
    """A base for frozen dataclasses: their annotations say what they hold (`priori.base.declarations`).

    ``columns()`` is the table of the result, one array per column, all of one length.
    ``summary()`` is everything that is not a row of the table: settings, single numbers.
    """

    #: What notebooks show instead of the table: records of the summary, by their name.
    _shown: ClassVar[str] = ""
    #: Whether the table is one row, whose numbers a dictionary has as numbers.
    _one_row: ClassVar[bool] = False
    #: Whether all that is measured is shown in per cent.
    _rates: ClassVar[bool] = False
    #: Ranges of thresholds: of each name there are the columns NAME_lower and NAME_upper.
    _ranges: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        # Whoever computed it, an interval that excludes its value gets a caution.
        found = _outside(self) if any(each.name == "warnings" for each in fields(self)) else []
        if found:
            said = vars(self)["warnings"]
            known = {getattr(line, "code", "") for line in said}
            new = (caution for caution in found if caution.code not in known)
            object.__setattr__(self, "warnings", (*said, *new))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the table of this result."""
        declared = members(type(self)).items()
        written = (member.write(getattr(self, name)) for name, member in declared if member.columns)
        return self._as_given({name: values for each in written for name, values in each.items()})

    def summary(self) -> dict[str, Any]:
        """Return the settings and single numbers of this result."""
        declared = members(type(self)).items()
        written = (member.write(getattr(self, name)) for name, member in declared if member.summary)
        found = self._as_given({name: value for each in written for name, value in each.items()})
        return {**found, "distances": True} if self.distances and "threshold" in members(type(self)) else found

    @property
    def distances(self) -> bool:
        """Whether the scores were given as distances: the table and the summary then have thresholds as distances."""
        return bool(vars(self).get("_distances", False))

    def _as_given(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return values with thresholds on the scale of the scores that were given."""
        return negated(found, self._ranges) if self.distances else found

    @property
    def _declared(self) -> type[Result]:
        """The class that declares what the result holds."""
        return type(self)

    @property
    def backend(self) -> str | None:
        """The dataframe library the scores came from, if any."""
        return vars(self).get("_backend")

    def _came_from(self, *sources: Any) -> Self:
        """Remember the first dataframe library of these scores or curves, and whether they are distances."""
        known = [source for source in sources if source is not None]
        object.__setattr__(self, "_backend", next((each.backend for each in known if each.backend is not None), None))
        object.__setattr__(self, "_distances", any(each.distances for each in known))
        return self

    def frame(self, library: str | None = None) -> Any:
        """Return the table as a dataframe: of ``library``, or of the one the scores came from, or pandas."""
        return make_frame(self.columns(), library or self.backend)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and lists, ready for JSON."""
        columns = plain(self.columns())
        if self._declared._one_row:
            columns = {name: values[0] for name, values in columns.items()}
        return {**plain(self.summary()), **columns}

    # -- files -----------------------------------------------------------------------------------------

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the result as JSON text, and write it to ``path`` if one is given; `from_json` reads it back.

        Its layout is published: ``priori schema EPC`` prints the JSON schema of an EPC.
        """
        import json

        from priori.base.whole_files import write_whole
        from priori.saving.documents import document

        text = json.dumps(document(self), allow_nan=False, ensure_ascii=False)
        if path is not None:
            write_whole(path, text + "\n")
        return text

    @classmethod
    def from_json(cls, source: str | Path) -> SavedResult:
        """Read the table and the summary of a result of this class from JSON text, or from a file of it.

        Examples
        --------
        >>> import priori
        >>> dev = priori.Scores.from_arrays([0.1, 0.2, 0.6], [0.4, 0.7, 0.9])
        >>> saved = priori.EPC.from_json(priori.epc(dev, dev, points=3).to_json())
        >>> saved
        EPC 'system': an Expected Performance Curve; HTER, thresholds by wer, read from a file
        alpha  threshold   dev_v1   dev_v2       v1       v2    value     best
            0        0.3  33.33 %   0.00 %  33.33 %   0.00 %  16.67 %  16.67 %
          0.5        0.3  33.33 %   0.00 %  33.33 %   0.00 %  16.67 %  16.67 %
            1       0.65   0.00 %  33.33 %   0.00 %  33.33 %  16.67 %  16.67 %
        warnings: same-data, few-units
        >>> saved.columns()["threshold"].round(2).tolist()
        [0.3, 0.3, 0.65]
        """
        from priori.saving.documents import read_json

        return read_json(source, cls)

    # -- notebooks -------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        from priori.base.notebooks import Shown

        return Shown.of(self).text()

    def _repr_html_(self) -> str:
        from priori.base.notebooks import Shown

        return Shown.of(self).html()


class Aposteriori:
    """A result whose thresholds are chosen on the very data shown, and which says so."""

    @property
    def kind(self) -> Summary[Literal["a posteriori"]]:
        """How the thresholds were chosen."""
        return "a posteriori"


def _outside(result: Result) -> list[Caution]:
    """Return what to say of intervals that exclude the value they are around, or the one observed."""
    found, names = list[Caution](), columns_of(type(result))
    settings = vars(result).get("settings", {})
    of_method = "expected" not in names and (
        settings.get("claim") == "method"
        or [settings.get(name) for name in ("resample", "interval")] == ["both", "calibrated"]
    )
    for column in (name for name in names if name.endswith("lower")):
        stem = column.removesuffix("lower")
        around = stem.removesuffix("_") if stem else next((name for name in AROUND if name in names), "")
        lower, value, upper = (getattr(result, name, None) for name in (column, around, f"{stem}upper"))
        if lower is None or value is None or upper is None:
            continue
        low, at, high = (np.ravel(np.asarray(each, dtype=np.float64)) for each in (lower, value, upper))
        room = ROUNDING * np.maximum(np.abs(at), 1e-3)
        rows = np.flatnonzero((at < low - room) | (at > high + room))
        if not rows.size:
            continue
        row = rows[0]
        example = f"{at[row]:.4g}, not in {low[row]:.4g} to {high[row]:.4g}"
        expected = f"the observed value lies outside the interval of the expected one ({example})"
        own = f"the interval excludes its own {around} ({example}): use more resamples"
        found.append(Caution("around-expected", expected) if of_method and not stem else Caution("value-outside", own))
    return found
