"""Declare simple operators as data: inputs, outputs and element types.

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

MICROSOFT, ML = "com.microsoft", "ai.onnx.ml"
FLOAT, BOOL = 1, 9

DType: TypeAlias = "int | str"
"""An element type: a number of ``TensorProto.DataType``, the name of an attribute, or an input as #n."""


class Declaration(NamedTuple):
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
    Declaration(
        """
        Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish
        LeakyRelu Log MeanVarianceNormalization Mish Neg Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh
        Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu
        """,
        "X -> X",
        content="each",
    ),
    Declaration("IsInf IsNaN Not", "X -> X", BOOL, content="each"),
    Declaration("BitCast", "X -> X", "to"),
    Declaration("Cast", "* -> *", "to", content="cast"),
    Declaration("CastLike", "*, T -> *", "#1", content="cast"),
    Declaration(
        "Add BitShift BitwiseAnd BitwiseOr BitwiseXor Div Mod Mul Pow Sub", "A, B -> broadcast", content="pairs"
    ),
    Declaration("And Equal Greater GreaterOrEqual Less LessOrEqual Or Xor", "A, B -> broadcast", BOOL, content="pairs"),
    Declaration(
        "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
        "ReduceSumSquare",
        "X -> reduced",
        content="whole",
    ),
    Declaration("Bernoulli RandomNormalLike RandomUniformLike", "X -> X", "dtype"),
    Declaration("EyeLike", "(N, M) -> (N, M)", "dtype"),
    Declaration("SwiGLU", "X, X -> X"),
    Declaration("Trilu", "(..., N, M), number? -> (..., N, M)"),
    Declaration("Det", "(..., N, N) -> (...)"),
    Declaration("Binarizer Imputer", "X -> X", domain=ML),
)
