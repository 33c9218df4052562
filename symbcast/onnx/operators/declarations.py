"""The table of ONNX operators, and simple operators declared as data: inputs, outputs and element types.

A signature lists the inputs and then, after an arrow, the output:

    X                any shape; equal names mean equal shapes; "*" is a shape that need not be known
    (N, C, ...)      named sizes; equal names mean equal sizes; "..." is any number of axes
    (N, 2*C, @heads) sums of products of names, numbers and attributes, and "rest", the product of the axes under "...";
                     one name in a product may be new: it is the size divided by the other factors
    (N|1)            either size
    (1<=N)           a size that is at least 1
    number           one number, a scalar or a vector of length 1
    input?           an optional input
    -> X             the shape, or the named sizes, of the inputs
    -> X, (M)        several outputs; a name that no input has is a new size
    -> broadcast     the inputs broadcast together, by the operator's version
    -> reduced       the first input reduced over the axes that attributes and inputs give

To add such an operator, add a line here, and a row to the recorded runs in `tests/onnx`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from symbcast.core.algebra.formulas import Formula
from symbcast.graphs.front_end import OperatorTable
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.operators.values.contents import BOOL, INT32

# The table of ONNX operators; those that ONNX Runtime adds have their own domains.


MICROSOFT = "com.microsoft"
"""The domain of the operators that ONNX Runtime adds, and that its optimiser puts into models."""

OPERATORS: OperatorTable[NodeCall] = OperatorTable()
operator = OPERATORS.offer


ML = "ai.onnx.ml"


class RuntimeDifference(NamedTuple):
    """What the runtime ``does``, where the ``document`` of some operators says something else.

    A constant next to the operator holds it, and the operator asks for it with `NodeCall.does`. Each was seen with ONNX
    Runtime 1.32 in a run recorded in `tests/data/onnx`; without the difference, that run gets a wrong answer
    (`tests/onnx/test_differences.py`).
    """

    operators: str
    does: str
    document: str
    runtime: str = "onnxruntime"


CRASHES = RuntimeDifference(
    "Conv DecoderMaskedMultiHeadAttention DynamicQuantizeLSTM FeatureVectorizer GRU Inverse LSTM MultiHeadAttention"
    " QAttention QLinearLeakyRelu QLinearSigmoid STFT SkipLayerNormalization SkipSimplifiedLayerNormalization Unique",
    "ends the process on some sizes, most of them 0",
    "an operator runs, or refuses its inputs",
)


def crashes(call: NodeCall, unless: Formula, where: str) -> None:
    """Require a formula that ONNX Runtime does not check: its process ends where it does not hold (seen with 1.32)."""
    if call.does(CRASHES):
        call.require(unless, f"the runtime crashes here: {where}")


DType: TypeAlias = "int | str"
"""An element type: a number of ``TensorProto.DataType``, the name of an attribute, or an input as #n."""


class OperatorDeclaration(NamedTuple):
    """Operators that share a signature.

    Attributes:
        operators: their names.
        signature: the shapes of the inputs and outputs.
        dtype: the element type of the output.
        axis: the default of the attribute ``axis``, which must be an axis of the first input; None if there is none.
        content: how known elements are computed: from ``each``, from ``pairs``, or not at all.
        domain: the domain of their names.
        note: a note about unchecked conditions, if any.
    """

    operators: str
    signature: str
    dtype: DType = "#0"
    axis: int | None = None
    content: str = ""
    domain: str = ""
    note: str = ""


DECLARATIONS = (
    OperatorDeclaration(
        """
        Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish
        LeakyRelu Log MeanVarianceNormalization Mish Neg Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh
        Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu
        """,
        "X -> X",
        content="each",
    ),
    OperatorDeclaration("IsInf IsNaN Not", "X -> X", BOOL, content="each"),
    OperatorDeclaration("BitCast", "X -> X", "to"),
    OperatorDeclaration("Cast", "* -> *", "to", content="cast"),
    OperatorDeclaration("CastLike", "*, T -> *", "#1", content="cast"),
    OperatorDeclaration(
        "Add BitShift BitwiseAnd BitwiseOr BitwiseXor Div Mod Mul Pow Sub", "A, B -> broadcast", content="pairs"
    ),
    OperatorDeclaration(
        "And Equal Greater GreaterOrEqual Less LessOrEqual Or Xor", "A, B -> broadcast", BOOL, content="pairs"
    ),
    OperatorDeclaration(
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
        "ReduceSumSquare",
        "X -> reduced",
        content="whole",
    ),
    OperatorDeclaration("Bernoulli RandomNormalLike RandomUniformLike", "X -> X", "dtype"),
    OperatorDeclaration("EyeLike", "(N, M) -> (N, M)", "dtype"),
    OperatorDeclaration("SwiGLU", "X, X -> X"),
    OperatorDeclaration("Trilu", "(..., N, M), number? -> (..., N, M)"),
    OperatorDeclaration("Det", "(..., N, N) -> (...)"),
    OperatorDeclaration("Binarizer Imputer", "X -> X", domain=ML),
)


# Declare operators of Microsoft's domain as data, in the language of `symbcast.onnx.operators.declarations`.
#
# Operators with CPU kernels in ONNX Runtime are tested against recorded runs; the others follow ContribOperators.md.


_HIDDEN = "@num_heads*D"

CONTRIB_DECLARATIONS = tuple(
    declaration._replace(domain=MICROSOFT)
    for declaration in (
        OperatorDeclaration("Gelu QuickGelu SampleOp", "X -> X"),
        OperatorDeclaration("MurmurHash3", "X -> X", INT32),
        OperatorDeclaration("Trilu", "(..., N, M), number? -> (..., N, M)"),
        OperatorDeclaration("BiasGelu FastGelu", "(..., C), (C)? -> (..., C)"),
        OperatorDeclaration("Inverse", "(..., N, N) -> (..., N, N)"),
        OperatorDeclaration("CDist", "(M, 1<=N), (K, N) -> (M, K)"),
        OperatorDeclaration("TorchEmbedding", "(N, M), (...), number?, number? -> (..., M)"),
        OperatorDeclaration("BiasSoftmax", "X, * -> X", note="not checked: the shape of the bias"),
        OperatorDeclaration(
            "BiasDropout", "X, *, X?, number?, number? -> X, X", note="not checked: the shape of the bias"
        ),
        OperatorDeclaration("Unique", "(N) -> (unique), (N), (unique)"),
        # Quantized data in a device-specific memory order.
        OperatorDeclaration("QuantizeWithOrder DequantizeWithOrder", "X, number -> X"),
        OperatorDeclaration("QOrderedGelu", "X, number, number -> X"),
        OperatorDeclaration("QOrderedLayerNormalization", "(..., C), number, (C), (C)?, number -> (..., C)"),
        OperatorDeclaration(
            "QOrderedMatMul",
            "(..., M, K), number, (K, N), *, number, (N)?, *?, number? -> (..., M, N)",
            note="not checked: the shapes of C and of B's scale",
        ),
        OperatorDeclaration(
            "QOrderedAttention",
            "(B, S, I), number, number, number, number, (I, H), (I, H), (I, H), *, *, *, (H), (H), (H), number?,"
            " number?, number, *?, *?, *? -> (B, S, H)",
            note="not checked: the shapes of the scales, the mask and the added scores",
        ),
        # Attention without padding, and windowed attention.
        OperatorDeclaration("RemovePadding", "(B, S, H), (B) -> (tokens, H), (B, S), (B+1), (1)"),
        OperatorDeclaration("RestorePadding", "(T, H), (B, S) -> (B, S, H)"),
        OperatorDeclaration(
            "LongformerAttention",
            f"(B, S, {_HIDDEN}), ({_HIDDEN}, 3*{_HIDDEN}), (3*{_HIDDEN}), (B, S), ({_HIDDEN}, 3*{_HIDDEN}),"
            f" (3*{_HIDDEN}), (B, S) -> (B, S, {_HIDDEN})",
            note="not checked: the length must be a multiple of the window",
        ),
        OperatorDeclaration(
            "DecoderAttention",
            f"(S, B, {_HIDDEN}), (T, B, {_HIDDEN}), ({_HIDDEN}, {_HIDDEN}), ({_HIDDEN}, 2*{_HIDDEN}), (3*{_HIDDEN}),"
            " *?, (B, @num_heads, P, D)?, (B, @num_heads, P, D)?, number, number, number, number"
            f" -> (S, B, {_HIDDEN}), (B, @num_heads, keys, D), (B, @num_heads, keys, D)",
            note="not checked: the shapes of the mask and the caches",
        ),
        OperatorDeclaration(
            "GemmaRotaryEmbedding",
            "(B, S, D), (B, N, S, D), (B, N, S, D), (B, N, S, D), (B, N, S, D) -> (B, N, S, D), (B, N, S, D)",
            "#1",
        ),
    )
)
