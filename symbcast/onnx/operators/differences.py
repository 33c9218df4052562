"""Differences between ONNX Runtime and the ONNX documents, by name.

Operators query them with `NodeCall.does`. Each was seen with ONNX Runtime 1.32 in a run recorded in `tests/data/onnx`;
without the difference, that run gets a wrong answer (`tests/onnx/test_differences.py`).
"""

from __future__ import annotations

from typing import NamedTuple

from symbcast.core.algebra.formulas import Formula
from symbcast.graphs.walking.node_call import NodeCall


class RuntimeDifference(NamedTuple):
    """What the runtime ``does``, where the ``document`` of some operators says something else."""

    operators: str
    does: str
    document: str
    runtime: str = "onnxruntime"


CONV_INTEGER_POINT = RuntimeDifference(
    "ConvInteger",
    "accepts only one zero point for all weights",
    "one, or one for each output channel",
)
CONV_EMPTY_WINDOW = RuntimeDifference(
    "ConvInteger QLinearConv",
    "accepts a window of size 0",
    "a window is not empty",
)
CONV_WINDOW_FITS = RuntimeDifference(
    "Conv ConvInteger QLinearConv",
    "requires the window to fit into the padded axis",
    "otherwise the output has no positions",
)
CONV_SAME_PADDING = RuntimeDifference(
    "Conv ConvInteger QLinearConv",
    "finds no padding for windows with gaps, nor for an empty axis",
    "finds it for all",
)
CONV_TRANSPOSE_EXTRA = RuntimeDifference(
    "ConvTranspose",
    "requires output_padding below the stride, and an element to add it to",
    "requires neither",
)
CONV_TRANSPOSE_SHAPE = RuntimeDifference(
    "ConvTranspose",
    "requires an element for each window in the requested output_shape",
    "any output_shape works",
)
CONV_TRANSPOSE_SAME = RuntimeDifference(
    "ConvTranspose",
    "uses no negative padding: a window that does not reach ends the output",
    "the output is the input times the strides",
)
CONV_TRANSPOSE_EMPTY = RuntimeDifference(
    "ConvTranspose",
    "refuses an empty output",
    "an output may be empty",
)
DEFORM_CONV_POSITIONS = RuntimeDifference(
    "DeformConv",
    "divides towards zero: a window somewhat too large has a position",
    "rounds down",
)
DEFORM_CONV_EMPTY = RuntimeDifference(
    "DeformConv",
    "refuses no output channels, and an input of no elements",
    "requires neither",
)
COL2IM_BLOCK_FITS = RuntimeDifference(
    "Col2Im",
    "requires the block to fit into the padded image",
    "otherwise there are no columns",
)
COL2IM_EMPTY = RuntimeDifference(
    "Col2Im",
    "refuses no rows",
    "there may be no channels",
)
SQUEEZE_NO_AXES = RuntimeDifference(
    "Squeeze",
    "treats an empty list of axes as none given",
    "no axis is removed",
)
RESIZE_MODES = RuntimeDifference(
    "Resize Upsample",
    "has kernels for some modes and ranks only",
    "requires nothing of the rank",
)
RESIZE_CROP = RuntimeDifference(
    "Resize",
    "multiplies the whole axis by its scale, where a region is cut out",
    "multiplies the region",
)
RESIZE_SIZES = RuntimeDifference(
    "Resize",
    "refuses a size of 0 for an axis that has elements",
    "a size may be 0",
)
GRID_SAMPLE_RANKS = RuntimeDifference(
    "GridSample",
    "samples images and volumes that are not empty",
    "requires nothing of the rank",
)
AFFINE_GRID_EMPTY = RuntimeDifference(
    "AffineGrid",
    "refuses an empty grid",
    "a grid may be empty",
)
CONCAT_EMPTY = RuntimeDifference(
    "Concat ConcatFromSequence",
    "ignores empty tensors",
    "their sizes on the other axes must be equal too",
)
NON_ZERO_SCALAR = RuntimeDifference(
    "NonZero",
    "treats a scalar as a tensor of one axis",
    "the indices of a scalar have no axis",
)
ONE_HOT_DEPTH = RuntimeDifference(
    "OneHot",
    "refuses a depth of 0",
    "there may be no classes",
)
POOL_INPUT = RuntimeDifference(
    "MaxPool AveragePool LpPool",
    "refuses padding as wide as the window, and an input that is empty but for its batch",
    "requires neither",
)
POOL_SAME_PADDING = RuntimeDifference(
    "MaxPool AveragePool LpPool",
    "computes the padding of an undilated window, and some kernels refuse negative padding",
    "as many positions as the padding gives",
)
POOL_POSITIONS = RuntimeDifference(
    "MaxPool AveragePool LpPool",
    "divides towards zero: a window somewhat too large has a position",
    "rounds down",
)
GLOBAL_POOL_EMPTY = RuntimeDifference(
    "GlobalAveragePool GlobalMaxPool GlobalLpPool",
    "refuses an input that is empty but for its batch",
    "requires nothing",
)
UNPOOL_PADDING = RuntimeDifference(
    "MaxUnpool",
    "refuses padding as wide as the window",
    "requires nothing",
)
UNPOOL_SHAPE = RuntimeDifference(
    "MaxUnpool",
    "requires an output_shape at least as large as the pool's input",
    "any output_shape works",
)
UNPOOL_EMPTY = RuntimeDifference(
    "MaxUnpool",
    "refuses an empty output",
    "an output may be empty",
)
ROW_POINTS = RuntimeDifference(
    "MatMulInteger QLinearMatMul",
    "accepts only one scale and zero point for all rows",
    "one, or one for each row",
)
COLUMN_POINTS = RuntimeDifference(
    "MatMulInteger QLinearMatMul",
    "accepts a vector of scales for the columns of a single matrix only",
    "of a stack of matrices too",
)
DFT_HALF = RuntimeDifference(
    "DFT",
    "gives half the frequencies of complex numbers too",
    "of real ones only",
)
DFT_EMPTY = RuntimeDifference(
    "DFT",
    "requires elements of the signal only for an output that is not empty",
    "the length must be positive",
)
STFT_REAL = RuntimeDifference(
    "STFT",
    "accepts a real signal without an axis for its parts",
    "there is an axis of 1",
)
SPLIT_EMPTY = RuntimeDifference(
    "Split",
    "takes an empty list of sizes as none, and splits evenly",
    "there is a size for each part",
)
STFT_FRAME = RuntimeDifference(
    "STFT",
    "needs a window or frame_length",
    "without both, a frame is the whole signal",
)
REDUCE_EMPTY = RuntimeDifference(
    "ReduceMax ReduceMin",
    "refuses to reduce no truth values to one",
    "requires nothing",
)
ATTENTION_ROTARY = RuntimeDifference(
    "Attention",
    "does not rotate queries and keys, on the processor",
    "do_rotary does so",
)
RECURRENT_LAYOUT = RuntimeDifference(
    "RNN GRU LSTM",
    "has no kernel for layout 1",
    "the batch comes first then",
)
CRASHES = RuntimeDifference(
    "Conv DecoderMaskedMultiHeadAttention DynamicQuantizeLSTM FeatureVectorizer GRU Inverse LSTM MultiHeadAttention"
    " QAttention QLinearLeakyRelu QLinearSigmoid STFT SkipLayerNormalization SkipSimplifiedLayerNormalization Unique",
    "ends the process on some sizes, most of them 0",
    "an operator runs, or refuses its inputs",
)
BY_FUNCTION = RuntimeDifference(
    "CausalConvWithState LinearAttention",
    "runs the definition by other operators, which broadcasts",
    "the sizes of inputs are equal",
)
CUMULATED_AXIS = RuntimeDifference(
    "CumProd CumSum",
    "does not look at the axis of an empty tensor, nor of a scalar",
    "the axis is one of the input's",
)
MULTINOMIAL_EMPTY = RuntimeDifference(
    "Multinomial",
    "refuses an empty batch, and no classes",
    "requires nothing",
)
ONE_HOT_VALUES = RuntimeDifference(
    "OneHot",
    "requires two values in one axis",
    "they are two values",
)
RECURRENT_HIDDEN_SIZE = RuntimeDifference(
    "RNN GRU LSTM",
    "needs the attribute hidden_size",
    "it may be left out",
)
ARG_EMPTY = RuntimeDifference(
    "ArgMax ArgMin",
    "searches an empty axis if another axis is empty too",
    "an axis to search is not empty",
)
LAYER_NORM_EMPTY = RuntimeDifference(
    "LayerNormalization RMSNormalization SimplifiedLayerNormalization",
    "refuses empty axes to normalise over",
    "requires nothing",
)
GROUP_NORM_FUNCTION = RuntimeDifference(
    "GroupNormalization",
    "runs the definition by other operators, which broadcasts",
    "scale and bias have one number for each channel",
)
GATHER_ND_EMPTY = RuntimeDifference(
    "GatherND",
    "ignores indices of empty slices",
    "each index is within its axis",
)
RESHAPE_BESIDE_ZERO = RuntimeDifference(
    "Reshape",
    "leaves sizes of 0 out of both products to work out a -1, with allowzero",
    "a -1 together with a 0 is an error",
)
NMS_THRESHOLDS = RuntimeDifference(
    "NonMaxSuppression",
    "uses the first of several thresholds",
    "a threshold is one number",
)
ATTENTION_EMPTY = RuntimeDifference(
    "Attention",
    "refuses Q, K and V that are empty",
    "requires nothing",
)
ATTENTION_MASK = RuntimeDifference(
    "Attention",
    "broadcasts the mask over batch and heads only",
    "a mask is broadcast onto the scores",
)
ATTENTION_HEADS = RuntimeDifference(
    "Attention",
    "ignores negative numbers of heads if Q, K and V have four axes, before opset 25",
    "these are the heads that Q, K and V have",
)
ATTENTION_SCALE = RuntimeDifference(
    "Attention",
    "requires a scale above 0, before opset 25",
    "requires nothing",
)
ROTARY_CACHE = RuntimeDifference(
    "RotaryEmbedding",
    "refuses a sequence longer than the caches, even with position_ids",
    "position_ids may name a position more than once",
)
INSTANCE_NORM_AXES = RuntimeDifference(
    "InstanceNormalization",
    "requires an axis after batch and channels",
    "requires a batch and channels",
)
LRN_IMAGES = RuntimeDifference(
    "LRN",
    "normalises only images, over an odd number of channels",
    "requires a batch and channels",
)
MEL_EDGES = RuntimeDifference(
    "MelWeightMatrix",
    "requires both edges to be among the frequencies",
    "requires nothing",
)
GATHER_ND_BATCHES = RuntimeDifference(
    "GatherND",
    "requires equally many indices for each batch element, whatever their axes",
    "the sizes of the batch are equal",
)
LOSS_FUNCTION = RuntimeDifference(
    "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
    "runs the definition by other operators, which gathers",
    "there is a weight for each class, and a target for each place",
)
SOFTMAX_AXIS = RuntimeDifference(
    "Softmax LogSoftmax Hardmax",
    "refuses an axis at the end of the shape",
    "before opset 11 the shape may be cut there",
)
DIVISION_BY_ZERO = RuntimeDifference(
    "Div Mod",
    "refuses to divide integers by 0",
    "leaves the result open",
)
PRELU_BOTH_WAYS = RuntimeDifference(
    "PRelu",
    "broadcasts slope and data both ways",
    "the slope is broadcast onto the data",
)
FLOAT_SCALES = RuntimeDifference(
    "Resize Upsample",
    "multiplies by scales that are rounded to 32 bits",
    "by the numbers as they are written",
)
FLOAT_RATIO = RuntimeDifference(
    "Resize",
    "computes the kept aspect ratio and the resulting sizes in 32-bit floats",
    "the ratio is exact",
)
LOOP_NO_TURNS = RuntimeDifference(
    "Loop",
    "gives outputs of other sizes if there is no iteration",
    "they have the sizes of one iteration",
)
SCAN_EMPTY = RuntimeDifference(
    "Scan",
    "refuses to scan nothing",
    "there may be no iterations",
)
FEATURES_FROM_FRONT = RuntimeDifference(
    "ArrayFeatureExtractor",
    "requires an index, and none below 0",
    "an index may be counted from the end",
)
SCAN_DECLARED = RuntimeDifference(
    "Scan",
    "requires the contents of the body's outputs to have the sizes that it declares",
    "a declared size decides nothing",
)
SCAN_STATES = RuntimeDifference(
    "Scan",
    "lets a state change its shape once, if the shape is inferred as numbers",
    "a state keeps its shape",
)
SKIP_NORM_EMPTY = RuntimeDifference(
    "SkipLayerNormalization SkipSimplifiedLayerNormalization",
    "refuses an empty last axis",
    "requires nothing",
)
SKIP_NORM_BATCH = RuntimeDifference(
    "SkipLayerNormalization SkipSimplifiedLayerNormalization",
    "ignores the batch of skip",
    "it is that of the input, or 1",
)
PAD_NUMBER = RuntimeDifference(
    "Pad",
    "refuses a number without an axis",
    "there is nothing to pad then",
)
SPLIT_TO_SEQUENCE_KEEPDIMS = RuntimeDifference(
    "SplitToSequence",
    "leaves the axis out where keepdims is 0 and split is one number: the parts must be 1 long",
    "keepdims is ignored where split is given",
)
SEQUENCE_MAP_LENGTHS = RuntimeDifference(
    "SequenceMap",
    "accepts further sequences that are longer than the first one",
    "all sequences have as many tensors",
)
PAD_ELEMENTS = RuntimeDifference(
    "Pad",
    "requires elements even on unpadded axes, and removes more than there is if as much is added",
    "requires that of padded axes only",
)
SLICE_GREATEST_END = RuntimeDifference(
    "Slice",
    "treats the greatest integer of 32 or 64 bits as the end of the whole axis, even for negative steps",
    "for negative steps the least integer does so; the greatest is the last element, which leaves nothing",
)
DECODER_BUFFER = RuntimeDifference(
    "DecoderMaskedMultiHeadAttention",
    "needs caches that are updated in place, on the processor",
    "they may grow",
)
EXPERTS_LAYERS = RuntimeDifference(
    "MoE",
    "has no third layer, and a gate only in the first weights, on the processor",
    "an expert may have them",
)
CENTER_CROP_SIZES = RuntimeDifference(
    "CenterCropPad",
    "treats a negative size as 0",
    "a size is not negative",
)
LINEAR_BLOCKS = RuntimeDifference(
    "QuantizeLinear DequantizeLinear",
    "has no blocks for a scale of one axis with one number",
    "one block works",
)


def differences_by_name() -> dict[str, RuntimeDifference]:
    """Return every difference by name."""
    return {name: value for name, value in globals().items() if isinstance(value, RuntimeDifference)}


# Sizes at which ONNX Runtime ends its process instead of refusing them (seen with 1.32).


def crashes(call: NodeCall, unless: Formula, where: str) -> None:
    """Require a formula, if ONNX Runtime is asked about: where it does not hold, the process ends."""
    if call.does(CRASHES):
        call.require(unless, f"the runtime crashes here: {where}")
