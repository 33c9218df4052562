"""A rule that a package adds: the first axes are batch axes, which match exactly; the others broadcast."""

from symbcast.broadcasting import EQUAL, EQUAL_RANKS, Equal, Join, Kind, Law, Parameter, Reason, Rule, SameRank, rule

BATCH = Reason("batched.batch", "batch sizes must be equal", EQUAL.remedies)


@rule
class Batched(Rule):
    """Two shapes of one rank; the first ``batch_axes`` of them must be equal, the others are joined."""

    batch_axes: int

    name = "batched"
    family = "batched-rules"
    aliases = ("batch-first",)
    parameters = (Parameter("batch_axes", 1, kind=Kind.INTEGER, summary="how many leading axes must be equal"),)
    summary = "the first batch_axes sizes are equal, the others are equal or 1"
    document = "the package batched-rules"
    own_reasons = (BATCH,)
    placement = SameRank(EQUAL_RANKS)
    law = Join()

    def law_at(self, axis: int, law: Law) -> Law:
        return Equal(BATCH) if axis < self.batch_axes else law
