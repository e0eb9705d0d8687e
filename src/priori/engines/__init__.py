"""Engines: a set of scores that stays in files, a database or a cluster, and is counted there."""

from priori.engines.engine_choice import ENGINES, scan
from priori.engines.table import Table
from priori.engines.table_scans import scan_table

__all__ = ["ENGINES", "Table", "scan", "scan_table"]
