"""Engines: the same counts from tables that do not fit in memory, or live in a cluster."""

from priori.engines.engine_choice import ENGINES, scan
from priori.engines.table import Table

__all__ = ["ENGINES", "Table", "scan"]
