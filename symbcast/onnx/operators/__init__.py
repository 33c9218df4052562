"""The operators that are known. Each module here offers its own; a new one is imported below."""

from symbcast.onnx.operators import attention as attention
from symbcast.onnx.operators import attention_contrib as attention_contrib
from symbcast.onnx.operators import classic as classic
from symbcast.onnx.operators import concatenation as concatenation
from symbcast.onnx.operators import constants as constants
from symbcast.onnx.operators import contrib as contrib
from symbcast.onnx.operators import control as control
from symbcast.onnx.operators import convolutions as convolutions
from symbcast.onnx.operators import declared as declared
from symbcast.onnx.operators import detection as detection
from symbcast.onnx.operators import elementwise as elementwise
from symbcast.onnx.operators import indices as indices
from symbcast.onnx.operators import layout as layout
from symbcast.onnx.operators import loops as loops
from symbcast.onnx.operators import matrices as matrices
from symbcast.onnx.operators import pads as pads
from symbcast.onnx.operators import pools as pools
from symbcast.onnx.operators import quantized as quantized
from symbcast.onnx.operators import quantized_matrices as quantized_matrices
from symbcast.onnx.operators import recurrent as recurrent
from symbcast.onnx.operators import reductions as reductions
from symbcast.onnx.operators import reshape as reshape
from symbcast.onnx.operators import resize as resize
from symbcast.onnx.operators import selection as selection
from symbcast.onnx.operators import signals as signals
from symbcast.onnx.operators import slices as slices
from symbcast.onnx.operators import texts as texts
from symbcast.onnx.registry import OPERATORS, Operator


def operators() -> dict[tuple[str, str], Operator]:
    """Return all operators by domain and name; the domain of ONNX itself is empty."""
    return OPERATORS
