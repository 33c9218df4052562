"""Classic machine learning and text: the operators of the domain ``ai.onnx.ml``, and those on tensors of text."""

from __future__ import annotations

from collections.abc import Sequence

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.algebra.formulas import at_most
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.operators.declarations import ML, RuntimeDifference, crashes, operator
from symbcast.onnx.operators.signatures import declare
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import BOOL, FLOAT, INT64, STRING
from symbcast.operators.values.value import UNKNOWN, Value

declare("Binarizer Imputer", "X -> X", domain=ML)


@operator("Normalizer", domain=ML)
def normalizer(call: NodeCall) -> Value:
    """Each line by its length."""
    return Value(call.rank(0, (1, 2), "the input"), FLOAT)


@operator("Scaler", domain=ML)
def scaler(call: NodeCall) -> Value:
    """Shift and scale each feature by its own numbers, or all by one."""
    dims = call.shape(0)
    counts = {len(numbers) for name in ("offset", "scale") if (numbers := call.attribute(name)) is not None}
    call.refuse_if(len(counts) > 1 or not dims, "there must be as many offsets as scales, and features")
    for count in counts - {1}:
        call.equal(dims[1] if len(dims) > 1 else dims[0], count, f"there must be {count} features")
    return Value(dims, FLOAT)


@operator("LabelEncoder", "CategoryMapper", domain=ML)
def mapper(call: NodeCall) -> Value:
    """Something else for each element."""
    element_type = STRING if call.dtype() == INT64 else INT64
    kinds = {"values_int64s": INT64, "values_floats": FLOAT, "values_strings": STRING}
    for name, dtype in kinds.items():
        if call.attribute(name) is not None:
            element_type = dtype
    tensor = call.attribute("values_tensor")
    return Value(call.shape(0), element_type if tensor is None else tensor.data_type)


@operator("OneHotEncoder", domain=ML)
def one_hot(call: NodeCall) -> Value:
    """A new last axis for the categories."""
    categories = call.integers("cats_int64s") or _texts(call, "cats_strings")
    if not call.integer("zeros", 1):
        call.note_data("the input, which is data, must hold only categories", 0)
    return Value((*call.shape(0), len(categories)), FLOAT)


@operator("ArrayFeatureExtractor", domain=ML)
def extractor(call: NodeCall) -> Value:
    """Some of the features."""
    dims, places = call.shape(0), call.shape(1)
    call.refuse_if(not dims, "the input must have an axis of features")
    count = multiply(*places)
    _check_features(call, dims[-1], count)
    # A vector of features is one row: the output of (3,) has the shape (1, 1).
    leading = dims[:-1] if len(dims) > 1 else (1,)
    return Value((*leading, count), call.dtype())


FEATURES_FROM_FRONT = RuntimeDifference(
    "ArrayFeatureExtractor", "requires an index, and none below 0", "an index may be counted from the end"
)


def _check_features(call: NodeCall, features: Dim, count: Dim) -> None:
    """Require that the selected features exist; ONNX Runtime counts none from the end."""
    # "index is out of range: Y[0] (-1) must be in [0, 3)", and "num_indices = 0" for none.
    is_strict = call.does(FEATURES_FROM_FRONT)
    if is_strict:
        call.at_most(1, count, "there must be a feature to take")
        call.at_most(1, features, "there must be a feature")
    numbers = call.numbers(1)
    if numbers is None:
        call.note_data("the indices, which are data, must be those of features", 1)
    elif numbers:
        low, high = min(numbers), max(numbers)
        call.refuse_if(is_strict and low < 0, "no feature index may be negative")
        call.at_most(max(high + 1, -low), features, "the input must have each selected feature")


@operator("FeatureVectorizer", domain=ML)
def vectorizer(call: NodeCall) -> Value:
    """The features of several tensors side by side, each made as long as ``inputdimensions`` says."""
    shapes = call.shapes()
    if any(len(shape) not in (1, 2) for shape in shapes):
        call.give_up("its result for anything but rows of features is not known")
    batch: Dim = shapes[0][0] if len(shapes[0]) == 2 else 1
    for shape in shapes:
        call.equal(shape[0] if len(shape) == 2 else 1, batch, "the inputs must have the same batch")
    widths = call.integers("inputdimensions") or []
    call.refuse_if(len(widths) != len(shapes), "inputdimensions must have a number for each input")
    crashes(call, at_most(1, batch), "the batch is empty")
    return Value((batch, sum(widths)), FLOAT)


@operator("CastMap", "DictVectorizer", domain=ML)
def of_maps(call: NodeCall) -> Value:
    """Maps are not followed."""
    call.note("maps are not followed")
    return UNKNOWN


@operator("LinearRegressor", domain=ML)
def linear_regressor(call: NodeCall) -> Value:
    """A number for each target."""
    targets = call.integer("targets", 1)
    batch, features = _lines(call)
    # More coefficients than needed are accepted: "must be at least targets * features".
    call.at_most(
        multiply(features, targets), _count(call, "coefficients"), "there must be a coefficient for each feature"
    )
    return Value((batch, targets), FLOAT)


@operator("SVMRegressor", domain=ML)
def vector_regressor(call: NodeCall) -> Value:
    """One number."""
    batch, features = _lines(call)
    _check_vectors(call, features, call.integer("n_supports"))
    return Value((batch, 1), FLOAT)


@operator("TreeEnsembleRegressor", "TreeEnsemble", domain=ML)
def tree_regressor(call: NodeCall) -> Value:
    """A number for each target."""
    dtype = call.dtype() if call.node.op_type == "TreeEnsemble" else FLOAT
    return Value((_of_trees(call), call.integer("n_targets", 1)), dtype)


@operator("LinearClassifier", domain=ML)
def linear_classifier(call: NodeCall) -> Sequence[Value]:
    """The class of each line, and a score for each class."""
    batch, features = _lines(call)
    needed = multiply(features, _count(call, "intercepts") or 1)
    call.at_most(needed, _count(call, "coefficients"), "there must be a coefficient for each feature")
    return _classified(call, batch, _classes(call))


@operator("TreeEnsembleClassifier", domain=ML)
def tree_classifier(call: NodeCall) -> Sequence[Value]:
    """The class of each line, and a score for each class."""
    return _classified(call, _of_trees(call), _classes(call))


@operator("SVMClassifier", domain=ML)
def vector_classifier(call: NodeCall) -> Sequence[Value]:
    """The class of each line, and a score for each class, or for each pair of them, on which the vectors vote."""
    batch, features = _lines(call)
    counts = call.integers("vectors_per_class")
    _check_vectors(call, features, sum(counts or ()))
    classes = _classes(call)
    # Four classes without probabilities have 6 scores, one for each pair.
    is_vote = bool(counts) and call.attribute("prob_a") is None and classes > 2
    return _classified(call, batch, classes * (classes - 1) // 2 if is_vote else classes)


def _classified(call: NodeCall, batch: Dim, scores: int) -> Sequence[Value]:
    kind = STRING if call.attribute("classlabels_strings") is not None else INT64
    return Value((batch,), kind), Value((batch, scores), FLOAT)


def _classes(call: NodeCall) -> int:
    numbers = call.integers("classlabels_int64s") or call.integers("classlabels_ints") or ()
    return len(_texts(call, "classlabels_strings") or numbers)


def _lines(call: NodeCall) -> tuple[Dim, Dim]:
    """Return the number of rows and of features; a single axis is one row."""
    dims: Dims = call.rank(0, (1, 2), "the input")
    return (dims[0], dims[1]) if len(dims) == 2 else (1, dims[0])


def _of_trees(call: NodeCall) -> Dim:
    dims = call.rank(0, (2,) if call.node.op_type == "TreeEnsemble" else (1, 2), "the input")
    batch, features = dims if len(dims) == 2 else (1, 1)  # a single axis counts as one feature, however long
    places = call.integers("nodes_featureids")
    _check_trees(call)
    if places:
        call.at_most(max(places) + 1, features, "the input must have each feature that the trees use")
    return batch


def _check_trees(call: NodeCall) -> None:
    """Refuse trees whose lists of nodes differ in length, or whose children are none of the nodes."""
    names = ("nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids")
    lists = [call.integers(name) or [] for name in names]
    if len(set(map(len, lists))) > 1:
        call.refuse(f"{', '.join(names)} must be equally long")
    if call.node.op_type == "TreeEnsemble" and any(n < 0 for children in lists[1:] for n in children):
        call.refuse("a child's index must not be negative")


def _check_vectors(call: NodeCall, features: Dim, count: int) -> None:
    """Require as many features as a support vector has."""
    numbers = _count(call, "support_vectors")
    if count and numbers:
        call.equal(features, numbers // count, f"there must be {numbers // count} features, as in a support vector")
    else:
        call.note("not checked: the number of features must match the model's")


def _count(call: NodeCall, name: str) -> int:
    numbers = call.attribute(name)
    return 0 if numbers is None else len(numbers)


def _texts(call: NodeCall, name: str) -> list[bytes]:
    texts = call.attribute(name)
    return [] if texts is None else list(texts)


# Operators on tensors of text.


@operator("StringConcat")
def concat(call: NodeCall) -> Value:
    """Concatenated texts; the operands are broadcast together."""
    return Value(call.broadcast(call.shape(0), call.shape(1)), STRING)


@operator("RegexFullMatch")
def match(call: NodeCall) -> Value:
    """A truth value for each text."""
    return Value(call.shape(0), BOOL)


@operator("StringSplit")
def split(call: NodeCall) -> Sequence[Value]:
    """The parts of each text on a new axis, as long as the largest count; and the counts."""
    dims = call.shape(0)
    count = call.fresh("parts", f"the most parts that a text of {call.input_name(0)} has")
    return Value((*dims, count), STRING), Value(dims, INT64)


@operator("StringNormalizer")
def string_normalizer(call: NodeCall) -> Value:
    """The texts left after dropping stop words; a single empty text if none are left."""
    dims = call.rank(0, (1, 2), "the input")
    if len(dims) == 2:
        call.equal(dims[0], 1, "an input of two axes must have one row")
    count = call.fresh("count", f"the number of texts of {call.input_name(0)} after normalisation", least=1)
    return Value((*dims[:-1], count), STRING)


@operator("TfIdfVectorizer")
def tf_idf_vectorizer(call: NodeCall) -> Value:
    """How often each n-gram occurs in a line."""
    dims = call.rank(0, (1, 2), "the input")
    places = call.integers("ngram_indexes")
    if not places:
        call.refuse("the attribute ngram_indexes must be given")
    _check_grams(call)
    if len(dims) == 2:
        call.at_most(1, dims[0], "there must be a line")
    return Value((*dims[:-1], max(places) + 1), FLOAT)


def _check_grams(call: NodeCall) -> None:
    """Refuse a pool whose parts, which begin where ``ngram_counts`` says, do not hold whole n-grams."""
    starts = call.integers("ngram_counts") or []
    shortest, longest = call.integer("min_gram_length"), call.integer("max_gram_length")
    call.refuse_if(not 1 <= shortest <= longest <= len(starts), "there must be a count for each length of an n-gram")
    call.refuse_if(call.integer("max_skip_count") < 0, "max_skip_count must not be negative")
    total = len(call.integers("pool_int64s") or call.attribute("pool_strings") or ())
    for length, (start, end) in enumerate(zip(starts, [*starts[1:], total], strict=True), 1):
        if not 0 <= start <= end <= total or (end - start) % length:
            call.refuse(f"ngram_counts must give whole n-grams of length {length}")
