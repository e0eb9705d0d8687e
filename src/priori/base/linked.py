"""Linked code: what only kernels call is compiled as a part of them, neither optimised nor made executable by itself.

Numba does all of it for every function, then again for each one that calls it. This reaches into numba, which has no
public name for it; of versions that were not tried the usual way is taken, which is only slower.
"""

from __future__ import annotations

from typing import Any

from numba import version_info
from numba.core import codegen, compiler

#: Versions of numba, from the first to before the second, that link so.
TRIED = (0, 60), (0, 69)

_Library: Any = codegen.JITCodeLibrary
_Usual: Any = compiler.Compiler


class LinkedLibrary(_Library):  # type: ignore[misc]
    """The code of one function: it waits for the kernels that it is linked into."""

    def _optimize_final_module(self) -> None:
        """Leave it to the kernel."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return no address: it has none."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Return itself: nothing but the environment is asked of it."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Keep no Python objects: kernels use none."""


class LinkingCompiler(_Usual):  # type: ignore[misc]
    """Numba's compiler, into a linked library."""

    def define_pipelines(self) -> Any:
        """Begin with the library; the rest is as usual."""
        if TRIED[0] <= version_info.short < TRIED[1]:
            state = self.state
            state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()
