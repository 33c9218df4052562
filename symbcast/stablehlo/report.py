"""The report on a StableHLO module, as users see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from symbcast.graphs.report.report import GraphReport
from symbcast.stablehlo.gaps import Asked, Gap, Hint, gaps_of, hints_of
from symbcast.stablehlo.node_call import ASSERTIONS, HINTED, UNASSERTED

if TYPE_CHECKING:
    from symbcast.answers.show.document import Document, Room
    from symbcast.stablehlo.node_call import HloWalker

_SHOWN = 2
"""How many gaps the answer in words shows."""


class HloReport(GraphReport):
    """The input sizes at which a function of a module runs, every shape in it, and the requirements of each node."""

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Where the module's assertions refuse sizes that would run, and where they let sizes pass that do not.

        The module is walked without its assertions, and for its assertions alone. Those about data are left out.

        >>> from symbcast.stablehlo import check
        >>> report = check('''
        ... func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
        ...   %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        ...   %two = stablehlo.constant dense<2> : tensor<i32>
        ...   %enough = stablehlo.compare GE, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
        ...   stablehlo.custom_call @shape_assertion(%enough) {error_message = "Expected value >= 2",
        ...       has_side_effect = true} : (tensor<i1>) -> ()
        ...   return %x : tensor<?xf32>
        ... }''')
        >>> (gap,) = report.gaps
        >>> gap.kind, gap.text, gap.sizes
        ('refuses', 'the module asserts it: Expected value >= 2', {'arg0_0': 1})
        """
        walked = [HloReport(self._checked.again(self._checked.given, runtime=r)) for r in (UNASSERTED, ASSERTIONS)]
        operations, assertions = (
            [Asked(f.operation, f.reason or f.words, f.formula) for f in r.findings] for r in walked
        )
        return tuple(gaps_of(walked[0]._checked, operations, walked[1]._checked, assertions))

    def _document(self, room: Room | None = None) -> Document:
        from symbcast.answers.show.document import field, fields, words

        found = super()._document(room)
        gaps = self.gaps if cast("HloWalker", self._checked.walk).is_asserting else ()
        if not gaps:
            return found
        told = [field("assertions" if not n else "", words(str(gap)), most=2) for n, gap in enumerate(gaps[:_SHOWN])]
        more = f"{len(gaps) - _SHOWN} more; .gaps has them all" if len(gaps) > _SHOWN else ""
        return found.replace(blocks=(*found.blocks, fields([*told, field("and", words(more), most=1)])))

    @property
    def hints(self) -> tuple[Hint, ...]:
        """The hints of dynamic broadcasts, each proven, refuted or open, and those that could be given.

        The module is walked for them once more.
        """
        return tuple(hints_of(self._checked.again(self._checked.given, runtime=HINTED)))
