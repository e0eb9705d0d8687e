"""Optional libraries: the error where one is needed and missing."""

from __future__ import annotations

from importlib.util import find_spec

from priori.base.errors import PrioriError

#: What pip calls a library that is imported under another name.
PACKAGES = {"sklearn": "scikit-learn", "python_multipart": "python-multipart"}
#: The extras of the package, and what works without them; one that includes another stands behind it.
EXTRAS = {
    "report": (("jinja2", "matplotlib"), "tables, CSV and JSON work without"),
    "app": (("starlette", "uvicorn", "python_multipart"), "the other commands work without"),
    "sklearn": (("sklearn",), "arrays of scores work without"),
    "spark": (("pyspark", "pyarrow"), "the duckdb engine works without"),
}


class MissingExtraError(PrioriError, ImportError):
    """A library that is not installed is needed for what was asked."""


def require(*modules: str) -> None:
    """Raise an error that says what to install, where any of these libraries is missing.

    Examples
    --------
    >>> require("numpy")
    """
    absent = [module for module in modules if find_spec(module) is None]
    if absent:
        raise missing(*absent)


def missing(*modules: str) -> MissingExtraError:
    """Return the error for libraries that are not installed, with what works without them.

    Examples
    --------
    >>> str(missing("pandas"))
    'this needs pandas, which is not installed: pip install pandas'
    >>> str(missing("jinja2", "matplotlib"))  # doctest: +NORMALIZE_WHITESPACE
    "this needs jinja2 and matplotlib, which are not installed: pip install 'priori[report]'; tables, CSV and JSON
    work without"
    """
    packages = [PACKAGES.get(module, module) for module in modules]
    remedy, instead = " ".join(packages), ""
    for extra, (libraries, works) in EXTRAS.items():
        if not set(libraries).isdisjoint(modules):
            remedy, instead = f"'priori[{extra}]'", f"; {works}"
    *first, last = packages
    listed = f"{', '.join(first)} and {last}" if first else last
    are = "are" if first else "is"
    return MissingExtraError(f"this needs {listed}, which {are} not installed: pip install {remedy}{instead}")
