"""Libraries that Priori can do without: which extra installs each, and the error where one is asked for and missing."""

from __future__ import annotations

import importlib

from priori.base.errors import PrioriError

#: The extra of pyproject.toml that installs each library.
EXTRAS = {
    "matplotlib": "report", "jinja2": "report", "starlette": "app", "uvicorn": "app", "python_multipart": "app",
    "sklearn": "sklearn", "pyspark": "spark",
}  # fmt: skip


class MissingExtraError(PrioriError, ImportError):
    """A library that is not installed is needed for what was asked."""


def require(*modules: str) -> None:
    """Raise an error that says what to install, where one of these libraries is missing.

    Examples
    --------
    >>> require("numpy")
    """
    for module in modules:
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise missing(module) from None


def missing(module: str) -> MissingExtraError:
    """Return the error for a library that is not installed.

    Examples
    --------
    >>> str(missing("jinja2"))
    "this needs jinja2, which is not installed: pip install 'priori[report]'"
    """
    extra = EXTRAS.get(module)
    what = f"'priori[{extra}]'" if extra else module
    return MissingExtraError(f"this needs {module}, which is not installed: pip install {what}")
