"""Any value as lines of text: every number that a result holds, every line that a figure shows, every word."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from priori.base.cautions import Caution
from priori.base.results import Result
from priori.base.saved import NotSaved
from priori.decisions.criterion import Criterion
from priori.decisions.measure import Measure
from priori.decisions.tasks import Task
from priori.scores.score_set import ScoreSet

#: Arrays up to this long are written out.
WHOLE = 12
#: How deep attributes of attributes are followed.
DEEP = 3


def described(value: Any) -> str:
    """Return what there is to say of a value."""
    if isinstance(value, Result):
        lines = [f"{type(value).__name__}", *_mapping({"columns": value.columns(), "summary": value.summary()}, 0)]
        left = {name: found for name, found in _attributes(value).items() if name not in value.columns()}
        return "\n".join([*lines, *_mapping(left, 0), *map(repr, repr(value).splitlines())])
    if hasattr(value, "to_plotly_json"):
        return "\n".join(_mapping(_drawn_by_plotly(value), 0))
    if hasattr(value, "get_lines"):
        return "\n".join(_drawn(value))
    if type(value).__module__.startswith("priori.sklearn") and hasattr(value, "plot"):
        return "\n".join([type(value).__name__, *_mapping(_attributes(value), 0), *_drawn(value.ax_)])
    return "\n".join(_lines("", value, 0)).lstrip(": ")


def _number(value: float) -> str:
    return "0" if abs(value) <= 1e-12 else f"{value:.10g}"  # noise around 0 differs from machine to machine


def _array(values: Any) -> str:
    """Return an array: all of a short one; of a long one its ends, its sum and a sum that depends on the order."""
    values = np.asarray(values)
    flat = values.ravel()
    shape = "x".join(map(str, values.shape))
    if flat.dtype.kind not in "iufb":
        shown = [str(one) for one in (flat if flat.size <= WHOLE else [*flat[:4], "...", *flat[-2:]])]
        return f"[{shape}] " + " ".join(shown)
    if flat.size <= WHOLE:
        return f"[{shape}] " + " ".join(_number(float(one)) for one in flat)
    numbers = flat.astype(float)
    finite = np.where(np.isfinite(numbers), numbers, 0.0)
    ends = " ".join(_number(float(one)) for one in [*numbers[:3], *numbers[-2:]])
    ordered = float(finite @ np.cos(np.arange(finite.size)))
    sums = f"sum {_number(float(finite.sum()))} ordered {_number(ordered)} finite {np.isfinite(numbers).sum()}"
    return f"[{shape}] {ends} {sums}"


def _simple(value: Any) -> str | None:
    """Return a value that takes one line."""
    if isinstance(value, Caution):
        return f"{value.code}: {value}"
    if value is None or isinstance(value, (bool, int, str, np.bool_)):
        return str(value)
    if isinstance(value, (float, np.floating)):
        return _number(float(value))
    if isinstance(value, Fraction | np.generic):
        return str(value)
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, NotSaved):
        return repr(value)
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    if isinstance(value, (list, tuple)) and all(isinstance(one, (bool, int, float)) for one in value):
        return _array(np.array(value, dtype=float))
    if callable(value) and not dataclasses.is_dataclass(value):
        return "a function"
    return None


def _lines(name: str, value: Any, depth: int) -> Iterator[str]:
    """Give the lines of a value under its name."""
    margin = "  " * depth
    if (line := _simple(value)) is not None:
        yield f"{margin}{name}: {line}"
    elif isinstance(value, Mapping):
        yield f"{margin}{name}:"
        yield from _mapping(value, depth + 1)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        yield f"{margin}{name}: {type(value).__name__}"
        yield from _mapping(value._asdict(), depth + 1)
    elif isinstance(value, (list, tuple)):
        yield f"{margin}{name}: {len(value)}"
        for one in value:
            yield from _lines("-", one, depth + 1)
    elif isinstance(value, (Result, Criterion, Measure, Task)) and (depth or name):
        yield f"{margin}{name}: {type(value).__name__} {getattr(value, 'name', '')}"
    elif isinstance(value, ScoreSet):
        yield f"{margin}{name}: {type(value).__name__} of {value.n_negatives} and {value.n_positives}"
    elif depth > DEEP or not type(value).__module__.startswith("priori"):
        yield f"{margin}{name}: {type(value).__name__}"
    else:
        yield f"{margin}{name}: {type(value).__name__}"
        yield from _mapping(_attributes(value), depth + 1)


def _mapping(values: Mapping[Any, Any], depth: int) -> Iterator[str]:
    for name, value in values.items():
        yield from _lines(str(name), value, depth)


def _attributes(value: Any) -> dict[str, Any]:
    """Return fields and properties, not methods; a property that cannot be had is shown by its error."""
    kinds = type(value).__mro__
    lazily = (property, cached_property)
    names = {name for kind in kinds for name, found in vars(kind).items() if isinstance(found, lazily)}
    names |= {field.name for field in dataclasses.fields(value)} if dataclasses.is_dataclass(value) else set()
    names |= set(getattr(value, "__dict__", {}))
    found: dict[str, Any] = {}
    for name in sorted(name for name in names if not name.startswith("_")):
        try:
            found[name] = getattr(value, name)
        except Exception as error:
            found[name] = error
    return {name: one for name, one in found.items() if not type(one).__module__.startswith("matplotlib")}


def _drawn(axes: Any) -> Iterator[str]:
    """Give what a figure of matplotlib shows: lines, areas, texts, names, limits."""
    yield f"figure: {_array(axes.figure.get_size_inches())}"
    for number, each in enumerate(axes.figure.axes):
        yield f"axes {number}: {each.get_title()!r} {each.get_xlabel()!r} {each.get_ylabel()!r}"
        limits = _array([*each.get_xlim(), *each.get_ylim()])
        yield f"  limits: {limits} {each.get_xscale()} {each.get_yscale()}"
        for line in each.get_lines():
            look = line.get_linestyle(), line.get_drawstyle(), line.get_marker(), line.get_linewidth(), line.get_color()
            yield f"  line {line.get_label()!r} {' '.join(map(str, look))}"
            yield f"    x {_array(np.asarray(line.get_xdata(), dtype=float))}"
            yield f"    y {_array(np.asarray(line.get_ydata(), dtype=float))}"
        for area in each.collections:
            vertices = [path.vertices for path in area.get_paths()] or [np.zeros((0, 2))]
            offsets = np.asarray(area.get_offsets(), dtype=float)
            places = f"{_array(np.concatenate(vertices))} at {_array(offsets)}"
            yield f"  {type(area).__name__} {area.get_label()!r} {places}"
        for patch in each.patches:
            corners = patch.get_patch_transform().transform(patch.get_path().vertices)
            yield f"  {type(patch).__name__} {patch.get_label()!r} {_array(corners)}"
        for image in each.images:
            yield f"  image {_array(np.asarray(image.get_array(), dtype=float))} {_array(np.array(image.get_extent()))}"
        for text in each.texts:
            place = [one for one in (*text.get_position(), *getattr(text, "xy", ())) if not isinstance(one, str)]
            yield f"  text {text.get_text()!r} {_array(np.array(place, dtype=float))} {text.get_color()}"
        if legend := each.get_legend():
            yield f"  legend {[text.get_text() for text in legend.get_texts()]}"
        for labels in (each.get_xticklabels(), each.get_yticklabels()):
            yield f"  ticks {[label.get_text() for label in labels]}"


def _drawn_by_plotly(figure: Any) -> dict[str, Any]:
    """Return what a figure of plotly shows, without its template."""
    content = json.loads(figure.to_json())
    content["layout"].pop("template", None)
    return {"data": [_decoded(trace) for trace in content["data"]], "layout": content["layout"]}


def _decoded(value: Any) -> Any:
    """Return what plotly packed into bytes as an array."""
    if isinstance(value, dict) and "bdata" in value:
        return np.frombuffer(base64.b64decode(value["bdata"]), dtype=np.dtype(value["dtype"]))
    if isinstance(value, dict):
        return {name: _decoded(one) for name, one in value.items()}
    if isinstance(value, list) and any(isinstance(one, (dict, list)) for one in value):
        return [_decoded(one) for one in value]
    if isinstance(value, list) and value and all(isinstance(one, (int, float)) for one in value):
        return np.array(value, dtype=float)
    return value


def document(text: str) -> str:
    """Return a JSON document as a value is described, any other text as it is."""
    if not text.startswith("{"):
        return text
    return "\n".join(_mapping(_decoded(json.loads(text)), 0))


def page(text: str) -> str:
    """Return a page without scripts and styles, with the data that its scripts get."""
    data = re.search(r'<script[^>]*id="priori-data"[^>]*>([^<]*)</script>', text)
    text = re.sub(r"(<(script|style)\b[^>]*>).*?(</\2>)", r"\1\3", text, flags=re.DOTALL)
    text = re.sub(r"(sha256|nonce)[-=][\"A-Za-z0-9+/=]+", r"\1", text)
    text = re.sub(r'((?: d| points)=")([^"]{80,})"', lambda found: f'{found[1]}{_path(found[2])}"', text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if data:
        lines += _mapping(_decoded(json.loads(gzip.decompress(base64.b64decode(data[1])))), 0)
    return "\n".join(lines)


def _path(text: str) -> str:
    """Return a long path of a drawing as an array is written."""
    return _array(np.array([float(number) for number in re.findall(r"-?\d+\.?\d*", text)]))
