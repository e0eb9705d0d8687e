"""Mutants: small changes of the source, each of which some test should notice."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "/",
    ast.Pow: "*",
    ast.Mod: "//",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.LShift: ">>",
    ast.RShift: "<<",
}
#: Functions, methods and words that have an opposite.
OPPOSITES = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
    "argmin": "argmax",
    "argmax": "argmin",
    "floor": "ceil",
    "ceil": "floor",
    "sum": "max",
    "cumsum": "cumprod",
    "sorted": "list",
    "abs": "float",
}
#: Functions whose first two arguments may change places.
SYMMETRIC = {"min", "max", "minimum", "maximum", "gcd", "hypot", "isclose", "union", "intersection", "suppress"}
WORDS = {"left": "right", "right": "left"}


@dataclass(frozen=True)
class Mutant:
    """One change: the file, where in it, what stands there and what is put in its place."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str
    code: str
    place: int

    @property
    def change(self) -> str:
        """What is changed, as people read it; the same on one line a second time says so."""
        again = f"  (no. {self.place})" if self.place > 1 else ""
        return f"{_short(self.before)}  ->  {_short(self.after)}{again}"

    @property
    def key(self) -> str:
        """A name that stays the same while the line does, wherever in the file it moves."""
        return hashlib.sha256("\0".join((self.path, self.code, self.change)).encode()).hexdigest()[:16]

    def apply(self, source: str) -> str:
        """Return the source with the change."""
        return source[: self.start] + self.after + source[self.end :]


def _short(text: str) -> str:
    return " ".join(text.split())


@lru_cache(maxsize=2)
def _lines(source: str) -> tuple[list[str], list[int]]:
    """Return the lines, and where each begins."""
    lines = source.splitlines(keepends=True)
    return lines, [0, *accumulate(map(len, lines))]


def _place(node: ast.expr, source: str) -> tuple[int, int]:
    """Return where an expression begins and ends: the columns of the parser count bytes, ours characters."""
    lines, starts = _lines(source)

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    return offset(node.lineno, node.col_offset), offset(node.end_lineno or 0, node.end_col_offset or 0)


def mutants_of(path: Path, root: Path) -> list[Mutant]:
    """Return every mutant of a module, each once; a few are not Python."""
    source = path.read_text(encoding="utf-8")
    found: dict[tuple[int, int, str], Mutant] = {}
    places: dict[tuple[str, str, str], int] = {}
    for node, after in _changes(ast.parse(source), source):
        start, end = _place(node, source)
        before, code = source[start:end], _lines(source)[0][node.lineno - 1].strip()
        if after == before or (start, end, after) in found:
            continue
        place = places[code, before, after] = places.get((code, before, after), 0) + 1
        name = path.relative_to(root).as_posix()
        found[start, end, after] = Mutant(name, node.lineno, start, end, before, after, code, place)
    return list(found.values())


def is_python(mutant: Mutant, root: Path) -> bool:
    """Tell whether the module with the change can be compiled."""
    try:
        compile(mutant.apply((root / mutant.path).read_text(encoding="utf-8")), mutant.path, "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def _changes(tree: ast.Module, source: str) -> Iterator[tuple[ast.expr, str]]:
    """Yield expressions and what to put in their places."""
    for node in _computing(tree):
        if isinstance(node, ast.expr):
            yield from ((node, after) for after in _of_expression(node, source))
        if isinstance(node, (ast.If, ast.IfExp)):
            yield node.test, f"(not ({_text(node.test, source)}))"
        if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
            yield node.value, "None"


def _computing(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that compute: not annotations, texts, messages of errors, assertions or imports for types."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)):
                continue
            if isinstance(child, ast.keyword) and child.arg == "strict":  # of zip, which asserts
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.AST):
                yield from _computing(child)


def _of_expression(node: ast.expr, source: str) -> Iterable[str]:
    match node:
        case ast.Compare(left, [operator], [right]):
            for sign in COMPARISONS[type(operator)]:
                yield f"{_text(left, source)} {sign} {_text(right, source)}"
        case ast.BinOp(left, operation, right) if type(operation) in OPERATIONS and not _is_text(left, right):
            yield f"({_text(left, source)}) {OPERATIONS[type(operation)]} ({_text(right, source)})"
        case ast.BoolOp(operation, values):
            word = " or " if isinstance(operation, ast.And) else " and "
            yield "(" + word.join(f"({_text(value, source)})" for value in values) + ")"
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield f"({_text(operand, source)})"
        case ast.Constant(bool() as value):
            yield str(not value)
        case ast.Constant(int() | float() as value):
            yield repr(value + 1)
        case ast.Constant(str() as value) if value in WORDS:
            yield repr(WORDS[value])
        case ast.Call(function, [first, second, *_]) if not _is_starred(first, second) and not _is_symmetric(function):
            begin, between, end = (_text(part, source) for part in (first, second, node))
            inside = end[len(_text(function, source)) :]
            yield _text(function, source) + _swapped(inside, begin, between)
        case ast.Name(name) | ast.Attribute(_, name) if name in OPPOSITES and isinstance(node.ctx, ast.Load):
            yield _text(node, source).removesuffix(name) + OPPOSITES[name]


def _swapped(arguments: str, first: str, second: str) -> str:
    """Return ``(first, second, ...)`` with the first two exchanged."""
    begin = arguments.index(first)
    following = arguments.index(second, begin + len(first))
    rest = following + len(second)
    return arguments[:begin] + second + arguments[begin + len(first) : following] + first + arguments[rest:]


def _text(node: ast.expr, source: str) -> str:
    return source[slice(*_place(node, source))]


def _is_text(*nodes: ast.expr) -> bool:
    return any(isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), str) for node in nodes)


def _is_starred(*nodes: ast.expr) -> bool:
    return any(isinstance(node, ast.Starred) for node in nodes)


def _is_symmetric(function: ast.expr) -> bool:
    return getattr(function, "attr", getattr(function, "id", "")) in SYMMETRIC


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
