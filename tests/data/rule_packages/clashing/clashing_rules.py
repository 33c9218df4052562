"""A package whose rule takes a name of symbcast's own as an alias."""

from symbcast.broadcasting import Join, Rule


class Mine(Rule):
    name = "mine"
    family = "clashing-rules"
    aliases = ("pdpd",)
    summary = "as numpy"
    document = "the package clashing-rules"
    law = Join()
