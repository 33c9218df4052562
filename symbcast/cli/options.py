"""Options that several commands share, with their help."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from cyclopts import Parameter

from symbcast.cli.output import Format

AGAIN = Parameter(consume_multiple=False, negative=())
"""An option that may be repeated, with one value each time."""

RuleName: TypeAlias = Annotated[str, Parameter(help="The rule to broadcast by; see `symbcast rules`.")]
Assumed: TypeAlias = Annotated[
    list[str] | None, AGAIN, Parameter(help='An assumption about the sizes, such as "N >= 2"; may be repeated.')
]
MinSize: TypeAlias = Annotated[int, Parameter(help="The minimum size of every symbol.")]
TextOrJson: TypeAlias = Annotated[Format, Parameter(help="Text to read, or JSON.")]
