"""Calls of torch operators with open sizes, which `exported/record_operators.py` runs and records.

An argument ``"T:a,3"`` is a tensor of a shape, in which letters are open sizes, ``"T:a:int"`` one of another element
type; ``"S:n"`` is an open integer. Tensors hold ones; those of integers of 64 bits hold zeros, so an index is valid
wherever an axis has an element.
"""

from __future__ import annotations

import itertools

from operator_calls import ALL, case, dims, shape, tensor

SHAPES = ("T:", "T:a", "T:a,b", "T:a,b,c", "T:a,b,c,d")
DEFAULTS = {
    "momentum": 0.1,
    "eps": 1e-5,
    "cudnn_enabled": False,
    "cudnn_enable": False,
    "has_biases": False,
    "num_layers": 1,
    "dropout": 0.0,
    "train": False,
    "batch_first": False,
    "bidirectional": False,
    "p": 0.5,
    "half_to_float": False,
    "align_corners": False,
    "interpolation_mode": 0,
    "padding_mode": 0,
    "fill_value": 1.0,
    "dtype": None,
    "stable": True,
    "compute_mode": None,
    "unbiased": True,
    "maxnorm": 1.0,
    "start": 0,
    "seed": 0,
    "assert_msg": "",
    "training": False,
    "use_input_stats": True,
    "value": 1,
    "reduce": "add",
    "input_dtype": 6,
}
"""What an argument without a default of its own is, where a case does not say."""


MOST = 60
"""How many calls of one operator are tried: of more, so many that lie evenly among them."""
# Broadcasting

PAIRS = (
    ("", "a"), ("a", "b"), ("ab", "c"), ("ab", "cd"), ("a1", "b"), ("1b", "a"), ("abc", "d"), ("3a", "bc"),
    ("ab", "ab"), ("a1", "1b"),
)  # fmt: skip
for left, right in PAIRS:
    for dtype in ("", "int"):
        case("logical_and.default logical_or.default logical_xor.default add.Tensor mul.Tensor maximum.default "
             "eq.Tensor max.other min.other", self=tensor(left, dtype), other=tensor(right, dtype))  # fmt: skip
    case("atan2.default fmod.Tensor copysign.Tensor hypot.default", self=tensor(left), other=tensor(right))
    case("__and__.Tensor __or__.Tensor __xor__.Tensor __lshift__.Tensor __rshift__.Tensor bitwise_and.Tensor",
         self=tensor(left, "int"), other=tensor(right, "int"))  # fmt: skip
    case("add_.Tensor mul_.Tensor copy_.Tensor", self=tensor(left), other=tensor(right))
    case("copy.default copy_.default", self=tensor(left), src=tensor(right))
    case("masked_fill.Scalar masked_fill_.Scalar", self=tensor(left), mask=tensor(right, "bool"), value=1)
    case("where.self", condition=tensor(left, "bool"), self=tensor(right), other="T:b")
    case("where.self", condition=tensor(left, "bool"), self=tensor(right), other="T:")
    case("where.ScalarOther", condition=tensor(left, "bool"), self=tensor(right), other=1.0)
    case("where.ScalarSelf", condition=tensor(left, "bool"), self=1.0, other=tensor(right))
    case("lerp.Tensor", self=tensor(left), end=tensor(right), weight="T:a")
    case("addcmul.default addcdiv.default", self=tensor(left), tensor1=tensor(right), tensor2="T:a")
    case("clamp.Tensor", self=tensor(left), min=tensor(right), max="T:b")
    case("expand_as.default view_as.default reshape_as.default type_as.default",
         self=tensor(left), other=tensor(right))  # fmt: skip
    case("fill.Tensor fill_.Tensor", self=tensor(left), value=tensor(right))
    case("masked_select.default", self=tensor(left), mask=tensor(right, "bool"))
    case("bernoulli.Tensor", self=tensor(left), p=tensor(right))
case("where.Scalar", condition="T:a,b:bool", self=1.0, other=2.0)
case("masked_fill.Tensor", self="T:a,b", mask="T:b:bool", value="T:")
case("masked_fill.Tensor", self="T:a,b", mask="T:b:bool", value="T:c")

# What keeps a shape

for n in range(4):
    x = shape(n)
    case("contiguous.default detach.default detach_.default alias.default lift_fresh.default lift_fresh_copy.default "
         "clone.default zeros_like.default ones_like.default empty_like.default rand_like.default randn_like.default "
         "zero_.default hardswish_.default relu_.default positive.default bernoulli.default gelu_.default "
         "celu_.default selu_.default softplus.default log_sigmoid.default conj.default resolve_conj.default "
         "resolve_neg.default real.default relu.default sigmoid.default neg.default abs.default "
         "_to_copy.default sort.default argsort.default isnan.default log1p.default", self=x)  # fmt: skip
    case("full_like.default", self=x, fill_value=1)
    case("bitwise_not.default", self=shape(n, "int"))
    case("fill.Scalar fill_.Scalar", self=x, value=1)
    case("bernoulli.p", self=x, p=0.5)
    case("native_dropout.default", input=x, p=0.5, train=True)
    for train in (False, True):
        case("dropout_.default feature_dropout_.default", self=x, p=0.5, train=train)
        case("dropout.default alpha_dropout.default feature_dropout.default",
             input=x, p=0.5, train=train)  # fmt: skip
    case("tril.default triu.default", self=x)
    case("tril.default", self=x, diagonal=-1)
    case("t.default t_copy.default numpy_T.default mT.default adjoint.default matrix_H.default", self=x)
    case("squeeze.default squeeze_copy.default", self=x)
    case("view_as_complex.default", self=x)
    case("view_as_real.default", self=shape(n, "complex"))
    case("sum.default mean.default prod.default any.default all.default var.default std.default var_mean.default "
         "std_mean.default max.default min.default median.default argmax.default argmin.default nansum.default "
         "amax.default amin.default aminmax.default count_nonzero.default linalg_vector_norm.default norm.Scalar",
         self=x)  # fmt: skip
    case("argmax.default argmin.default amax.default amin.default aminmax.default", self=x, keepdim=True)
    case("max.default min.default prod.default median.default", self=shape(n, "int"))
    case("item.default _local_scalar_dense.default sym_numel.default", self=x)
    case("flatten.using_ints", self=x)
    case("cat.default", tensors=[x, x])
    case("nonzero.default unique_consecutive.default _unique2.default", self=x)
    for dim in dims(n):
        case("softmax.int _softmax.default log_softmax.int _log_softmax.default cumsum.default cumprod.default "
             "logcumsumexp.default", self=x, dim=dim)  # fmt: skip
        case("cumsum.default cumprod.default", self=shape(n, "int"), dim=dim)
        case("sort.default argsort.default sort.stable", self=x, dim=dim)
        case("renorm.default", self=x, p=2, dim=dim, maxnorm=1.0)
        case("flip.default", self=x, dims=[dim])
        case("roll.default", self=x, shifts=[1], dims=[dim])
        case("unsqueeze.default unsqueeze_copy.default squeeze.dim squeeze_copy.dim", self=x, dim=dim)
        case("squeeze.dims", self=x, dim=[dim, 0])
        case("unbind.int unbind_copy.int", self=x, dim=dim)
        case("sym_size.int", self=x, dim=dim)
        case("glu.default", self=x, dim=dim)
        for keepdim in (False, True):
            case("sum.dim_IntList mean.dim var.dim std.dim var_mean.dim std_mean.dim logsumexp.default any.dims "
                 "all.dims amax.default amin.default nansum.default linalg_vector_norm.default var.correction",
                 self=x, dim=[dim], keepdim=keepdim)  # fmt: skip
            case("any.dim all.dim prod.dim_int max.dim min.dim median.dim argmax.default argmin.default mode.default "
                 "aminmax.default", self=x, dim=dim, keepdim=keepdim)  # fmt: skip
            for k in (0, 1, 2, 3):
                case("kthvalue.default", self=x, k=k, dim=dim, keepdim=keepdim)
            case("norm.ScalarOpt_dim", self=x, p=2, dim=[dim], keepdim=keepdim)
        case("linalg_vector_norm.default", self=x, dim=[dim], ord=float("inf"))
        case("norm.ScalarOpt_dim", self=x, p=float("inf"), dim=[dim])
        case("linalg_vector_norm.default", self=x, dim=[dim], ord=-1.0)
        case("count_nonzero.default", self=x, dim=dim)
        case("count_nonzero.dim_IntList", self=x, dim=[dim])
        for k in (0, 1, 3):
            case("topk.default", self=x, k=k, dim=dim)
        case("unique_dim.default unique_consecutive.default", self=x, dim=dim)
        for index in (-3, -1, 0, 2):
            case("select.int select_copy.int", self=x, dim=dim, index=index)
        for other in dims(n):
            case("transpose.int transpose_copy.int", self=x, dim0=dim, dim1=other)
            case("flatten.using_ints", self=x, start_dim=dim, end_dim=other)
            case("movedim.int moveaxis.int", self=x, source=dim, destination=other)
            for offset in (0, 1, -2):
                case("diagonal.default diagonal_copy.default", self=x, offset=offset, dim1=dim, dim2=other)
            if n == 2:
                case("swapaxes.default", self=x, axis0=dim, axis1=other)
                case("swapdims.default", self=x, dim0=dim, dim1=other)
        for size, step in ((0, 1), (1, 1), (2, 1), (3, 2), (2, 3)):
            case("unfold.default", self=x, dimension=dim, size=size, step=step)
        for chunks in (1, 2, 3, 5):
            case("chunk.default unsafe_chunk.default", self=x, chunks=chunks, dim=dim)
        for size in (0, 1, 2, 3):
            case("split.Tensor unsafe_split.Tensor split_copy.Tensor", self=x, split_size=size, dim=dim)
        case("split.sizes", self=x, split_size=[1, 2], dim=dim)
        case("split_with_sizes.default split_with_sizes_copy.default", self=x, split_sizes=[2, 0, 1], dim=dim)
        case("split_with_sizes.default", self=x, split_sizes=[-1, 3], dim=dim)
        for start, end, step in ((None, None, 1), (1, 3, 1), (-2, -1, 1), (0, 9, 2), (1, -1, 2), (3, 1, 1), (2, None, 3),
                                 (0, None, 0), (0, None, -1)):  # fmt: skip
            case("slice.Tensor slice_copy.Tensor", self=x, dim=dim, start=start, end=end, step=step)
        for start, length in ((0, 0), (0, 2), (1, 1), (-1, 1), (-2, 2), (2, 1), (-1, 2), (0, -1)):
            case("narrow.default narrow_copy.default", self=x, dim=dim, start=start, length=length)
        for repeats in (0, 1, 2, -1):
            case("repeat_interleave.self_int", self=x, repeats=repeats, dim=dim)
        for index in ("T::int", "T:d:int", "T:0:int", "T:2:int", "T:2,1:int"):
            case("index_select.default", self=x, dim=dim, index=index)
            case("index_fill.int_Scalar", self=x, dim=dim, index=index, value=1)
    for both in ((0, 1), (0, 0), (-1, 0), (0, 2), ()):
        for keepdim in (False, True):
            case("sum.dim_IntList mean.dim var.correction std.correction amax.default amin.default logsumexp.default "
                 "any.dims all.dims nansum.default linalg_vector_norm.default std_mean.dim", self=x, dim=list(both),
                 keepdim=keepdim)  # fmt: skip
        case("count_nonzero.dim_IntList", self=x, dim=list(both))
        case("squeeze.dims squeeze_copy.dims", self=x, dim=list(both))
        case("flip.default", self=x, dims=list(both))
        case("roll.default", self=x, shifts=[1] * len(both), dims=list(both))
        case("permute.default permute_copy.default", self=x, dims=list(both))
        case("movedim.intlist moveaxis.intlist", self=x, source=list(both), destination=[1, 0])
    case("roll.default", self=x, shifts=[1], dims=[])
    case("roll.default", self=x, shifts=[1, 1], dims=[0])
    for order in itertools.permutations(range(n)):
        case("permute.default", self=x, dims=[d - n if d % 2 else d for d in order])
    case("movedim.intlist", self=x, source=[0, -1], destination=[-1, 0])
    case("movedim.intlist", self=x, source=[0, 1], destination=[0, 0])
    case("repeat_interleave.self_int", self=x, repeats=2)
    case("cat.default", tensors=[x])
for k in ("S:k",):
    case("kthvalue.default topk.default", self="T:a,b", k=k, dim=0)
    case("select.int", self="T:a,b", dim=1, index=k)
    case("narrow.default", self="T:a,b", dim=1, start=k, length="S:n")
    case("slice.Tensor", self="T:a", dim=0, start=k, end="S:n", step=2)
    case("slice.Tensor", self="T:a,b", dim=1, start=None, end=k)
    case("split.Tensor", self="T:a,b", split_size=k, dim=0)
    case("split_with_sizes.default", self="T:a,b", split_sizes=[k, "S:n"], dim=0)
    case("repeat_interleave.self_int", self="T:a,b", repeats=k, dim=1)

# Shapes given

TARGETS = ([-1], [3, -1], [-1, 2], [2, 3], [0, -1], [0], [-1, -1], [6], [], [1], [1, -1, 1], [-2, 3], ["S:n", -1],
           ["S:n", "S:m"], ["S:n", 2], [-1, 0])  # fmt: skip
for n in range(4):
    x = shape(n)
    for target in TARGETS:
        case("view.default reshape.default _unsafe_view.default view_copy.default", **{"self": x, "size": target})
        for dim in (0, -1, n):
            if n:
                case("unflatten.int", self=x, dim=dim, sizes=target)
        case("expand.default expand_copy.default broadcast_to.default", self=x, size=target)
        case("expand.default", self=x, size=[*target, "S:p"])
        case("repeat.default", self=x, repeats=target)
        case("tile.default", self=x, dims=target)
    for target in ([2, -1, -1], [-1, 3], [1, 2, 3], [3, 0, 1], [4, "S:n"]):
        case("expand.default", self=x, size=target)
        case("repeat.default", self=x, repeats=target)
for target in ([], [0], [2, 3], ["S:n"], ["S:n", 0, "S:m"], [-1], ["S:n", -1]):
    case("zeros.default ones.default empty.memory_format rand.default randn.default", size=target)
    case("full.default", size=target, fill_value=1)
    case("randint.default", high=3, size=target)
    case("new_zeros.default new_ones.default new_empty.default", self="T:a", size=target)
    case("new_full.default", self="T:a", size=target, fill_value=1)
    case("empty_strided.default", size=target, stride=[1] * len(target))
    case("new_empty_strided.default", self="T:a", size=target, stride=[1] * len(target))
    case("empty_permuted.default", size=target, physical_layout=list(range(len(target))))
case("scalar_tensor.default", s=3)
for end in (0, 3, 5, -1, "S:n"):
    case("arange.default", end=end)
    for start in (0, 2, 4, "S:m"):
        case("arange.start", start=start, end=end)
        for step in (1, 2, 3, -1, -2, 0):
            case("arange.start_step", start=start, end=end, step=step)
for n in (0, 1, 4, -1, "S:n"):
    case("linspace.default logspace.default", start=0, end=1, steps=n)
    case("hann_window.default hamming_window.default blackman_window.default", window_length=n)
    case("hann_window.periodic", window_length=n, periodic=False)
    case("eye.default", n=n)
    for m in (0, 2, -1, "S:m"):
        case("eye.m", n=n, m=m)
for n in range(4):
    for classes in (0, 1, 3, -1, "S:n"):
        case("one_hot.default", self=shape(n, "int"), num_classes=classes)
for ts in (["T:a"], ["T:a", "T:b"], ["T:a", "T:b", "T:c"], ["T:", "T:b"], ["T:a,b", "T:c"], []):
    case("meshgrid.default", tensors=ts)
    for indexing in ("ij", "xy"):
        case("meshgrid.indexing", tensors=ts, indexing=indexing)

# Joins

for ts in (["ab", "cd"], ["ab", "cb"], ["ab", "ac"], ["a", "b"], ["a", "b", "c"], ["ab", "c"], ["0", "ab"], ["ab", "0"],
           ["a", "bc"], ["0", "a"], ["abc", "dbc"], ["", ""], ["", "a"], ["00", "ab"], [], ["0", "0", "ab"]):  # fmt: skip
    for dim in (0, 1, -1, -2, 2):
        case("cat.default concat.default concatenate.default", tensors=[tensor(t) for t in ts], dim=dim)
        case("stack.default", tensors=[tensor(t) for t in ts], dim=dim)
    case("hstack.default vstack.default row_stack.default dstack.default column_stack.default block_diag.default "
         "atleast_1d.Sequence atleast_2d.Sequence atleast_3d.Sequence broadcast_tensors.default",
         tensors=[tensor(t) for t in ts])  # fmt: skip

# Composites that stay in the graph

for left, right in (*PAIRS, ("abc", "dc"), ("ab", "1b")):
    x, y = tensor(left), tensor(right)
    case("floor_divide.default", self=x, other=y)
    for reduction in (0, 1, 2):
        case("mse_loss.default l1_loss.default smooth_l1_loss.default huber_loss.default kl_div.default",
             self=x, target=y, reduction=reduction)  # fmt: skip
    case("pairwise_distance.default", x1=x, x2=y)
    case("pairwise_distance.default", x1=x, x2=y, keepdim=True)
    for dim in (0, 1, -1, -2):
        case("cosine_similarity.default", x1=x, x2=y, dim=dim)
for n in range(5):
    case("atleast_1d.default atleast_2d.default atleast_3d.default", self=shape(n))
    for parts in (1, 2, 3, 0):
        case("hsplit.int vsplit.int dsplit.int", self=shape(n), sections=parts)
        for dim in dims(n):
            case("tensor_split.sections", self=shape(n), sections=parts, dim=dim)
    for dim in dims(n):
        case("cummax.default cummin.default", self=shape(n), dim=dim)
for left, right, weight in (("ab", "ac", "2fg"), ("ab", "dc", "22c"), ("a", "b", "2ef"), ("abc", "abd", "2f2"),
                            ("ab", "abc", "222"), ("", "a", "222"), ("ab", "ac", "fg"), ("a2", "a3", "f23")):  # fmt: skip
    for bias in (None, "T:2", "T:a"):
        case("bilinear.default", input1=tensor(left), input2=tensor(right), weight=tensor(weight), bias=bias)

# Padding

WIDTHS1 = ([1, 1], [2, 3], [0, 2], [3, 0], [-1, 0], [-1, 2], [1, -2], [0, 0], [-2, -1], [4, 1])
for mode in ("constant", "reflect", "replicate", "circular"):
    for n in range(5):
        for widths in (*WIDTHS1, [1], [1, 1, 1]):
            case("pad.default", self=shape(n), pad=widths, mode=mode)
        for widths in ([1, 0, 2, 1], [0, 0, 0, 1], [-1, 1, 1, -1], [2, 2, 2, 2], [0, 1, 1, 0, 1, 1]):
            case("pad.default", self=shape(n), pad=widths, mode=mode)
            if mode == "constant":
                case("constant_pad_nd.default", self=shape(n), pad=widths)
    case("pad.default", self="T:2,1,a,b,c", pad=[1, 1, 0, 2, 1, 0], mode=mode)
    case("pad.default", self="T:a,b,c", pad=["S:n", 1], mode=mode)
for n in range(1, 5):
    for widths in WIDTHS1:
        case("constant_pad_nd.default", self=shape(n), pad=widths)
        case("reflection_pad1d.default replication_pad1d.default", self=shape(n), padding=widths)
    for widths in ([1, 0, 2, 1], [0, 0, 0, 1], [-1, 1, 1, -1], [0, -1, 0, 0]):
        case("reflection_pad2d.default replication_pad2d.default", self=shape(n), padding=widths)
for widths in ([1, 0, 1, 1, 0, 2], [0, 0, -1, 1, 1, 0]):
    for x in ("T:a,b,c,d", "T:2,a,b,c,d", "T:a,1,b,c,2"):
        case("reflection_pad3d.default replication_pad3d.default", self=x, padding=widths)

# Indices

for n in range(4):
    x = shape(n)
    for other in ("", "d", "de", "def", "2", "31", "123"):
        i = tensor(other, "int")
        for dim in dims(n):
            case("gather.default", self=x, dim=dim, index=i)
            if n <= 2:
                case("scatter.value scatter_.value", self=x, dim=dim, index=i, value=1)
                for src in ("T:", "T:2", "T:1,2", tensor(other)):
                    case("scatter.src scatter_.src scatter_add.default scatter_add_.default",
                         self=x, dim=dim, index=i, src=src)  # fmt: skip
                    case("scatter_reduce.two", self=x, dim=dim, index=i, src=src, reduce="sum")
            for source in ("T:", "T:d", "T:2", "T:2,b", "T:a,2", "T:d,b"):
                case("index_add.default index_copy.default", self=x, dim=dim, index=i, source=source)
for x in ("ab", "abc"):
    for given in (["d"], [None, "d"], ["d", "e"], ["de"], ["d", "2"], ["d1", "2"], [""], ["", "d"], [None, "d", None],
                  ["d", None, "d"], ["0"], ["d", "e", "2"], [None, None, "d"]):  # fmt: skip
        indices = [None if g is None else tensor(g, "int") for g in given]
        case("index.Tensor _unsafe_index.Tensor", self=tensor(x), indices=indices)
        for values in ("T:", "T:1", "T:d", "T:2,b", "T:a,d"):
            case("index_put.default index_put_.default _unsafe_index_put.default",
                 self=tensor(x), indices=indices, values=values)  # fmt: skip
case("index.Tensor", self="T:a,b", indices=["T:a:bool"])
case("index.Tensor", self="T:a,b", indices=["T:c:bool"])
case("index.Tensor", self="T:a,b", indices=["T:c,d:bool"])
case("index.Tensor", self="T:a,b", indices=[None, "T:c:bool"])
case("index_put.default", self="T:a,b", indices=["T:c:bool"], values="T:")
case("index_put.default", self="T:a,b", indices=["T:c,b:bool"], values="T:")
for weight in ("T:a,b", "T:a", "T:a,b,c"):
    for indices in ("T::int", "T:d:int", "T:d,e:int", "T:0:int"):
        case("embedding.default", weight=weight, indices=indices)
for sequence in ("a", "ab", "abc", "2b", ""):
    for values in ("", "d", "de", "abd", "1d", "2d", "ad"):
        case("searchsorted.Tensor", sorted_sequence=tensor(sequence), self=tensor(values))
        case("bucketize.Tensor", self=tensor(values), boundaries=tensor(sequence))
    case("searchsorted.Scalar", sorted_sequence=tensor(sequence), self=1.0)
    case("bucketize.Scalar", self=1.0, boundaries=tensor(sequence))
    for sorter in ("T:a:int", "T:c:int", "T:a,b:int"):
        case("searchsorted.Tensor", sorted_sequence=tensor(sequence), self=tensor(sequence), sorter=sorter)

# Parts written

for x in ("a", "ab", "abc"):
    for src in ("", "d", "b", "ab", "1b", "de", "b1", "cb"):
        for dim in (0, 1, -1, 3):
            for index in (0, -2, 1):
                case("select_scatter.default", self=tensor(x), src=tensor(src), dim=dim, index=index)
            for start, end, step in ((None, None, 1), (1, 3, 1), (-2, None, 2)):
                case("slice_scatter.default", self=tensor(x), src=tensor(src), dim=dim, start=start, end=end, step=step)

# Matrices

for left in ("", "a", "ab", "2a", "abc", "1ab"):
    for right in ("", "b", "bc", "cd", "dbc", "bcd", "2bc", "12bc", "1c"):
        case("matmul.default linalg_matmul.default inner.default kron.default", self=tensor(left), other=tensor(right))
        case("mm.default bmm.default", self=tensor(left), mat2=tensor(right))
        case("dot.default", self=tensor(left), tensor=tensor(right))
        case("vdot.default", self=tensor(left), other=tensor(right))
        case("mv.default", self=tensor(left), vec=tensor(right))
        case("outer.default ger.default", self=tensor(left), vec2=tensor(right))
        for p in (2.0, 1.0):
            case("cdist.default _cdist_forward.default", x1=tensor(left), x2=tensor(right), p=p)
        for bias in (None, "", "d", "1", "c1", "ab", "23"):
            case("linear.default", input=tensor(left), weight=tensor(right),
                 bias=None if bias is None else tensor(bias))  # fmt: skip
for own in ("", "a", "d", "ad", "1d", "a1", "abd", "dac", "1ac", "cad"):
    for left, right in (("ab", "bd"), ("ab", "cd"), ("2b", "3d"), ("ab", "b"), ("ab", "c")):
        case("addmm.default", self=tensor(own), mat1=tensor(left), mat2=tensor(right))
        case("addmv.default", self=tensor(own), mat=tensor(left), vec=tensor(right))
    for left, right in (("dab", "dbc"), ("2ab", "2bc"), ("dab", "2bc"), ("1ab", "1cd"), ("ab", "bd")):
        case("baddbmm.default addbmm.default", self=tensor(own), batch1=tensor(left), batch2=tensor(right))
for equation, ts in (("ij,jk->ik", ["ab", "cd"]), ("ii->i", ["ab"]), ("ij->j", ["ab"]), ("i,j->ij", ["a", "b"]),
                     ("...i,...i->...", ["ab", "cd"]), ("...ij,jk->...ik", ["abc", "cd"]), ("ij,ij->", ["ab", "cd"]),
                     ("bij,bjk->bik", ["abc", "dce"]), ("i,i->i", ["a", "b"]), ("ij,j", ["ab", "c"]), ("ij", ["abc"]),
                     ("i...->...", ["abc"]), ("...,...->...", ["ab", "c"]), ("ij->ik", ["ab"]), ("iij->ij", ["abc"]),
                     ("a,b,c->cab", ["a", "b", "c"]), ("...ab->...ba", ["ab"]), ("ij,jk", ["ab", "cd"])):  # fmt: skip
    case("einsum.default", equation=equation, tensors=[tensor(t) for t in ts])

# Attention and layers with a state

for q, k, v in (("ab", "cb", "cd"), ("ab", "cd", "ce"), ("2ab", "2cb", "2cd"), ("2ab", "ecb", "ecd"), ("2ab", "cb", "cd"),
                ("2eab", "2ecb", "2ecd"), ("2eab", "2fcb", "2fcd"), ("21ab", "1fcb", "1fcd"), ("a", "a", "a"),
                ("2eab", "2ecb", "2dcb"), ("21ab", "21cb", "21cb")):  # fmt: skip
    for mask in (None, "ac", "c", "1ac", "a1", "d", "2ac", "1c", ""):
        args = {"query": tensor(q), "key": tensor(k), "value": tensor(v)}
        names = "scaled_dot_product_attention.default _scaled_dot_product_attention_math.default"
        if len(q) == len(k) == len(v) == 4:  # it reads beyond tensors of other ranks
            names += " _scaled_dot_product_flash_attention_for_cpu.default"
        case(names, **args, attn_mask=None if mask is None else tensor(mask))  # fmt: skip
    case("scaled_dot_product_attention.default", **args, is_causal=True)
for q, k in (("2eab", "2fcb"), ("24ab", "2ecb"), ("1e2b", "1fc2"), ("eab", "fcb"), ("ab", "cb"), ("2eab", "1fcb")):
    for v in (k, k[:-1] + "3", k.replace("f", "d")):
        case("scaled_dot_product_attention.default", query=tensor(q), key=tensor(k), value=tensor(v), enable_gqa=True)
for gates, kind in ((4, "lstm"), (3, "gru"), (1, "rnn_tanh"), (1, "rnn_relu")):
    for x, h, first in (("abc", "1b2", False), ("ab3", "1d2", False), ("ab3", "1d2", True), ("ab3", "cd2", False),
                        ("ab3", "1de", False), ("ab", "1b", False), ("b3", "12", False), ("ab3", "c2", True)):  # fmt: skip
        for hidden in (2,):
            weights = [f"T:{gates * hidden},3", f"T:{gates * hidden},{hidden}"]
            hx = [tensor(h), tensor(h)] if kind == "lstm" else tensor(h)
            case(f"{kind}.input", input=tensor(x), hx=hx, params=weights, batch_first=first)
            biases = [f"T:{gates * hidden}"] * 2
            case(f"{kind}.input", input=tensor(x), hx=hx, params=[*weights, *biases], has_biases=True,
                 batch_first=first)  # fmt: skip
            twice = tensor("2" + h[1:]) if len(h) == 3 else tensor(h)
            hx = [twice, twice] if kind == "lstm" else twice
            case(f"{kind}.input", input=tensor(x), hx=hx, params=weights * 2, bidirectional=True, batch_first=first)
            later = [f"T:{gates * hidden},2", f"T:{gates * hidden},{hidden}"]
            case(f"{kind}.input", input=tensor(x), hx=hx, params=[*weights, *later], num_layers=2, batch_first=first)
    case("lstm.input", input="T:a,b,3", hx=["T:1,b,2", "T:1,d,2"], params=["T:8,3", "T:8,2"])
    case("lstm.input", input="T:a,b,3", hx=["T:1,b,c", "T:1,b,d"], params=["T:8,3", "T:8,2"])
    case("lstm.input", input="T:a,b,3", hx=["T:1,b,1", "T:1,b,2"], params=["T:8,3", "T:8,1", "T:1,2"])

# Norms

for x in ("", "a", "ab", "abc", "2abc"):
    for last in ([3], ["S:n"], [2, 3], ["S:m", "S:n"], [], [0]):
        for weight in (None, "3", "d", "23", "1"):
            w = None if weight is None else tensor(weight)
            case("layer_norm.default native_layer_norm.default", input=tensor(x), normalized_shape=last, weight=w,
                 bias=None)  # fmt: skip
            case("rms_norm.default _fused_rms_norm.default", input=tensor(x), normalized_shape=last, weight=w, eps=1e-5)
            if w:
                case("layer_norm.default native_layer_norm.default", input=tensor(x), normalized_shape=last,
                     weight=None, bias=w)  # fmt: skip
    for groups in (0, 1, 2, 3, "S:n"):
        for weight in (None, "d", "2", "b", "b1", ""):
            w = None if weight is None else tensor(weight)
            case("group_norm.default", input=tensor(x), num_groups=groups, weight=w)
        case("group_norm.default", input=tensor(x), num_groups=groups, bias="T:d")
    for given in (None, "d", "1", "b", "3"):
        w = None if given is None else tensor(given)
        for training in (False, True):
            for name in ("weight", "bias"):
                stats = {"running_mean": "T:b", "running_var": "T:b", "weight": None, "bias": None}
                case("batch_norm.default native_batch_norm.default _native_batch_norm_legit.default "
                     "_native_batch_norm_legit_functional.default", input=tensor(x), **{**stats, name: w},
                     training=training)  # fmt: skip
            for name in ("running_mean", "running_var"):
                stats = {"running_mean": "T:b", "running_var": "T:b", "weight": None, "bias": None}
                case("batch_norm.default native_batch_norm.default _native_batch_norm_legit.default "
                     "_native_batch_norm_legit_functional.default", input=tensor(x), **{**stats, name: w},
                     training=training)  # fmt: skip
                case("instance_norm.default", input=tensor(x), **{**stats, name: w}, use_input_stats=training)
            case("_native_batch_norm_legit.no_stats", input=tensor(x), weight=w, bias=None, training=training)
            case("instance_norm.default", input=tensor(x), weight=w, bias=None, running_mean=None, running_var=None,
                 use_input_stats=training)  # fmt: skip
            case("batch_norm.default native_batch_norm.default", input=tensor(x), weight=w, bias=None,
                 running_mean=None, running_var=None, training=training)  # fmt: skip
        for name in ("running_mean", "running_var", "weight", "bias"):
            stats = {"running_mean": "T:b", "running_var": "T:b", "weight": None, "bias": None}
            case("_native_batch_norm_legit_no_training.default _batch_norm_with_update.default "
                 "_batch_norm_with_update_functional.default _batch_norm_no_update.default",
                 input=tensor(x), **{**stats, name: w})  # fmt: skip
for c, w in ((4, None), (4, "T:4"), (3, "T:d")):
    for group in (1, 2):
        case("native_group_norm.default", input=f"T:a,{c},b", weight=w, bias=None, N="S:a", C=c, HxW="S:b", group=group)
        case("native_group_norm.default", input=f"T:a,{c},b", weight=w, bias=None, N="S:n", C=c, HxW="S:b", group=group)

# Windows

STRIDES = ((1, 0, 1), (2, 0, 1), (1, 1, 1), (2, 1, 1), (1, 0, 2), (3, 2, 2), (0, 0, 1), (2, 3, 1), (1, -1, 1))
for stride, padding, dilation in STRIDES:
    options = {"stride": [stride], "padding": [padding], "dilation": [dilation]}
    for kernel in ("1", "2", "3"):
        for x, w, groups in (("abc", "de" + kernel, 1), ("a2c", "d1" + kernel, 2), ("2bc", "de" + kernel, 2),
                             ("bc", "de" + kernel, 1), ("12c", "11" + kernel, 3)):  # fmt: skip
            case("conv1d.default", input=tensor(x), weight=tensor(w), groups=groups, **options)
            for extra in (0, 1, 2):
                case("conv_transpose1d.default", input=tensor(x), weight=tensor(w), groups=groups,
                     output_padding=[extra], **options)  # fmt: skip
    case("conv1d.default", input="T:2,b,c", weight="T:2,b,d", **options)
    case("conv_transpose1d.default", input="T:2,b,c", weight="T:b,2,d", **options)
    case("convolution.default", input="T:2,b,c", weight="T:2,b,3", bias=None, transposed=False, output_padding=[0],
         groups=1, **options)  # fmt: skip
    case("convolution.default", input="T:a,2,c", weight="T:2,d,2", bias=None, transposed=True, output_padding=[0],
         groups=1, **options)  # fmt: skip
    two = {k: [v[0], 1 if k != "padding" else 0] for k, v in options.items()}
    case("conv2d.default", input="T:a,2,b,c", weight="T:3,2,2,3", **two)
    case("conv_transpose2d.input", input="T:a,2,b,c", weight="T:2,3,2,3", output_padding=[1, 0], **two)
    three = {k: [v[0], 1 if k != "padding" else 0, 1 if k != "padding" else 0] for k, v in options.items()}
    case("conv3d.default", input="T:1,2,a,b,c", weight="T:3,2,2,1,2", **three)
    case("conv_transpose3d.input", input="T:1,2,a,b,c", weight="T:2,3,2,1,2", **three)
for bias in ("T:d", "T:3", "T:", "T:1", "T:3,1"):
    case("conv1d.default", input="T:2,1,a", weight="T:3,1,2", bias=bias)
    case("conv1d.default", input="T:2,1,a", weight="T:c,1,2", bias=bias)
    case("conv_transpose1d.default", input="T:2,1,a", weight="T:1,3,2", bias=bias)
    case("conv_transpose1d.default", input="T:2,2,a", weight="T:2,c,2", bias=bias, groups=2)
for padding in ("same", "valid"):
    for dilation in (1, 2):
        for stride in (1, 2):
            for k in ("1", "2", "3", "4"):
                case("conv1d.padding", input="T:a,2,b", weight=f"T:3,2,{k}", padding=padding, dilation=[dilation],
                     stride=[stride])  # fmt: skip
    case("conv2d.padding", input="T:1,2,a,b", weight="T:3,2,2,3", padding=padding)
    case("conv3d.padding", input="T:1,2,a,b,c", weight="T:3,2,2,3,1", padding=padding)
case("conv2d.default", input="T:2,a,b", weight="T:3,2,2,2")
case("conv2d.default", input="T:a,b", weight="T:3,2,2,2")
case("conv1d.default", input="T:a,b,c", weight="T:d,b,0")
case("conv1d.default", input="T:0,2,c", weight="T:0,2,1")
case("conv_transpose2d.input", input="T:2,a,b", weight="T:2,3,2,2", stride=[2, 2])
POOLS = ((2, [], 0, 1, False), (2, [], 0, 1, True), (3, 2, 1, 1, False), (3, 2, 1, 1, True), (2, 1, 1, 1, False),
         (2, 3, 0, 1, True), (2, 3, 1, 1, True), (3, 1, 0, 2, False), (2, 2, 2, 1, False), (1, 2, 0, 1, True),
         (3, 3, 1, 2, True), (0, 1, 0, 1, False), (2, 0, 0, 1, False), (4, 3, 2, 1, True), (2, 4, 1, 1, True),
         (1, 3, 0, 1, True))  # fmt: skip
for kernel, stride, padding, dilation, ceil in POOLS:
    one = {"kernel_size": [kernel], "stride": [stride] if stride != [] else [], "padding": [padding], "ceil_mode": ceil}
    for x in ("abc", "bc", "c", "2abc"):
        case("max_pool1d.default", self=tensor(x), dilation=[dilation], **one)
        case("avg_pool1d.default", self=tensor(x), **one)
    for x in ("2abc", "abc", "1ac2", "ab"):
        case("max_pool2d.default max_pool2d_with_indices.default", self=tensor(x), dilation=[dilation], **one)
        case("avg_pool2d.default", self=tensor(x), **one)
    for x in ("21abc", "2abc", "a2bc3", "abc"):
        case("max_pool3d.default max_pool3d_with_indices.default", self=tensor(x), dilation=[dilation], **one)
        case("avg_pool3d.default", self=tensor(x), **one)
case("max_pool2d.default avg_pool2d.default", self="T:1,2,a,b", kernel_size=[2, 3], stride=[1, 2], padding=[1, 0])
for count in (1, 2, 3):
    for size in ([2], [1], [0], [2, 3][:count] if count > 1 else [3], [3, 1, 2][:count]):
        for n in range(count, count + 4):
            x = tensor("2abcde"[:n]) if n > 3 else tensor("abc"[:n])
            for kind in ("avg", "max"):
                case(f"adaptive_{kind}_pool{count}d.default", self=x, output_size=size)
            if count > 1:
                case(f"_adaptive_avg_pool{count}d.default", self=x, output_size=size)
        x = tensor("abcd"[: count + 1])
        case(f"adaptive_avg_pool{count}d.default", self=x, output_size=["S:n"] * count if count > 1 else [2])
for kernel, dilation, padding, stride in (([2, 2], [1, 1], [0, 0], [1, 1]), ([2, 3], [1, 1], [1, 0], [2, 1]),
                                          ([2, 1], [2, 1], [0, 1], [1, 3]), ([1, 1], [1, 1], [0, 0], [0, 1])):  # fmt: skip
    options = {"kernel_size": kernel, "dilation": dilation, "padding": padding, "stride": stride}
    for x in ("2abc", "abc", "bc", "a1bc", "21abc"):
        case("im2col.default", self=tensor(x), **options)
    for x in ("abc", "bc", "2bc", "a"):
        for size in ([3, 3], [2, 4], ["S:n", 2], [0, 3]):
            case("col2im.default", self=tensor(x), output_size=size, **options)
UP = {1: "abc", 2: "1abc", 3: "11abc"}
for names, count in (("upsample_nearest1d _upsample_nearest_exact1d upsample_linear1d", 1),
                     ("upsample_nearest2d _upsample_nearest_exact2d upsample_bilinear2d upsample_bicubic2d "
                      "_upsample_bilinear2d_aa _upsample_bicubic2d_aa", 2),
                     ("upsample_nearest3d _upsample_nearest_exact3d upsample_trilinear3d", 3)):  # fmt: skip
    for name in names.split():
        shapes_of = [UP[count], UP[count][1:], UP[count] + "2", "ab" + "3" * count, "2b" + "a" * count]
        for x in shapes_of:
            for size in ([2] * count, [0] + [1] * (count - 1), ["S:n"] * count, [3]):
                case(f"{name}.default", self=tensor(x), output_size=size)
                case(f"{name}.vec", input=tensor(x), output_size=size, scale_factors=None)
            for factor in (2.0, 0.5, 1.5, 0.3, 2.5, 1.0):
                case(f"{name}.vec", input=tensor(x), output_size=None, scale_factors=[factor] * count)
        case(f"{name}.vec", input=tensor(shapes_of[0]), output_size=None, scale_factors=[2.0])
for x, grid in (("1abc", "1de2"), ("a1bc", "de22"), ("a1bc", "dbc2"), ("12ab", "1d23"), ("12abc", "1d223"),
                ("1abc1", "11d13"), ("a211", "b1c2"), ("ab", "ab2")):  # fmt: skip
    case("grid_sampler.default", input=tensor(x), grid=tensor(grid))
    case("grid_sampler_2d.default grid_sampler_3d.default", input=tensor(x), grid=tensor(grid))
    for mode in (1, 2):
        case("grid_sampler.default", input=tensor(x), grid=tensor(grid), interpolation_mode=mode, padding_mode=2)
for theta in ("a23", "a34", "abc", "123", "ab"):
    for size in ([1, 2, "S:n", "S:m"], ["S:n", 1, 2, 3], ["S:n", 1, 2, 1, "S:m"], [1, 2, 3], [1, 0, 2, "S:n"]):
        case("affine_grid_generator.default", theta=tensor(theta), size=size)
for x in ("abcd", "2abc", "abc", "ab", "a", "2abcd"):
    for block in (1, 2, 3, 0, -1):
        case("pixel_shuffle.default", self=tensor(x), upscale_factor=block)
        case("pixel_unshuffle.default", self=tensor(x), downscale_factor=block)
        case("channel_shuffle.default native_channel_shuffle.default", self=tensor(x), groups=block)
case("pixel_shuffle.default", self="T:1,a,b,c", upscale_factor=2)
case("pixel_shuffle.default", self="T:1,8,b,c", upscale_factor=2)

# Losses

for left, right in (("ab", "cd"), ("a", "b"), ("ab", "ab"), ("", "a"), ("a1", "b"), ("abc", "ab")):
    case("binary_cross_entropy.default binary_cross_entropy_with_logits.default hinge_embedding_loss.default "
         "soft_margin_loss.default", self=tensor(left), target=tensor(right))  # fmt: skip
    case("binary_cross_entropy.default binary_cross_entropy_with_logits.default hinge_embedding_loss.default",
         self=tensor(left), target=tensor(right), reduction=0)  # fmt: skip
    case("binary_cross_entropy.default binary_cross_entropy_with_logits.default",
         self=tensor(left), target=tensor(left), weight=tensor(right), reduction=0)  # fmt: skip
    case("poisson_nll_loss.default", input=tensor(left), target=tensor(right), log_input=True, full=False, reduction=0)
    case("complex.default", real=tensor(left), imag=tensor(right))
    case("polar.default", abs=tensor(left), angle=tensor(right))
    case("isclose.default", self=tensor(left), other=tensor(right))
for one, two, three in (("ab", "cb", "a"), ("ab", "cd", "a"), ("a", "b", ""), ("a", "b", "c"), ("ab", "ab", "ab"),
                        ("ab", "cd", "ab"), ("abc", "abc", "ab")):  # fmt: skip
    case("cosine_embedding_loss.default margin_ranking_loss.default",
         input1=tensor(one), input2=tensor(two), target=tensor(three), reduction=0)  # fmt: skip
    case("triplet_margin_loss.default", anchor=tensor(one), positive=tensor(two), negative=tensor(one), reduction=0)
    case("triplet_margin_loss.default", anchor=tensor(one), positive=tensor(two), negative=tensor(one), swap=True)
for scores, classes in (("ab", "c"), ("a", ""), ("a", "b"), ("abc", "dc"), ("abcd", "a2d"), ("ab", "a"), ("a2b", "ab"),
                        ("ab", "cd"), ("abc", "ac")):  # fmt: skip
    wanted = tensor(classes, "int")
    for reduction in (0, 1):
        case("cross_entropy_loss.default nll_loss_nd.default", self=tensor(scores), target=wanted, reduction=reduction)
    case(
        "cross_entropy_loss.default nll_loss_nd.default", self=tensor(scores), target=wanted, weight="T:b", reduction=0
    )
    case("cross_entropy_loss.default", self=tensor(scores), target=tensor(scores), reduction=0)
for scores, classes in (("ab", "cd"), ("a", "b"), ("a2b", "c2b")):
    case("cross_entropy_loss.default", self=tensor(scores), target=tensor(classes), reduction=0)

# Transforms

for n in range(4):
    x, z = shape(n), shape(n, "complex")
    for dim in dims(n):
        case("fft_fft.default fft_rfft.default fft_ihfft.default fft_hfft.default fft_ifft.default", self=x, dim=dim)
        case("fft_irfft.default fft_hfft.default fft_fft.default", self=z, dim=dim)
        case("fft_fft.default fft_rfft.default", self=x, n="S:n", dim=dim)
        case("fft_irfft.default", self=z, n="S:n", dim=dim)
        case("fft_fftshift.default fft_ifftshift.default", self=x, dim=[dim])
    case("fft_fftshift.default fft_ifftshift.default", self=x)
    case("fft_fft2.default fft_ifft2.default fft_rfft2.default fft_fftn.default fft_rfftn.default", self=x)
    case("fft_irfft2.default fft_irfftn.default", self=z)
    case("fft_fft2.default fft_rfft2.default", self=x, s=["S:n", 3])
    case("fft_fftn.default fft_rfftn.default", self=x, s=[3, "S:n"])
    case("fft_fftn.default fft_rfftn.default", self=x, s=[3, -1], dim=[0, -1])
    case("fft_fftn.default fft_rfftn.default", self=x, dim=[0])
    case("fft_fftn.default", self=x, dim=[0, 0])
for x in ("a", "ab", "abc"):
    for frame, hop in ((4, 2), (3, 1), (1, 1), (2, None), (5, 3), (8, None)):
        for center in (True, False):
            case("stft.center", self=tensor(x), n_fft=frame, hop_length=hop, center=center, return_complex=True)
        case("stft.center", self=tensor(x), n_fft=frame, hop_length=hop, center=True, pad_mode="constant",
             onesided=False, return_complex=True)  # fmt: skip
    for window in (None, "T:c"):
        case("stft.default", self=tensor(x), n_fft=4, hop_length=2, win_length=3, window=window, return_complex=True)
    case(
        "stft.center",
        self=tensor(x),
        n_fft=4,
        hop_length=2,
        win_length=3,
        window="T:c",
        center=True,
        return_complex=True,
    )

# Matrices

for x in ("", "a", "ab", "aab", "abc", "22", "a33", "abcd", "aa"):
    case("linalg_inv.default linalg_det.default linalg_slogdet.default "
         "linalg_svdvals.default linalg_inv_ex.default", **{"A": tensor(x)})  # fmt: skip
    case("linalg_matrix_exp.default trace.default logdet.default linalg_matrix_norm.str_ord", self=tensor(x))
    case("linalg_matrix_norm.str_ord", self=tensor(x), ord="nuc", dim=[0, -1], keepdim=True)
    case("linalg_eigh.default linalg_eigvalsh.default linalg_eigvals.default linalg_eig.default", self=tensor(x))
    case("linalg_matrix_power.default", self=tensor(x), n=2)
    case("linalg_cholesky_ex.default", self=tensor(x))
    case("linalg_svd.default", **{"A": tensor(x)})
    case("linalg_svd.default", **{"A": tensor(x), "full_matrices": False})
    for mode in ("reduced", "complete", "r"):
        case("linalg_qr.default", **{"A": tensor(x), "mode": mode})
    case("linalg_pinv.default", self=tensor(x), rcond=1e-3)
for left, right in (("ab", "cd"), ("aa", "b"), ("aa", "ab"), ("22", "a"), ("b33", "c3d"), ("aab", "cd"), ("a22", "a2"),
                    ("a22", "bc2"), ("a", "bc")):  # fmt: skip
    case("linalg_solve_triangular.default", self=tensor(left), B=tensor(right), upper=True)
    case("linalg_solve_triangular.default", self=tensor(left), B=tensor(right), upper=True, left=False)
    case("cholesky_solve.default", self=tensor(right), input2=tensor(left))
    case("linalg_vecdot.default", x=tensor(left), y=tensor(right))
    case("linalg_solve_ex.default", **{"A": tensor(left), "B": tensor(right)})
    case("linalg_vecdot.default", x=tensor(left), y=tensor(right), dim=0)
for left, right in (("ab", "cd"), ("a3", "b3"), ("3a", "3b"), ("a", "b"), ("ab3", "cd3"), ("ab", "c")):
    for dim in (-1, 0):
        case("linalg_cross.default", self=tensor(left), other=tensor(right), dim=dim)
for several in (("ab", "cd"), ("a", "bc"), ("ab", "c"), ("a", "b"), ("ab", "bc", "cd"), ("a2", "b3", "cd"), ("ab",)):
    case("linalg_multi_dot.default", tensors=[tensor(x) for x in several])
    case("chain_matmul.default", matrices=[tensor(x) for x in several])
for left, right, one, other in (("ab", "cd", [1], [0]), ("ab", "cd", [0, 1], [0, 1]), ("ab", "cd", [], []),
                                ("ab", "cd", [0], [0, 1]), ("abc", "d", [1], [0]), ("ab", "cd", [2], [0]),
                                ("ab", "ba", [0, 1], [1, 0]), ("ab", "cd", [0, 0], [0, 1]), ("", "", [], [])):  # fmt: skip
    case("tensordot.default", self=tensor(left), other=tensor(right), dims_self=one, dims_other=other)

# Built from several steps

for n in range(4):
    x = shape(n)
    for dim in dims(n):
        for times in (0, 1, 2):
            case("diff.default", self=x, n=times, dim=dim)
        case("trapezoid.dx", y=x, dim=dim)
        case("diag_embed.default", self=x, dim1=dim, dim2=-1)
    case("diff.default", self=x, n=-1)
    case("diff.default", self=x, prepend=shape(n), dim=0)
    for offset in (-2, 1):
        case("diag_embed.default", self=x, offset=offset)
    for k in (0, 1, 3):
        case("rot90.default", self=x, k=k)
        case("rot90.default", self=x, k=k, dims=[0, -1])
    case("rot90.default", self=x, dims=[0, 0])
    case("histc.default", self=x, bins=3)
    case("histc.default", self=x, bins=0)
    case(
        "msort.default nanmean.default nanmedian.default uniform_.default exponential_.default hardswish.default",
        self=x,
    )
    case("nanmean.default", self=x, dim=[0], keepdim=True)
    case("multinomial.default", self=x, num_samples="S:n")
    case("multinomial.default", self=x, num_samples="S:n", replacement=True)
    case("prelu.default", self=x, weight="T:1")
    case("prelu.default", self=x, weight="T:")
    case("prelu.default", self=shape(min(n, 3)), weight="T:d")
    case("isin.Tensor_Tensor", elements=x, test_elements="T:d")
    case("randint_like.default", self=x, high=3)
case("diff.default", self="T:a,b", prepend="T:c,d", dim=1)
case("diff.default", self="T:a,b", append="T:c", dim=1)
for n in ("S:n", 3, 0):
    case("randperm.default", n=n)
for x, index in (("ab", "cd"), ("ab", "c"), ("a", "b"), ("", ""), ("abc", "a2d"), ("", "a")):
    case("take.default", self=tensor(x), index=tensor(index, "int"))
    for dim in (None, 0, 1, -1):
        case("take_along_dim.default", self=tensor(x), indices=tensor(index, "int"), dim=dim)
for v, g in (("ab", "c1"), ("ab", "cd"), ("abc", "a11"), ("ab", "1b"), ("a", "b"), ("abc", "d"), ("ab", "")):
    for dim in (0, 1):
        case("_weight_norm.default", v=tensor(v), g=tensor(g), dim=dim)

# Cells, bags, quantiles and factors

for x, h, into, onto in (("ab", "cd", "eb", "ed"), ("a2", "ab", "42", "4b"), ("a2", "b1", "c2", "c1"), ("a", "b", "42", "41"),
                         ("a2", "ab", "32", "3b"), ("a2", "ab", "b2", "bb"), ("2a", "2b", "3a", "31"), ("2a", "b1", "1a", "11")):  # fmt: skip
    weights = {"w_ih": tensor(into), "w_hh": tensor(onto)}
    case("gru_cell.default rnn_tanh_cell.default rnn_relu_cell.default", input=tensor(x), hx=tensor(h), **weights)
    case("lstm_cell.default", input=tensor(x), hx=[tensor(h), tensor(h)], **weights)
for bias in ("a", "1", "3"):
    weights = {"w_ih": "T:3,2", "w_hh": "T:3,1", "b_ih": tensor(bias), "b_hh": "T:b"}
    case("gru_cell.default", input="T:2,2", hx="T:2,1", **weights)
for weight, indices, offsets in (
    ("ab", "c", "d"),
    ("a3", "b", "b"),
    ("a", "b", "c"),
    ("ab", "cd", "a"),
    ("ab", "c", "1"),
):
    bag = {"weight": tensor(weight), "indices": tensor(indices, "int"), "offsets": tensor(offsets, "int")}
    case("embedding_bag.default _embedding_bag.default _embedding_bag_forward_only.default", **bag)
    case("embedding_bag.default", **bag, include_last_offset=True)
    case("embedding_bag.default", **bag, mode=0, per_sample_weights="T:d")
for x, index, sizes in (("1aab", "1aab", (4, 4)), ("ab", "ab", (2, 2)), ("abc", "abc", ("S:d", 2)), ("abc", "adc", (3, 3)),
                        ("a1bb", "a1bb", (4, "S:c")), ("1a12", "1a12", (0, 2)), ("1a12", "1a12", ("S:b", "S:c"))):  # fmt: skip
    case("max_unpool2d.default", self=tensor(x), indices=tensor(index, "int"), output_size=list(sizes))
case("max_unpool3d.default", self="T:a,b,1,1", indices="T:a,b,1,1:int", output_size=["S:d", 4, 1], stride=[2, 2, 2],
     padding=[0, 0, 0])  # fmt: skip
for x in ("1abcd", "1a2b1", "abcd", "ab"):
    case("max_unpool3d.default", self=tensor(x), indices=tensor(x, "int"), output_size=[4, 4, 4],
         stride=[2, 2, 2], padding=[0, 0, 0])  # fmt: skip
for n in range(4):
    x = shape(n)
    case("pdist.default ravel.default absolute.default negative.default fix.default argwhere.default", self=x)
    for q in ("T:", "T:d", "T:d,2"):
        case("quantile.default nanquantile.default", self=x, q=q)
        for dim in dims(n):
            case("quantile.default nanquantile.default", self=x, q=q, dim=dim, keepdim=dim == 0)
    case("quantile.scalar nanquantile.scalar", self=x, q=0.5, dim=-1)
    for order in (1, 2):
        case("gradient.scalarint", self=x, edge_order=order)
        for dim in dims(n):
            case("gradient.scalarint", self=x, dim=dim, edge_order=order)
    case("gradient.scalararray", self=x, spacing=1.0, dim=[0, 1])
    case("gradient.array", self=x, dim=[0], edge_order=1)
    case("gradient.scalarrayarray", self=x, spacing=[1.0, 2.0], dim=[0, 1])
    case("gradient.scalarrayint", self=x, spacing=[1.0, 2.0])
    case("gradient.tensorarrayint", self=x, spacing=["T:a", "T:d"])
    for number in (None, 0, 1, 2, "S:n"):
        case("vander.default linalg_vander.default", x=x, N=number)
    for r in (0, 1, 2, 3):
        for again in (False, True):
            case("combinations.default", self=x, r=r, with_replacement=again)
    for dim in dims(n):
        case("cumulative_trapezoid.dx", y=x, dim=dim)
        case("special_softmax.default special_log_softmax.default cumsum_.default cumprod_.default", self=x, dim=dim)
    for offset in (-2, 0, 1):
        case("diagflat.default", self=x, offset=offset)
    for order in (None, 0, 1, -1, 2, -2, 3, float("inf"), float("-inf")):
        case("linalg_norm.default", self=x, ord=order)
        for axes in ([0], [-1], [0, 1], [-1, -2], [0, 0], [], [2, 0]):
            case("linalg_norm.default", self=x, ord=order, dim=axes, keepdim=len(axes) == 1)
    for order in ("fro", "nuc", "no"):
        case("linalg_norm.ord_str", self=x, ord=order)
        case("linalg_norm.ord_str", self=x, ord=order, dim=[-1, 0])
    case("linalg_lu.default linalg_lu_factor.default linalg_lu_factor_ex.default", A=x)
    case("linalg_lu.default", A=x, pivot=False)
    case("geqrf.default cholesky_inverse.default", self=x)
    case("linalg_matrix_rank.atol_rtol_float", self=x)
    for p in (None, 1, 2, -2, float("inf")):
        case("linalg_cond.default", self=x, p=p)
    case("poisson.default random_.default normal_.default bernoulli_.float tril_.default triu_.default", self=x)
for one, other in (("ab", "c"), ("ab", "cd"), ("a1", "b")):
    case("dist.default subtract.Tensor multiply.Tensor divide.Tensor greater.Tensor less_equal.Tensor arctan2.default "
         "special_xlogy.default floor_divide_.Tensor", self=tensor(one), other=tensor(other))  # fmt: skip
    case("masked_fill_.Scalar", self=tensor(one), mask=tensor(other, "bool"), value=1)
    case("sum_to_size.default", self=tensor(one), size=[f"S:{x}" if x.isalpha() else int(x) for x in other])
for several in (("a", "b", "c"), ("a",), ("a", "bc"), ("", "a")):
    case("cartesian_prod.default", tensors=[tensor(x) for x in several])
for several in (("ab", "cd"), ("a", "b", "c"), ("a2", "b2"), ("a", "bc"), ("", ""), ("ab",)):
    for first in (False, True):
        case("pad_sequence.default", sequences=[tensor(x) for x in several], batch_first=first)
for x, tau in (("ab", "c"), ("ab", "b"), ("abc", "ad"), ("a", "b"), ("abc", "d")):
    case("linalg_householder_product.default", input=tensor(x), tau=tensor(tau))
    case("orgqr.default", self=tensor(x), input2=tensor(tau))
for x, target in (("ab", "c"), ("a", "b"), ("a", ""), ("ab", "a"), ("abc", "ac"), ("a3", "a")):
    for weight in (None, "T:d", "T:3"):
        for reduction in (0, 1):
            given = {"self": tensor(x), "target": tensor(target, "int"), "weight": weight, "reduction": reduction}
            case("nll_loss.default", **given)
            case("nll_loss_forward.default", **given, ignore_index=-100)
for x, target in (("a3bc", "abc"), ("abcd", "acd"), ("1abc", "1de"), ("abc", "ac")):
    for reduction in (0, 1):
        case("nll_loss2d.default", self=tensor(x), target=tensor(target, "int"), reduction=reduction)
        case("nll_loss2d_forward.default", self=tensor(x), target=tensor(target, "int"), weight=None,
             reduction=reduction, ignore_index=-100)  # fmt: skip
for x in ("a", "3a", "a3b", "3ab", "ab"):
    for width, hop, center, sided in ((4, 1, True, None), (4, 2, True, True), (4, 2, False, True), (5, 1, True, True),
                                      (3, 1, True, False), (4, 4, True, True)):  # fmt: skip
        case("istft.default", self=tensor(x, "complex"), n_fft=width, hop_length=hop, center=center, onesided=sided)
    case("istft.default", self=tensor(x, "complex"), n_fft=4, window="T:c")
    case("istft.default", self=tensor(x, "complex"), n_fft=4, hop_length=1, window="T:4", length="S:n")
for index in ("b", ""):
    for dim in (0, 1):
        case("index_fill_.int_Scalar", self="T:a,c", index=tensor(index, "int"), dim=dim, value=1)
        case(
            "index_add_.default index_copy_.default", self="T:a,c", index=tensor(index, "int"), dim=dim, source="T:d,c"
        )
case("scatter_reduce_.two", self="T:a,b", dim=0, index="T:c,d:int", src="T:c,b", reduce="sum")

# Operators that are analysed by torch's decompositions

for n in range(4):
    x = shape(n)
    case("fliplr.default flipud.default mH.default log_sigmoid_forward.default", self=x)
    case("matrix_power.default", self=x, n=2)
    for offset in (-1, 0, 1):
        case("diag.default", self=x, diagonal=offset)
        case("diagonal_scatter.default", self=x, src="T:d", offset=offset)
    case("cov.default corrcoef.default", self=x)
    case("unfold_copy.default", self=x, dimension=0, size=2, step=1)
    for dim in dims(n):
        case("special_logsumexp.default", self=x, dim=[dim])
    case("select_backward.default", grad_output=x, input_sizes=["S:a", 3, "S:b"], dim=1, index=1)
    case("slice_backward.default", grad_output=x, input_sizes=["S:a", "S:d", 2], dim=1, start=0, end=2, step=1)
    case("embedding_dense_backward.default", grad_output=x, indices="T:a,b:int", num_weights=4, padding_idx=-1,
         scale_grad_by_freq=False)  # fmt: skip
for one, other in (("ab", "ab"), ("ab", "cd"), ("a", "a"), ("a", "b"), ("ab", "b"), ("abc", "abc"), ("", "")):
    case("mse_loss_backward.default", grad_output="T:", self=tensor(one), target=tensor(other), reduction=1)
    case("multilabel_margin_loss_forward.default", self=tensor(one), target=tensor(other, "int"), reduction=1)
for one, left, right in (
    ("ab", "a", "b"),
    ("ab", "c", "d"),
    ("a", "b", "c"),
    ("", "a", "b"),
    ("1b", "a", "b"),
    ("ab", "ab", "c"),
):
    case("addr.default", self=tensor(one), vec1=tensor(left), vec2=tensor(right))
for left, right in (("a3", "b3"), ("3a", "3b"), ("ab", "cd"), ("a", "b"), ("3", "3"), ("ab3", "b3")):
    case("cross.default", self=tensor(left), other=tensor(right), dim=-1)
    case("_euclidean_dist.default", x1=tensor(left), x2=tensor(right))
for one, target in (("ab", "a"), ("ab", "c"), ("a", ""), ("a", "b"), ("a3", "a"), ("abc", "a")):
    case("multi_margin_loss.default", self=tensor(one), target=tensor(target, "int"))
for rows, columns in (("S:a", "S:b"), (3, "S:b"), ("S:a", "S:a"), (2, 3)):
    for offset in (-1, 0, 2):
        case("tril_indices.default triu_indices.default", row=rows, col=columns, offset=offset)
for one, size in (("abc", "bc"), ("ab", "b"), ("ab", "cd"), ("a", "a"), ("a3", "3"), ("abc", "c")):
    sizes = [f"S:{x}" if x.isalpha() else int(x) for x in size]
    kept = tensor(tuple(one[: len(one) - len(size)]) + ("1",) * len(size))
    case("native_layer_norm_backward.default", grad_out=tensor(one), input=tensor(one), normalized_shape=sizes,
         mean=kept, rstd=kept, weight=tensor(size), bias=tensor(size), output_mask=[True, True, True])  # fmt: skip
for v, g in (("ab", "a1"), ("ab", "c1"), ("abc", "a11"), ("ab", "cd"), ("a", "a")):
    case("_weight_norm_interface.default", v=tensor(v), g=tensor(g), dim=0)
for one, left, right in (("c", "ab", "bc"), ("ac", "ab", "bc"), ("d", "ab", "bc"), ("", "ab", "bc"), ("1", "ab", "cd")):
    case("_addmm_activation.default", self=tensor(one), mat1=tensor(left), mat2=tensor(right))
for one, target in (("ab", "a"), ("a3", "a"), ("ab", "c"), ("a", "")):
    case("nll_loss_backward.default", grad_output="T:", self=tensor(one), target=tensor(target, "int"), weight=None,
         reduction=1, ignore_index=-100, total_weight="T:")  # fmt: skip

# Gradients, elements by strides, and symmetric factors

for grad, one, weights, options in (
    ("2cd", "2ab", "43", {"stride": [1]}),
    ("2cd", "2ab", "c32", {"stride": [2]}),
    ("cd", "ab", "4a2", {"stride": [1]}),
    ("acd", "a3b", "c32", {"stride": [1], "padding": [1]}),
    ("acd", "a3b", "3c2", {"stride": [2], "transposed": True}),
    ("a4cd", "a3bc", "4321", {"stride": [1, 2]}),
):
    spread = len(weights) - 2
    case("convolution_backward.default", grad_output=tensor(grad), input=tensor(one), weight=tensor(weights),
         bias_sizes=None, **{"padding": [0] * spread, "dilation": [1] * spread, "transposed": False,
                             "output_padding": [0] * spread, "groups": 1, **options},
         output_mask=[True, True, False])  # fmt: skip
for one, grad in (("2cab", "2cde"), ("cab", "cde"), ("2c4b", "2c2d"), ("ab", "cd"), ("acb4", "acd2")):
    for ceil in (False, True):
        case("avg_pool2d_backward.default", grad_output=tensor(grad), self=tensor(one), kernel_size=[2, 2],
             stride=[2, 2], padding=[0, 0], ceil_mode=ceil, count_include_pad=True,
             divisor_override=None)  # fmt: skip
        case("max_pool2d_with_indices_backward.default", grad_output=tensor(grad), self=tensor(one),
             kernel_size=[2, 2], stride=[2, 2], padding=[0, 0], dilation=[1, 1], ceil_mode=ceil,
             indices=tensor(grad, "int"))  # fmt: skip
for one in ("a", "ab", "a3", ""):
    for size, stride in ((["S:c"], [2]), (["S:c", "S:d"], [1, 2]), (["S:c", 2], [2, 1]), ([], []), (["S:c"], [1, 1])):
        for offset in (None, 1):
            case("as_strided.default as_strided_copy.default", self=tensor(one), size=size, stride=stride,
                 storage_offset=offset)  # fmt: skip
for n in range(4):
    case("linalg_ldl_factor.default linalg_ldl_factor_ex.default", self=shape(n))
for left, pivots, right in (
    ("aa", "a", "ab"),
    ("ab", "c", "de"),
    ("aa", "b", "a3"),
    ("aab", "a", "b"),
    ("abb", "ab", "bc"),
    ("abb", "ab", "abc"),
    ("a33", "a3", "b3c"),
    ("33", "3", "abc"),
):
    case("linalg_ldl_solve.default", LD=tensor(left), pivots=tensor(pivots, "int32"), B=tensor(right))

# Quantisation, counts, frequencies, and tensors as matrices

for x in ("", "a", "ab", "abc"):
    for other in ("", "a", "b", "ab"):
        for axis in (-1, 0, 1, 3):
            case("fake_quantize_per_channel_affine.default fake_quantize_per_channel_affine_cachemask.default",
                 self=tensor(x), scale=tensor(other), zero_point=tensor(other, "int32"), axis=axis, quant_min=0,
                 quant_max=9)  # fmt: skip
        case("fake_quantize_per_channel_affine.default", self=tensor(x), scale=tensor("c"),
             zero_point=tensor(other, "int32"), axis=0, quant_min=0, quant_max=9)  # fmt: skip
        case("quantize_per_channel.default", self=tensor(x), scales=tensor(other), zero_points=tensor(other, "int"),
             axis=0, dtype=13)  # fmt: skip
    case("quantize_per_tensor.default", self=tensor(x), scale=0.1, zero_point=0, dtype=13)
    case("bincount.default", self=tensor(x, "int"))
    case("bincount.default", self=tensor(x, "int"), minlength=3)
    case("bincount.default", self=tensor(x, "int"), weights="T:c")
    for order in (1, -1, 2, -2, 3, float("inf"), float("-inf")):
        case("linalg_matrix_norm.default", self=tensor(x), ord=order)
        case("linalg_matrix_norm.default", self=tensor(x), ord=order, dim=[0, -1], keepdim=True)
        case("linalg_matrix_norm.default", self=tensor(x), ord=order, dim=[0, 0])
for n in ("S:n", -1, 0, 1):
    case("fft_fftfreq.default fft_rfftfreq.default randperm.default", n=n)
for x in ("", "a", "ab", "abc", "a2b1", "1a1", "ab22"):
    for ind in (-1, 0, 1, 2, 5):
        case("linalg_tensorinv.default", self=tensor(x), ind=ind)
    for y in ("", "a", "c", "ab"):
        case("linalg_tensorsolve.default", self=tensor(x), other=tensor(y))
        case("linalg_tensorsolve.default", self=tensor(x), other=tensor(y), dims=[0])
        case("linalg_lstsq.default", self=tensor(x), b=tensor(y))
for left, right in (
    ("ab", "abc"),
    ("abc", "bc"),
    ("abc", "ab"),
    ("abc", "dbe"),
    ("1bc", "ab"),
    ("abc", "1bd"),
    ("ab", "cd"),
):
    case("linalg_lstsq.default", self=tensor(left), b=tensor(right))
    case("_int_mm.default", self=tensor(left, "int8"), mat2=tensor(right, "int8"))
for one, other in (("ab", "cd"), ("a", "c"), ("", "c"), ("ab", "a"), ("a", ""), ("abc", "abc")):
    for reduction in (0, 1):
        case("multilabel_margin_loss.default multilabel_margin_loss_forward.default",
             self=tensor(one), target=tensor(other, "int"), reduction=reduction)  # fmt: skip
for mode in ("constant", "reflect", "replicate", "circular"):
    for pad in ([-1, 2], [2, -1], [-2, -1], [-3, 3], [0, -2], [-1, 2, 1, -2]):
        case("pad.default", self=tensor("1abc"[: 2 + len(pad) // 2]), pad=pad, mode=mode)

import gradient_cases  # noqa: E402, F401 - it adds cases

CASES = {name: calls[:: -(-len(calls) // MOST)] for name, calls in ALL.items()}
"""The calls that are tried, by the name of the overload."""
