"""Everything that the author of a broadcast rule needs: placements, laws, parameters, and the decorator `rule`.

A package registers its rules by an entry point in the group ``symbcast.rules``.
"""

from symbcast.core import rules as _own
from symbcast.core.rules import *  # noqa: F403

__all__ = _own.__all__
