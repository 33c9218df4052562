"""What ONNX Runtime does otherwise than the documents of ONNX, each difference by its name.

Operators ask with `NodeCall.does`. Each was seen with ONNX Runtime 1.32, in a run that `tests/data/onnx` keeps: without
the difference that run is answered wrongly (`tests/onnx/test_differences.py`).
"""

from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """Something that the runtime ``does``, where the ``document`` of some operators says something else."""

    operators: str
    does: str
    document: str
    runtime: str = "onnxruntime"


CONV_INTEGER_POINT = Difference(
    "ConvInteger",
    "takes one zero point for all weights",
    "one, or one for each output channel",
)
CONV_WINDOW_FITS = Difference(
    "Conv ConvInteger QLinearConv",
    "wants the window to fit into the padded axis",
    "the output has no positions where it does not",
)
CONV_SAME_PADDING = Difference(
    "Conv ConvInteger QLinearConv",
    "finds no padding for windows with gaps, nor for an empty axis",
    "finds it for all",
)
CONV_TRANSPOSE_EXTRA = Difference(
    "ConvTranspose",
    "wants output_padding below the stride, and an element to add it to",
    "asks neither",
)
CONV_TRANSPOSE_SHAPE = Difference(
    "ConvTranspose",
    "wants an element for each window in the output_shape that is asked for",
    "any output_shape will do",
)
CONV_TRANSPOSE_SAME = Difference(
    "ConvTranspose",
    "puts no padding below 0: a window that does not reach ends the output",
    "the output is the input times the strides",
)
CONV_TRANSPOSE_EMPTY = Difference(
    "ConvTranspose",
    "refuses an empty output",
    "an output may be empty",
)
DEFORM_CONV_POSITIONS = Difference(
    "DeformConv",
    "divides towards zero: a window somewhat too large has a position",
    "rounds down",
)
DEFORM_CONV_EMPTY = Difference(
    "DeformConv",
    "refuses no output channels, and an input of no elements",
    "asks neither",
)
COL2IM_BLOCK_FITS = Difference(
    "Col2Im",
    "wants the block to fit into the padded image",
    "there are no columns where it does not",
)
COL2IM_EMPTY = Difference(
    "Col2Im",
    "refuses no rows",
    "there may be no channels",
)
SQUEEZE_NO_AXES = Difference(
    "Squeeze",
    "takes an empty list of axes for none given",
    "nothing is taken out",
)
RESIZE_MODES = Difference(
    "Resize Upsample",
    "has kernels for some modes and ranks alone",
    "asks nothing of the rank",
)
RESIZE_CROP = Difference(
    "Resize",
    "multiplies the whole axis by its scale, where a region is cut out",
    "multiplies the region",
)
RESIZE_SIZES = Difference(
    "Resize",
    "refuses a size of 0 for an axis that has elements",
    "a size may be 0",
)
GRID_SAMPLE_RANKS = Difference(
    "GridSample",
    "samples images and volumes that are not empty",
    "asks nothing of the rank",
)
AFFINE_GRID_EMPTY = Difference(
    "AffineGrid",
    "refuses an empty grid",
    "a grid may be empty",
)
CONCAT_EMPTY = Difference(
    "Concat ConcatFromSequence",
    "does not look at tensors that hold nothing",
    "their sizes off the axis must be equal too",
)
NON_ZERO_SCALAR = Difference(
    "NonZero",
    "takes a scalar for a tensor of one axis",
    "the indices of a scalar have no axis",
)
ONE_HOT_DEPTH = Difference(
    "OneHot",
    "refuses a depth of 0",
    "there may be no classes",
)
POOL_INPUT = Difference(
    "MaxPool AveragePool LpPool",
    "refuses padding as wide as the window, and an input that is empty but for its batch",
    "asks neither",
)
POOL_SAME_PADDING = Difference(
    "MaxPool AveragePool LpPool",
    "finds the padding of a window without gaps, and some kernels refuse it below 0",
    "as many positions as the padding gives",
)
POOL_POSITIONS = Difference(
    "MaxPool AveragePool LpPool",
    "divides towards zero: a window somewhat too large has a position",
    "rounds down",
)
GLOBAL_POOL_EMPTY = Difference(
    "GlobalAveragePool GlobalMaxPool GlobalLpPool",
    "refuses an input that is empty but for its batch",
    "asks nothing",
)
UNPOOL_PADDING = Difference(
    "MaxUnpool",
    "refuses padding as wide as the window",
    "asks nothing",
)
UNPOOL_SHAPE = Difference(
    "MaxUnpool",
    "wants an output_shape as large as the pool's input at least",
    "any output_shape will do",
)
UNPOOL_EMPTY = Difference(
    "MaxUnpool",
    "refuses an empty output",
    "an output may be empty",
)
ROW_POINTS = Difference(
    "MatMulInteger QLinearMatMul",
    "takes one scale and zero point for all rows",
    "one, or one for each row",
)
COLUMN_POINTS = Difference(
    "MatMulInteger QLinearMatMul",
    "takes a line of scales for the columns of a matrix alone",
    "of a stack of matrices too",
)
DFT_HALF = Difference(
    "DFT",
    "gives half the frequencies of complex numbers too",
    "of real ones alone",
)
DFT_EMPTY = Difference(
    "DFT",
    "transforms a signal of length 0",
    "the length must be positive",
)
STFT_REAL = Difference(
    "STFT",
    "takes a real signal without an axis for its parts",
    "there is an axis of 1",
)
RECURRENT_LAYOUT = Difference(
    "RNN GRU LSTM",
    "has no kernel for layout 1",
    "the batch comes first then",
)
RECURRENT_EMPTY = Difference(
    "GRU LSTM",
    "ends the process where inputs are empty",
    "asks nothing",
)
RECURRENT_HIDDEN_SIZE = Difference(
    "RNN GRU LSTM",
    "needs the attribute hidden_size",
    "it may be left out",
)
ARG_EMPTY = Difference(
    "ArgMax ArgMin",
    "searches an empty axis where another axis is empty too",
    "an axis to search is not empty",
)
LAYER_NORM_EMPTY = Difference(
    "LayerNormalization RMSNormalization SimplifiedLayerNormalization",
    "refuses empty axes to normalise over",
    "asks nothing",
)
GROUP_NORM_FUNCTION = Difference(
    "GroupNormalization",
    "runs its definition by other operators, which broadcasts",
    "scale and bias have one number for each channel",
)
GATHER_ND_EMPTY = Difference(
    "GatherND",
    "does not look at indices of slices that hold nothing",
    "each index is within its axis",
)
RESHAPE_BESIDE_ZERO = Difference(
    "Reshape",
    "leaves sizes of 0 out of both products to work out a -1, with allowzero",
    "a -1 beside a 0 is an error",
)
NMS_THRESHOLDS = Difference(
    "NonMaxSuppression",
    "takes the first of several thresholds",
    "a threshold is one number",
)
ATTENTION_EMPTY = Difference(
    "Attention",
    "refuses Q, K and V that are empty",
    "asks nothing",
)
ATTENTION_MASK = Difference(
    "Attention",
    "broadcasts the mask over batch and heads alone",
    "a mask is broadcast onto the scores",
)
ATTENTION_HEADS = Difference(
    "Attention",
    "does not look at numbers of heads below 0 beside Q, K and V of four axes, before opset 25",
    "these are the heads that Q, K and V have",
)
ATTENTION_SCALE = Difference(
    "Attention",
    "wants a scale above 0, before opset 25",
    "asks nothing",
)
ROTARY_CACHE = Difference(
    "RotaryEmbedding",
    "refuses a sequence longer than the caches, beside position_ids too",
    "position_ids may name a position more than once",
)
INSTANCE_NORM_AXES = Difference(
    "InstanceNormalization",
    "wants an axis after batch and channels",
    "asks for a batch and channels",
)
LRN_IMAGES = Difference(
    "LRN",
    "normalises images alone, over an odd number of channels",
    "asks for a batch and channels",
)
MEL_EDGES = Difference(
    "MelWeightMatrix",
    "wants both edges to be among the frequencies",
    "asks nothing",
)
GATHER_ND_BATCHES = Difference(
    "GatherND",
    "wants as many indices for each of the batch, whatever their axes",
    "the sizes of the batch are equal",
)
LOSS_FUNCTION = Difference(
    "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
    "runs its definition by other operators, which gathers",
    "there is a weight for each class, and a target for each place",
)
SOFTMAX_AXIS = Difference(
    "Softmax LogSoftmax Hardmax",
    "refuses an axis at the end of the shape",
    "before opset 11 the shape may be cut there",
)
DIVISION_BY_ZERO = Difference(
    "Div Mod",
    "refuses to divide integers by 0",
    "leaves open what comes of it",
)
PRELU_BOTH_WAYS = Difference(
    "PRelu",
    "broadcasts slope and data both ways",
    "the slope is broadcast onto the data",
)
FLOAT_SCALES = Difference(
    "Resize Upsample",
    "multiplies by scales that are rounded to 32 bits",
    "by the numbers as they are written",
)
FLOAT_RATIO = Difference(
    "Resize",
    "finds the ratio that axes keep, and what it makes of them, in 32-bit floats",
    "the ratio is exact",
)
LOOP_NO_TURNS = Difference(
    "Loop",
    "gives outputs of other sizes where there is no turn",
    "they have the sizes of one turn",
)
SCAN_EMPTY = Difference(
    "Scan",
    "refuses to scan nothing",
    "there may be no turns",
)
FEATURES_FROM_FRONT = Difference(
    "ArrayFeatureExtractor",
    "wants an index, and none below 0",
    "an index may be counted from the end",
)
SCAN_DECLARED = Difference(
    "Scan",
    "wants what the body's outputs hold to have the sizes that it declares",
    "a declared size decides nothing",
)
SCAN_STATES = Difference(
    "Scan",
    "lets a state change its shape once, where that is inferred in numbers",
    "a state keeps its shape",
)
SKIP_NORM_EMPTY = Difference(
    "SkipLayerNormalization SkipSimplifiedLayerNormalization",
    "refuses an empty last axis",
    "asks nothing",
)
SKIP_NORM_BATCH = Difference(
    "SkipLayerNormalization SkipSimplifiedLayerNormalization",
    "does not look at the batch of skip",
    "it is that of the input, or 1",
)
PAD_NUMBER = Difference(
    "Pad",
    "refuses a number without an axis",
    "there is nothing to pad then",
)
SPLIT_TO_SEQUENCE_KEEPDIMS = Difference(
    "SplitToSequence",
    "leaves the axis out where keepdims is 0 and split is one number: the parts must be 1 long",
    "keepdims is ignored where split is given",
)
SEQUENCE_MAP_LENGTHS = Difference(
    "SequenceMap",
    "takes further sequences that are longer than the first one",
    "all sequences have as many tensors",
)
PAD_ELEMENTS = Difference(
    "Pad",
    "wants elements on axes that are not padded too, and takes more away than there is where as much is put",
    "asks it of padded axes alone",
)
SLICE_GREATEST_END = Difference(
    "Slice",
    "takes the greatest integer of 32 or 64 bits as an end for the whole axis, in negative steps too",
    "in negative steps the least integer does so: the greatest is the last element, which leaves nothing",
)
DECODER_BUFFER = Difference(
    "DecoderMaskedMultiHeadAttention",
    "needs caches that are updated in place, on the processor",
    "they may grow",
)
EXPERTS_LAYERS = Difference(
    "MoE",
    "has no third layer, and a gate only in the first weights, on the processor",
    "an expert may have them",
)
CENTER_CROP_SIZES = Difference(
    "CenterCropPad",
    "takes a size below 0 for 0",
    "a size is not negative",
)
LINEAR_BLOCKS = Difference(
    "QuantizeLinear DequantizeLinear",
    "has no blocks for a scale of one axis with one number",
    "one block will do",
)


def named() -> dict[str, Difference]:
    """Return every difference by name."""
    return {name: value for name, value in globals().items() if isinstance(value, Difference)}
