"""Draw docs/plan.svg: the floors of the package, the modules on each, and the imports as they really are.

``make plan`` writes it; a test fails when the committed file is not what this draws.
"""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "plan.svg"
#: Sizes in pixels: a floor's box, a line of text, the room for arrows on either side, the width of a letter.
WIDTH, LINE, SIDE, LETTER = 780, 15, 170, 6.1


def floors() -> list[list[str]]:
    """Return the floors from the contract, top first; those on one level together."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    return [[name.strip() for name in level.split("|")] for level in contract[0]["layers"]]


def imports() -> tuple[dict[str, list[str]], Counter[tuple[str, str]]]:
    """Return the modules of each floor, and how many imports go from floor to floor."""
    graph = grimp.build_graph("priori", cache_dir=None, exclude_type_checking_imports=True)
    modules: dict[str, list[str]] = {}
    arrows: Counter[tuple[str, str]] = Counter()
    for module in sorted(graph.modules):
        _, _, inner = module.partition(".")
        floor, _, name = inner.partition(".")
        if name:
            modules.setdefault(floor, []).append(name)
        for imported in graph.find_modules_directly_imported_by(module):
            other = imported.split(".")[1] if "." in imported else ""
            if floor and other and floor != other:
                arrows[floor, other] += 1
    return modules, arrows


def purpose(floor: str) -> str:
    """Return the first line of a floor's docstring, without its own name."""
    tree = ast.parse((ROOT / "src" / "priori" / floor / "__init__.py").read_text(encoding="utf-8"))
    line = (ast.get_docstring(tree) or "").split("\n")[0].replace("`", "")
    name, _, rest = line.partition(": ")
    return rest[:1].upper() + rest[1:] if rest and name.lower() == floor else line


def short(names: list[str]) -> list[str]:
    """Return module names for a box: those of a folder together, in braces."""
    folders = {name for name in names if any(other.startswith(f"{name}.") for other in names)}
    shown = [name for name in names if name not in folders and "." not in name]
    for folder in sorted(folders):
        inside = [name.partition(".")[2] for name in names if name.startswith(f"{folder}.") and name not in folders]
        shown.append(f"{folder}/ ({', '.join(inside)})" if "." not in folder else "")
    return [name for name in shown if name]


def wrapped(names: list[str]) -> list[str]:
    """Return a box's module names in lines that fit."""
    lines, line = [], ""
    for word in ", ".join(names).split(" "):
        if line and (len(line) + len(word) + 1) * LETTER > WIDTH - 150:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]


def drawn() -> str:
    """Return the picture."""
    modules, arrows = imports()
    boxes: list[str] = []
    middle: dict[str, float] = {}
    top = 20.0
    for level in floors():
        for floor in level:
            lines = [line for line in wrapped(short(modules.get(floor, []))) if line]
            height = (1 + len(lines)) * LINE + 14
            boxes.append(f'<rect x="{SIDE}" y="{top:g}" width="{WIDTH}" height="{height}" rx="4" class="floor"/>')
            boxes.append(f'<text x="{SIDE + 10}" y="{top + 19:g}" class="name">{escape(floor)}</text>')
            boxes.append(f'<text x="{SIDE + 120}" y="{top + 19:g}" class="purpose">{escape(purpose(floor))}</text>')
            for number, line in enumerate(lines, start=1):
                y = top + 19 + number * LINE
                boxes.append(f'<text x="{SIDE + 120}" y="{y:g}" class="module">{escape(line)}</text>')
            middle[floor] = top + height / 2
            top += height + 8
    lanes = [_arrow(start, end, number, middle) for (start, end), number in sorted(arrows.items()) if end in middle]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 2 * SIDE} {top + 30:g}" '
        'font-family="DejaVu Sans, Arial, sans-serif" font-size="11" role="img">\n'
        "<title>The floors of the package and the imports between them</title>\n"
        "<style>.floor{fill:#f4f6f8;stroke:#8a97a5}.name{font-weight:bold;font-size:13px}.module{fill:#333}.purpose{fill:#1d4f7c}"
        ".down{fill:none;stroke:#3b6ea8;stroke-opacity:.45}.up{fill:none;stroke:#c0392b;stroke-dasharray:4 3}"
        "</style>\n" + "\n".join([*boxes, *filter(None, lanes)]) + "\n"
        f'<text x="{SIDE}" y="{top + 16:g}">Right, blue: a floor imports from one below it (thicker: more imports). '
        "Left, red, dashed: the conveniences on results that look up.</text>\n</svg>\n"
    )


def _arrow(start: str, end: str, number: int, middle: dict[str, float]) -> str:
    """Return an arc from floor to floor: on the right where it goes down, on the left where it goes up."""
    if start not in middle:
        return ""
    down = middle[end] > middle[start]
    edge, way = (SIDE + WIDTH, 1) if down else (SIDE, -1)
    reach = edge + way * min(SIDE - 10, 20 + abs(middle[end] - middle[start]) * 0.28)
    width = 0.6 + number**0.5 / 2.5
    tip = f"M{edge + way * 7:g},{middle[end] - 4:g} L{edge:g},{middle[end]:g} L{edge + way * 7:g},{middle[end] + 4:g}"
    return (
        f'<path class="{"down" if down else "up"}" stroke-width="{width:.1f}" d="M{edge:g},{middle[start]:g} '
        f'C{reach:g},{middle[start]:g} {reach:g},{middle[end]:g} {edge:g},{middle[end]:g} {tip}">'
        f"<title>{start} imports {end} ({number})</title></path>"
    )


if __name__ == "__main__":
    FILE.write_text(drawn(), encoding="utf-8")
    print(f"wrote {FILE.relative_to(ROOT)}")
