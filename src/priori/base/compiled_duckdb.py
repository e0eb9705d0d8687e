"""duckdb, imported while signals wait: a signal in the middle of loading its compiled parts would crash it."""

from __future__ import annotations

from priori.base.signals import held_back

with held_back():
    import duckdb

__all__ = ["duckdb"]
