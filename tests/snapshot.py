"""The public names with their signatures, one per line: what people's programs rest on.

``python tests/snapshot.py`` writes them to ``tests/api.txt``; look at the difference before you commit it.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from functools import cached_property
from pathlib import Path
from typing import Any

import priori
import priori.sklearn

FILE = Path(__file__).with_name("api.txt")
#: Where a value stands in a file (`priori.base.declarations`), which is nothing to its callers.
MARKED = re.compile(r"\b(?:Column|Summary|Unsaved)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")


def signatures() -> list[str]:
    """Return every public name: functions with their arguments, classes with what they add to `priori.Result`."""
    lines: list[str] = []
    for module in (priori, priori.sklearn):
        for name in sorted(set(module.__all__) - {"__version__"}):
            lines += _described(f"{module.__name__}.{name}", getattr(module, name))
    return [MARKED.sub(r"\1", line) for line in lines]


def _described(path: str, thing: Any) -> list[str]:
    if inspect.ismodule(thing):
        return [line for name in sorted(thing.__all__) for line in _described(f"{path}.{name}", getattr(thing, name))]
    if not inspect.isclass(thing):
        return [f"{path}{_signature(thing)}" if callable(thing) else f"{path}: {type(thing).__name__}"]
    if issubclass(thing, Exception):
        return [f"{path}({', '.join(base.__name__ for base in thing.__bases__)})"]
    lines = [f"{path}{_signature(thing)}"]
    fields = {field.name for field in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else set()
    for name in sorted(set(dir(thing)) - fields):
        owner = next((base for base in thing.__mro__ if name in vars(base)), object)
        inherited = owner is priori.Result and thing is not priori.Result
        if not name.startswith("_") and owner.__module__.startswith("priori") and not inherited:
            lines.append(f"{path}.{name}{_member(vars(owner)[name])}")
    return lines


def _member(member: Any) -> str:
    if isinstance(member, (property, cached_property)):
        getter = member.fget if isinstance(member, property) else member.func
        return f": {inspect.signature(getter).return_annotation}"  # type: ignore[arg-type]
    if isinstance(member, (classmethod, staticmethod)):
        return _signature(member.__func__)
    return _signature(member) if callable(member) else ""


def _signature(thing: Any) -> str:
    return re.sub(r" at 0x\w+|(?<=\()(self|cls)(, |(?=\)))", "", str(inspect.signature(thing))).replace("'", "")


if __name__ == "__main__":
    FILE.write_text("\n".join(signatures()) + "\n", encoding="utf-8")
    print(f"wrote {FILE.name}: {len(signatures())} lines")
