"""Options that several commands share, with their help."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from cyclopts import Parameter

from symbcast.cli.output import Format

AGAIN = Parameter(consume_multiple=False, negative=())
"""An option that may be given again, with one value each time."""

RuleName: TypeAlias = Annotated[str, Parameter(help="The rule to broadcast by; see `symbcast rules`.")]
Assumed: TypeAlias = Annotated[
    list[str] | None, AGAIN, Parameter(help='What is known of the sizes, such as "N >= 2"; may be given again.')
]
MinSize: TypeAlias = Annotated[int, Parameter(help="The least size of every symbol.")]
TextOrJson: TypeAlias = Annotated[Format, Parameter(help="Text to read, or JSON.")]
