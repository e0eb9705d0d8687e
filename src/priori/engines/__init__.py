"""Engines: a set of scores that stays in files, a database or a cluster, and is counted there."""

from priori.engines.opening import ENGINES, scan, scan_table
from priori.engines.table import Table

__all__ = ["ENGINES", "Table", "scan", "scan_table"]
