"""Compiling: what kernels call is theirs alone, and no search for garbage interrupts the compiler."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from priori.base.compiling import _without_gc
from priori.uncertainty.bootstrap import streams
from random_numbers import uniforms_of


def test_inner_kernels_cannot_be_called_from_outside():
    """Nor when another kernel had them compiled: they have no address of their own."""
    uniforms_of(0, 1, 0, 1)
    for state in (np.zeros(1, np.uint64), [0]):
        with pytest.raises(TypeError, match="uniform is for other kernels"):
            streams.uniform(state)


def test_nothing_searches_for_garbage_while_a_kernel_compiles_and_then_it_does_again():
    class Kernel:
        def compile(self, signature):
            assert signature, "no types"
            return gc.isenabled()

    kernel = _without_gc(Kernel())
    assert not kernel.compile("int64")
    assert gc.isenabled()
    with pytest.raises(AssertionError, match="no types"):
        kernel.compile("")
    assert gc.isenabled()
