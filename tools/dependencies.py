"""What the package brings: sizes, versions and licences, into docs/reference/dependencies.md (``make dependencies``).

It looks at the environment that runs it, which holds every extra.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections import defaultdict
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/reference/dependencies.md"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MARKS = "<!-- dependencies: written by make dependencies -->", "<!-- end of dependencies -->"

#: What each library is for; one name for each line of dependencies in pyproject.toml.
PURPOSES = {
    "numpy": "arrays",
    "scipy": "distributions, optimisers, splines",
    "numba": "compiled bootstraps: thousands of replicates a second",
    "narwhals": "pandas, polars, pyarrow and other dataframes, none of them required",
    "duckdb": "Parquet, large text files, tables that do not fit in memory",
    "nanoarrow": "batches from duckdb without a copy",
    "click": "the command line",
    "rich": "progress bars",
    "matplotlib": "`plot()`, `--plot`",
    "jinja2": "the page: `priori report`, `priori demo`",
    "starlette": "`priori app`; includes `report`",
    "uvicorn": "the server of the app",
    "python-multipart": "uploads to the app",
    "scikit-learn": "`priori.sklearn`",
    "pyspark": '`priori.scan(engine="spark")`',
    "pyarrow": "batches between Spark and its workers",
    "s3fs": '`priori.scan("s3://...")`',
}

#: How licences are called in metadata, and the names they are listed by. The first found in a text is taken.
LICENCES = {
    r"MIT-CMU|HPND": "MIT-CMU",
    r"Apache": "Apache-2.0",
    r"\bBSD": "BSD",
    r"\bMIT\b": "MIT",
    r"PSF|Python Software Foundation": "PSF-2.0",
    r"MPL|Mozilla": "MPL-2.0",
    r"\bISC\b": "ISC",
}


def licence_of(found: Distribution) -> str:
    """Return the licence that a distribution states, by the name it is listed by; its words where there is none."""
    stated = [found.metadata.get("License-Expression", "")]
    stated += [line for line in found.metadata.get_all("Classifier", []) if line.startswith("License ::")]
    stated.append(found.metadata.get("License", "").split("\n")[0])
    text = next(filter(None, stated), "")
    places = {name: match.start() for pattern, name in LICENCES.items() if (match := re.search(pattern, text))}
    return min(places, key=places.__getitem__) if places else text


def closure(name: str, extra: str = "") -> list[str]:
    """Return a distribution and all that it needs here, by their names."""
    found: list[str] = []
    waiting = [(canonicalize_name(name), extra)]
    while waiting:
        name, extra = waiting.pop(0)
        if name in found:
            continue
        found.append(name)
        for line in distribution(name).requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                waiting += [(canonicalize_name(needed.name), each) for each in needed.extras or ("",)]
    return found


def megabytes(name: str) -> float:
    """Return the size of an installed distribution."""
    files = [Path(str(file.locate())) for file in distribution(name).files or ()]
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def direct() -> dict[str, tuple[str, str]]:
    """Return the libraries that the project names: the extra that each belongs to, and the lowest version."""
    lines = [("", line) for line in PROJECT["dependencies"]]
    lines += [(extra, line) for extra, each in PROJECT["optional-dependencies"].items() for line in each]
    return {
        line.partition(">=")[0]: (extra, line.partition(">=")[2])
        for extra, line in lines
        if not line.startswith("priori[")
    }


def installed() -> dict[str, list[str]]:
    """Return the libraries that are here, each with those that it is the first to bring."""
    seen: set[str] = set()
    brought = {}
    for name in direct():
        try:
            needed = [each for each in closure(name) if each not in seen]
        except PackageNotFoundError:
            continue
        seen.update(needed)
        brought[name] = needed
    return brought


def licences() -> dict[str, list[str]]:
    """Return the names of all libraries that are here, by their licence."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in sorted({each for needed in installed().values() for each in needed}):
        found[licence_of(distribution(name))].append(name)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def tables() -> str:
    """Return the two tables of the page: libraries by extra, and licences."""
    brought, named = installed(), direct()
    sizes = {name: sum(map(megabytes, needed)) for name, needed in brought.items()}
    lines = ["| extra | library | lowest allowed, measured | MB | what it is for |", "| --- | --- | --- | ---: | --- |"]
    for name, (extra, lowest) in named.items():
        versions = f"{lowest} to {distribution(name).version}"
        shown = f"`{extra}` " if extra else ""
        lines.append(f"| {shown}| {name} | {versions} | {sizes[name]:.0f} | {PURPOSES[name]} |")
    base = sum(size for name, size in sizes.items() if not named[name][0])
    whole = base + sum(size for name, size in sizes.items() if named[name][0] in ("report", "app"))
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    lines += ["", f"`pip install priori` takes {base:.0f} MB and `priori[all]` {whole:.0f} MB ({python}, Linux)."]
    lines += ["", "| licence | libraries, with all that they need |", "| --- | --- |"]
    lines += [f"| {licence} | {', '.join(names)} |" for licence, names in licences().items()]
    return "\n".join(lines)


if __name__ == "__main__":
    start, end = MARKS
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(start)
    after = rest.partition(end)[2]
    PAGE.write_text(f"{before}{start}\n{tables()}\n{end}{after}", encoding="utf-8")
