"""Any value as lines of text: every number that a result holds, every line that a figure shows, every word."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import html
import json
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from priori.base.cautions import Caution
from priori.base.results import Result
from priori.decisions.criterion import Criterion
from priori.decisions.measure import Measure
from priori.decisions.tasks import Task
from priori.scores.score_set import ScoreSet

#: Arrays up to this long are written out.
WHOLE = 12
#: Short values stand beside each other up to this width.
WIDE = 116
#: Whether cautions are written out, or only their codes: one transcript has all their words.
in_full = False
#: How deep attributes of attributes are followed.
DEEP = 3


def described(value: Any) -> str:
    """Return what there is to say of a value."""
    if isinstance(value, Result):
        columns, summary = value.columns(), value.summary()
        left = {
            name: found
            for name, found in _attributes(value).items()
            if name not in columns and name not in summary and found is not None and found is not False
        }
        lines = [type(value).__name__, *_mapping(columns, 0), *_mapping(summary, 0), *_mapping(left, 0)]
        return "\n".join([*lines, *map(repr, repr(value).splitlines())])
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
        return f"{value.code}: {value}" if in_full else value.code
    if isinstance(value, tuple) and value and all(isinstance(one, Caution) for one in value) and not in_full:
        return ", ".join(one.code for one in value)
    if value is None or isinstance(value, (bool, int, str, np.bool_)):
        return str(value)
    if isinstance(value, (float, np.floating)):
        return _number(float(value))
    if isinstance(value, Fraction | np.generic):
        return str(value)
    if isinstance(value, np.ndarray):
        return _array(value)
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
    """Give the lines of several values; short ones stand beside each other."""
    margin, row = "  " * depth, ""
    for name, value in values.items():
        line = _simple(value)
        if line is None or "\n" in line or len(margin) + len(row) + len(name) + len(line) > WIDE:
            if row:
                yield margin + row
            row = ""
        if line is None:
            yield from _lines(str(name), value, depth)
        else:
            row += f"{'; ' if row else ''}{name}: {line}"
    if row:
        yield margin + row


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
            vertices = np.concatenate([path.vertices for path in area.get_paths()] or [np.zeros((0, 2))])
            name = type(area).__name__.removeprefix("FillBetween")  # as older versions call it
            if name == "QuadContourSet":  # which leaves room for its labels, as wide as their letters
                vertices = vertices.round(2)
            offsets = np.asarray(area.get_offsets(), dtype=float)
            yield f"  {name} {area.get_label()!r} {_array(vertices)} at {_array(offsets)}"
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
        for axis in (each.xaxis, each.yaxis):
            low, high = sorted(axis.get_view_interval())
            ends = np.array([low, high]) + np.array([-1e-9, 1e-9]) * (high - low)
            ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            yield f"  ticks {[text.get_text() for at, text in ticks if ends[0] <= at <= ends[1]]}"


def _decoded(value: Any) -> Any:
    """Return lists of numbers as arrays."""
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
    return "\n".join(_mapping(_decoded(json.loads(text, object_hook=_by_code)), 0))


def _by_code(held: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a document with the codes of its cautions only, unless they are written out."""
    cautions = held.get("warnings")
    if in_full or not isinstance(cautions, list) or not all(isinstance(one, dict) for one in cautions):
        return held
    return {**held, "warnings": ", ".join(one["code"] for one in cautions)}


#: What ends a line of a page.
BREAKS = re.compile(
    r"</?(?:p|div|section|figure|figcaption|h[1-6]|li|ul|ol|dl|dt|dd|tr|table|details|summary|form|nav"
    r"|header|footer|main|title|meta|link|head|body|html|svg|button|pre)\b[^>]*>|<br>"
)
#: What is kept of a tag: where links lead, what is read aloud, what fields hold.
KEPT = re.compile(r'\b(id|href|aria-label|title|name|value|content|data-[a-z-]+|action)="([^"]*)"')


def page(text: str) -> str:
    """Return what a page shows: its words line by line, ids, links and labels, what figures show, its scripts' data."""
    data = re.search(r'<script[^>]*id="priori-data"[^>]*>([^<]*)</script>', text)
    text = re.sub(r"(<(script|style)\b[^>]*>).*?(</\2>)", r"\1\3", text, flags=re.DOTALL)
    text = re.sub(r"(sha256|nonce)[-=][\"A-Za-z0-9+/=]+", r"\1", text)
    text = re.sub(r"<svg\b.*?</svg>", lambda found: f"<p>{_svg(found[0])}</p>", text, flags=re.DOTALL)
    lines: list[str] = []
    if not in_full:
        text = re.sub(r'(<li[^>]*data-caution="[^>]*>).*?</li>', r"\1</li>", text, flags=re.DOTALL)
        text = re.sub(r'(<p class="gravest".*?</strong>).*?(<a )', r"\1 \2", text, flags=re.DOTALL)
    for line in BREAKS.sub(lambda found: f"\0{_kept(found[0])}\0", text).split("\0"):
        words = html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", lambda found: _kept(found[0]), line)).strip())
        if words:
            lines.append(words)
    if data:
        lines += _mapping(_decoded(json.loads(gzip.decompress(base64.b64decode(data[1])))), 0)
    return "\n".join(_shared(lines))


def _kept(tag: str) -> str:
    """Return what a tag says besides its name."""
    return "".join(f" [{name} {value}]" for name, value in KEPT.findall(tag) if value)


def _shared(lines: list[str]) -> Iterator[str]:
    """Give the lines of a page, short ones beside each other."""
    row = ""
    for line in lines:
        if len(row) + len(line) > WIDE and row:
            yield row
            row = ""
        row += f"{' | ' if row else ''}{line}"
    if row:
        yield row


def _svg(text: str) -> str:
    """Return what a figure shows: its texts in order, and for each colour and kind of mark where its marks are."""
    words = [re.sub(r"<[^>]+>", "", found) for found in re.findall(r"<text[^>]*>(.*?)</text>", text, flags=re.DOTALL)]
    marks: dict[str, list[float]] = {}
    for kind, attributes in re.findall(r"<(path|use|rect|circle|line|polyline|polygon)\b([^>]*)>", text):
        look = re.search(r'(?:stroke|fill)="(#[0-9a-f]+|currentColor)"', attributes)
        numbers = re.sub(r'\b(?:id|href|clip-path|stroke|fill|class|style)="[^"]*"', "", attributes)
        where = [float(number) for number in re.findall(r"-?\d+\.?\d*", numbers)]
        marks.setdefault(f"{kind} {look[1] if look else ''}", []).extend(where)
    return "figure: " + " ".join(words) + "".join(f"\0{look}: {_array(np.array(at))}" for look, at in marks.items())
