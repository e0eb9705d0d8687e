"""Libraries that Priori can do without: the error where one is asked for and missing."""

from __future__ import annotations

from importlib.util import find_spec

from priori.base.errors import PrioriError

#: What pip calls a library that is imported by another name.
PACKAGES = {"sklearn": "scikit-learn", "python_multipart": "python-multipart"}


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
    """Return the error for libraries that are not installed.

    Examples
    --------
    >>> str(missing("matplotlib"))
    'this needs matplotlib, which is not installed: pip install matplotlib'
    >>> str(missing("jinja2", "sklearn"))
    'this needs jinja2 and scikit-learn, which are not installed: pip install jinja2 scikit-learn'
    """
    packages = [PACKAGES.get(module, module) for module in modules]
    are = "is" if len(packages) == 1 else "are"
    return MissingExtraError(
        f"this needs {' and '.join(packages)}, which {are} not installed: pip install {' '.join(packages)}"
    )
