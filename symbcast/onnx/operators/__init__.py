"""The operators that are known. Each module here offers its own; a new one is imported below."""

from symbcast.onnx.operators import attention as attention
from symbcast.onnx.operators import attention_contrib as attention_contrib
from symbcast.onnx.operators import classic as classic
from symbcast.onnx.operators import contrib as contrib
from symbcast.onnx.operators import control as control
from symbcast.onnx.operators import convolving as convolving
from symbcast.onnx.operators import declared as declared
from symbcast.onnx.operators import detecting as detecting
from symbcast.onnx.operators import elementwise as elementwise
from symbcast.onnx.operators import indexing as indexing
from symbcast.onnx.operators import joining as joining
from symbcast.onnx.operators import loops as loops
from symbcast.onnx.operators import making as making
from symbcast.onnx.operators import matrices as matrices
from symbcast.onnx.operators import padding as padding
from symbcast.onnx.operators import pooling as pooling
from symbcast.onnx.operators import quantized as quantized
from symbcast.onnx.operators import quantized_matrices as quantized_matrices
from symbcast.onnx.operators import recurrent as recurrent
from symbcast.onnx.operators import reducing as reducing
from symbcast.onnx.operators import resampling as resampling
from symbcast.onnx.operators import reshaping as reshaping
from symbcast.onnx.operators import selecting as selecting
from symbcast.onnx.operators import shaping as shaping
from symbcast.onnx.operators import signals as signals
from symbcast.onnx.operators import slicing as slicing
from symbcast.onnx.operators import texts as texts
from symbcast.onnx.registry import OPERATORS, Operator


def operators() -> dict[tuple[str, str], Operator]:
    """Return all operators by domain and name; the domain of ONNX itself is empty."""
    return OPERATORS
