"""The report on a StableHLO module, as users see it."""

from __future__ import annotations

from symbcast.graphs.report.report import GraphReport
from symbcast.stablehlo.gaps import Gap, Hint, gaps_of, hints_of
from symbcast.stablehlo.node_call import UNASSERTED


class HloReport(GraphReport):
    """The input sizes at which a function of a module runs, every shape in it, and the requirements of each node."""

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Where the module's assertions refuse sizes that would run, and where they let sizes pass that do not.

        The module is walked once more, without its assertions. Assertions about data are left out.

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
        other = self._checked.again(self._checked.given, runtime=UNASSERTED)
        findings = ((f.operation, f.words, f.formula) for f in HloReport(other).findings)
        return tuple(gaps_of(other, findings))

    @property
    def hints(self) -> tuple[Hint, ...]:
        """The hints of dynamic broadcasts, each proven, refuted or open, and those that could be given."""
        return tuple(hints_of(self._checked))
