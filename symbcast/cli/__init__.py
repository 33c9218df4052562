"""The command line."""

from symbcast.cli.app import main, run
from symbcast.cli.terminal import Exit

__all__ = ["Exit", "main", "run"]
