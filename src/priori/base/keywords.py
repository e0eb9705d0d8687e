"""Keywords: a call with an argument that a public function does not have is told the nearest one that it has."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def keywords(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Return the function; a wrong keyword names it and the nearest right one. A right call costs nothing more.

    Examples
    --------
    >>> import priori
    >>> priori.choose_threshold(None, crit="eer")
    Traceback (most recent call last):
    TypeError: choose_threshold() has no argument 'crit'; did you mean 'criterion'?
    """
    better = _better

    def call(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:  # the call itself was wrong
                raise better(function, set(kwargs), error) from None
            raise

    # With the globals of the function doctest finds its examples: it takes a function to be of the module it has.
    assert isinstance(call, FunctionType)
    assert isinstance(function, FunctionType)
    checked = FunctionType(call.__code__, function.__globals__, function.__name__, None, call.__closure__)
    return update_wrapper(checked, function)


def _better(function: Callable[..., object], given: set[str], error: TypeError) -> TypeError:
    """Return the error that says which keyword is wrong, or the error as it is."""
    import inspect
    from difflib import get_close_matches

    names = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    wrong = sorted(given - set(names))
    if not wrong:
        return error
    part = wrong[0].rstrip("s")
    near = [name for name in names if part and part in name] or get_close_matches(wrong[0], names, 1, 0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"it has: {', '.join(names)}"
    return TypeError(f"{function.__name__}() has no argument {wrong[0]!r}; {hint}")
