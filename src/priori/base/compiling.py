"""Compiling: kernels that Python calls, functions that only kernels call, and kernels made for one rule each.

Importing this module imports numba: only modules of kernels do, when something is worth it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from types import FunctionType
from typing import Any

from numba import njit

from priori.base.linked import LinkingCompiler

_compile: Any = partial(njit, nogil=True, error_model="numpy", no_cfunc_wrapper=True)


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function, once on a machine; without the cache on disk where it is damaged, full or forbidden."""
    try:
        kernel = _compile(cache=True)(function)
    except RuntimeError:  # no directory for the cache
        return _without_gc(_compile()(function))
    # Numba has no public name for it, and takes a damaged file for a fault of the program.
    kept: Any = vars(kernel)["_cache"]
    load, save = kept.load_overload, kept.save_overload

    def load_or_forget(*key: Any) -> Any:
        try:
            return load(*key)
        except Exception:
            with suppress(OSError):
                kept.flush()
            return None

    def save_if_possible(*entry: Any) -> None:
        with suppress(OSError):
            save(*entry)

    kept.load_overload, kept.save_overload = load_or_forget, save_if_possible
    return _without_gc(kernel)


def _without_gc(kernel: Any) -> Any:
    """Let a kernel compile, or load, without Python's search for garbage: numba makes many objects, and keeps them."""
    compile_or_load = kernel.compile

    def compile_at_once(signature: Any) -> Any:
        searching = gc.isenabled()
        gc.disable()
        try:
            return compile_or_load(signature)
        finally:
            if searching:
                gc.enable()

    kernel.compile = compile_at_once
    return kernel


def inner(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call, as a part of these: much sooner than by itself."""
    kernel = _compile(no_cpython_wrapper=True, pipeline_class=LinkingCompiler)(function)

    def refuse(*arguments: Any) -> None:
        raise TypeError(f"{function.__name__} is for other kernels; call one that is compiled")

    # Numba would call it all the same, without an address: it must not find what was compiled.
    kernel._insert, kernel._compile_for_args = (lambda *overload: None), refuse
    return kernel


def by_rule(name: str, rules: Mapping[int, Any]) -> Callable[[Callable[..., Any]], Callable[[int], Any]]:
    """Make kernels of a function that calls a rule by a name: one for each rule, and none has the others in it.

    A kernel is compiled when it is asked for, by the number of its rule.
    """

    def make_kernels(function: Callable[..., Any]) -> Callable[[int], Any]:
        @cache
        def kernel(rule: Any) -> Any:
            own_name = f"{function.__name__}_{rule.__name__.lstrip('_')}"
            own = FunctionType(function.__code__, {**function.__globals__, name: rule}, own_name)
            own.__qualname__ = own_name  # what its file in the cache is called
            return compiled(own)

        return lambda number: kernel(rules[number])

    return make_kernels
