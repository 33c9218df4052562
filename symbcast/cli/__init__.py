"""The command line."""

from symbcast.cli.app import main, run
from symbcast.cli.statuses import Exit

__all__ = ["Exit", "main", "run"]
