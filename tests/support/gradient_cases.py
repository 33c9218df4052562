"""Calls of gradients, of kernels that decompositions leave, and of operators in place; see `operator_cases`."""

from __future__ import annotations

from operator_calls import case, dims, shape, tensor

# Transforms

for n in range(1, 4):
    for axes in ([], [0], [n - 1], [0, n - 1], [n - 1, 0], [n], [-1]):
        if axes != [-1]:
            case("_fft_c2c.default", self=shape(n, "complex"), dim=axes, normalization=0, forward=True)
        if axes not in ([-1], [n]) and len(set(axes)) == len(axes):
            for one_sided in (True, False):
                case("_fft_r2c.default", self=shape(n), dim=axes, normalization=0, onesided=one_sided)
            case("_fft_c2r.default", self=shape(n, "complex"), dim=axes, normalization=0, last_dim_size="S:n")
    z = shape(n, "complex")
    case("fft_hfft2.default fft_hfftn.default", self=z)
    case("fft_hfft2.default fft_hfftn.default", self=z, s=["S:n", 3])
    case("_conj.default", self=z)
    case("fft_ihfft2.default fft_ihfftn.default", self=shape(n))
    case("fft_hfftn.default fft_ihfftn.default", self=shape(n), dim=[0])
    case("fft_ihfftn.default", self=shape(n), s=[3, "S:n"])

# Masks and indices

for one, mask, source in (("ab", "ab", "c"), ("ab", "b", "cd"), ("a", "b", "c"), ("ab", "a1", "cd"), ("", "", "a"),
                          ("a", "bc", "d"), ("", "a", "b"), ("a1", "1b", "c"), ("1", "a", "b")):  # fmt: skip
    given = {"self": tensor(one), "mask": tensor(mask, "bool"), "source": tensor(source)}
    case("masked_scatter.default masked_scatter_.default", **given)
    case("masked_scatter_backward.default", grad_output=tensor(one), mask=tensor(mask, "bool"), sizes=["S:c", "S:d"])
for n in range(3):
    for index in ("d", "", "2"):
        for source in ("", "d", "db", "ad", "2b"):
            case("index_reduce.default index_reduce_.default", self=shape(n), dim=0, index=tensor(index, "int"),
                 source=tensor(source), reduce="amax")  # fmt: skip
for one, indices, values in (
    ("ab", ["c"], "cb"),
    ("ab", ["c"], "b"),
    ("ab", ["c", "d"], "c"),
    ("a", ["b"], ""),
    ("a", ["b"], "c"),
):
    given = {"self": tensor(one), "indices": [tensor(i, "int") for i in indices], "values": tensor(values)}
    case("_index_put_impl.default _index_put_impl_.default", **given)

# Operators in place

for n in range(4):
    x = shape(n)
    case("t_.default squeeze_.default zero.default uniform.default normal_functional.default lift.default "
         "_standard_gamma.default", self=x)  # fmt: skip
    case("arccos.default arccos_.default arctan.default arcsinh_.default negative_.default fix_.default "
         "absolute_.default mish_.default relu6_.default special_ndtr.default", self=x)  # fmt: skip
    for dim in dims(n):
        case("unsqueeze_.default squeeze_.dim", self=x, dim=dim)
        case("_safe_softmax.default", self=x, dim=dim)
        case("transpose_.default", self=x, dim0=dim, dim1=0)
        case("unsafe_split_with_sizes.default", self=x, split_sizes=[2, 0, 1], dim=dim)
        case("renorm_.default", self=x, p=2, dim=dim, maxnorm=1.0)
        case("_softmax_backward_data.default _log_softmax_backward_data.default", grad_output=x, output=x, dim=dim)
        case("glu_backward.default", grad_output=tensor("efgh"[:n]), self=x, dim=dim)
        for window, step in ((2, 1), (1, 2), (0, 1)) if n < 3 else ():
            grad = [*["a", "b", "c"][:n], "d"]
            case("unfold_backward.default", grad_in=tensor(grad), input_sizes=[f"S:{a}" for a in "efg"[:n]], dim=dim,
                 size=window, step=step)  # fmt: skip
for left, right in (("ab", "cb"), ("a", "b"), ("ab", "b"), ("a1", "1b"), ("b", "ab"), ("", "a")):
    case("eq_.Tensor ge_.Tensor copysign_.Tensor xlogy_.Tensor less_.Tensor multiply_.Tensor "
         "true_divide_.Tensor subtract_.Tensor arctan2_.default",
         self=tensor(left), other=tensor(right))  # fmt: skip
    case("rsub.Tensor", self=tensor(left), other=tensor(right))
    case("gcd_.default lcm_.default __iand__.Tensor __ior__.Tensor __ixor__.Tensor", self=tensor(left, "int"),
         other=tensor(right, "int"))  # fmt: skip
    case("masked_fill.Tensor", self=tensor(left), mask=tensor(right, "bool"), value="T:")
    for name in ("hardtanh_backward", "leaky_relu_backward", "softplus_backward", "softshrink_backward"):
        more = {"hardtanh_backward": {"min_val": -1, "max_val": 1}, "leaky_relu_backward": {"negative_slope": 0.1,
                "self_is_result": False}, "softplus_backward": {"beta": 1, "threshold": 20},
                "softshrink_backward": {"lambd": 0.5}}[name]  # fmt: skip
        case(f"{name}.default", grad_output=tensor(left), self=tensor(right), **more)
    case("hardswish_backward.default hardsigmoid_backward.default mish_backward.default", grad_output=tensor(left),
         self=tensor(right))  # fmt: skip
    case("elu_backward.default", grad_output=tensor(left), alpha=1, scale=1, input_scale=1, is_result=False,
         self_or_result=tensor(right))  # fmt: skip
    case("log_sigmoid_backward.default", grad_output=tensor(left), self=tensor(right), buffer="T:0")
    case("_prelu_kernel.default", self=tensor(left), weight=tensor(right))
    case("_prelu_kernel_backward.default", grad_output=tensor(left), self=tensor(right), weight=tensor(left))
    for reduction in (0, 1):
        for grad in ("", left):
            given = {"grad_output": tensor(grad), "self": tensor(left), "target": tensor(right), "reduction": reduction}
            case("smooth_l1_loss_backward.default", **given, beta=1.0)
            case("huber_loss_backward.default", **given, delta=1.0)
            case("soft_margin_loss_backward.default binary_cross_entropy_backward.default", **given)
for one, left, right in (
    ("ac", "ab", "bc"),
    ("c", "ab", "bc"),
    ("ab", "cd", "de"),
    ("aa", "ab", "ba"),
    ("a1", "ab", "bc"),
):
    case("addmm_.default", self=tensor(one), mat1=tensor(left), mat2=tensor(right))
    case("_addmm_activation.default", self=tensor(one), mat1=tensor(left), mat2=tensor(right))
    case("addmv_.default", self=tensor(one[:1]), mat=tensor(left), vec=tensor(right[:1]))
    case("addbmm_.default baddbmm_.default", self=tensor(one), batch1=tensor("2" + left), batch2=tensor("2" + right))
    case("baddbmm_.default", self=tensor("2" + one), batch1=tensor("2" + left), batch2=tensor("2" + right))

# Gradients

for one, other in (("ab", "ab"), ("ab", "cd"), ("a", "b"), ("", "")):
    case("_softmax_backward_data.default _log_softmax_backward_data.default", grad_output=tensor(one),
         output=tensor(other), dim=0)  # fmt: skip
for one, channels in (("1ab", "a"), ("ab", "b"), ("2ab", "c"), ("a3b1", "3"), ("a", "a")):
    given = {"grad_out": tensor(one), "input": tensor(one), "weight": tensor(channels)}
    stats = dict.fromkeys(("running_mean", "running_var", "save_mean", "save_invstd"), tensor(channels))
    for train in (True, False):
        case("native_batch_norm_backward.default", **given, **stats, train=train, eps=1e-5, output_mask=[True] * 3)
for one, kept, weight in (
    ("a4b", "a2", "4"),
    ("a4b", "a2", "c"),
    ("acb", "ad", "c"),
    ("24b", "22", "4"),
    ("a2b", "a2", "2"),
):
    for sizes in (("S:a", 4, "S:b"), ("S:a", "S:c", "S:b"), (2, 2, "S:b")):
        names = dict(zip(("N", "C", "HxW"), sizes, strict=True))
        case("native_group_norm_backward.default", grad_out=tensor(one), input=tensor(one), mean=tensor(kept),
             rstd=tensor(kept), weight=tensor(weight), group=2, output_mask=[True] * 3, **names)  # fmt: skip
for count, name in ((2, "2d"), (3, "3d")):
    for grad, one in (
        ("a2bc", "a2de"),
        ("2bc", "2de"),
        ("a2bc", "2de"),
        ("1cab", "1cde"),
        ("acbd", "accd"),
        ("bc", "de"),
    ):
        more = "1" * (count - 2)
        given = {"grad_output": tensor(grad + more), "self": tensor(one + more)}
        case(f"_adaptive_avg_pool{name}_backward.default", **given)
        case(f"adaptive_max_pool{name}_backward.default", **given, indices=tensor(grad + more, "int"))
for one, grad in (("2cab1", "2cde1"), ("cab4", "cde2"), ("2c4b1", "2c2d1"), ("acb41", "acd21"), ("ab", "cd")):
    window = {"kernel_size": [2, 2, 1], "stride": [2, 2, 1], "padding": [0, 0, 0], "ceil_mode": False}
    given = {"grad_output": tensor(grad), "self": tensor(one), **window}
    case("avg_pool3d_backward.default", **given, count_include_pad=True, divisor_override=None)
    case("max_pool3d_with_indices_backward.default", **given, dilation=[1, 1, 1], indices=tensor(grad, "int"))
for kind in ("reflection", "replication"):
    for grad, one in (("2ab", "2ac"), ("ab", "ac"), ("1ac", "1ad"), ("b", "c")):
        for ends in ([1, 1], [0, 2], [-1, 1]):
            case(f"{kind}_pad1d_backward.default", grad_output=tensor(grad), self=tensor(one), padding=ends)
    for grad, one in (("1abc", "1ade"), ("abc", "ade"), ("2b3c", "2b2d"), ("bc", "de")):
        for ends in ([1, 1, 0, 1], [0, 1, 1, 0]):
            case(f"{kind}_pad2d_backward.default", grad_output=tensor(grad), self=tensor(one), padding=ends)
    case(f"{kind}_pad3d_backward.default", grad_output="T:1,a,b,c,2", self="T:1,a,d,e,2", padding=[0, 0, 0, 1, 1, 0])
for grad, sizes, made in (("abcd", ("S:a", "S:b", 2, 3), ("S:c", "S:d")),
                          ("1abc", (1, "S:a", "S:d", 2), ("S:b", "S:c")),
                          ("2bac", (2, 1, 2, "S:d"), (2, "S:c"))):  # fmt: skip
    given = {"grad_output": tensor(grad), "output_size": list(made), "input_size": list(sizes)}
    case("upsample_bilinear2d_backward.default upsample_bicubic2d_backward.default "
         "_upsample_bilinear2d_aa_backward.default _upsample_bicubic2d_aa_backward.default", **given,
         align_corners=False)  # fmt: skip
    case("upsample_nearest2d_backward.default _upsample_nearest_exact2d_backward.default", **given)
    given = {"grad_output": tensor(grad[:3]), "output_size": list(made[:1]), "input_size": list(sizes[:3])}
    case("upsample_linear1d_backward.default", **given, align_corners=False)
    case("upsample_nearest1d_backward.default _upsample_nearest_exact1d_backward.default", **given)
    given = {"grad_output": tensor(grad + "2"), "output_size": [*made, 2], "input_size": [*sizes, 1]}
    case("upsample_trilinear3d_backward.default", **given, align_corners=False)
    case("upsample_nearest3d_backward.default _upsample_nearest_exact3d_backward.default", **given)
for image, grid, grad in (
    ("1abc", "1de2", "1ade"),
    ("a1bc", "dbc2", "a1bc"),
    ("12ab", "1122", "1211"),
    ("ab", "ab2", "ab"),
):
    case("grid_sampler_2d_backward.default", grad_output=tensor(grad), input=tensor(image), grid=tensor(grid),
         interpolation_mode=0, padding_mode=0, align_corners=False, output_mask=[True, True])  # fmt: skip
for one, target, grad in (("1abc", "1bc", "1bc"), ("a2bc", "abc", ""), ("a2bc", "dbc", "abc"), ("12bc", "1bc", "bc")):
    for reduction in (0, 1):
        case("nll_loss2d_backward.default", grad_output=tensor(grad), self=tensor(one), target=tensor(target, "int"),
             weight=None, reduction=reduction, ignore_index=-100, total_weight="T:")  # fmt: skip
for one, target, grad in (("ab", "a", "a"), ("ab", "a", "c"), ("a", "", ""), ("a", "", "b"), ("a3", "b", "b")):
    case("nll_loss_backward.default", grad_output=tensor(grad), self=tensor(one), target=tensor(target, "int"),
         weight=None, reduction=0, ignore_index=-100, total_weight="T:")  # fmt: skip
for left, right, grad in (
    ("ab", "cb", "ac"),
    ("2ab", "cb", "2ac"),
    ("ab", "cd", "ac"),
    ("ab", "cb", "de"),
    ("2a1", "2b1", "2ab"),
):
    case("_cdist_backward.default", grad=tensor(grad), x1=tensor(left), x2=tensor(right), p=2.0, cdist=tensor(grad))
for one, grad in (("ab", "c"), ("a3", "b"), ("3a", "b")):
    case("_pdist_backward.default", grad=tensor(grad), self=tensor(one), p=2.0, pdist=tensor(grad))
for grad, sizes in (("a", ("S:b", "S:c")), ("ab", ("S:c", "S:d", 2)), ("", ("S:a", "S:b")), ("1", ("S:a", 2))):
    for offset in (0, 1, -1):
        case(
            "diagonal_backward.default",
            grad_output=tensor(grad),
            input_sizes=list(sizes),
            offset=offset,
            dim1=0,
            dim2=1,
        )
for one, source in (("ab", "c"), ("abc", "cd"), ("abc", "de"), ("a", "b"), ("2a", "b")):
    for offset in (0, 1, -2):
        case("diagonal_scatter.default", self=tensor(one), src=tensor(source), offset=offset)
        case("diagonal_scatter.default", self=tensor(one), src=tensor(source), offset=offset, dim1=-1, dim2=0)

# Kernels of linear algebra

for x in ("", "a", "ab", "aab", "abc", "a33"):
    case("_linalg_det.default _linalg_slogdet.default _linalg_svd.default _linalg_eigh.default", **{"A": tensor(x)})
    case("_linalg_eigh.default", **{"A": tensor(x), "compute_v": False})
    case("_linalg_svd.default", **{"A": tensor(x), "full_matrices": True})
    case("_linalg_svd.default", **{"A": tensor(x), "compute_uv": False})
    case("_linalg_eigvals.default", self=tensor(x))
    for some, vectors in ((True, True), (False, True), (True, False)):
        case("svd.default", self=tensor(x), some=some, compute_uv=vectors)
for left, right in (("ab", "cd"), ("aa", "b"), ("a33", "b3c"), ("22", "a")):
    case("_linalg_solve_ex.default", **{"A": tensor(left), "B": tensor(right)})
for packed, pivots in (("ab", "c"), ("aab", "ac"), ("32", "a"), ("a", "b"), ("a23", "a2")):
    for parts in ((True, True), (True, False), (False, True)):
        case("lu_unpack.default", **{"LU_data": tensor(packed), "LU_pivots": tensor(pivots, "int32"),
                                     "unpack_data": parts[0], "unpack_pivots": parts[1]})  # fmt: skip

# Other everyday operators

for n in range(4):
    x = shape(n)
    case("special_multigammaln.default", self=x, p=1)
    case("fake_quantize_per_tensor_affine.default fake_quantize_per_tensor_affine_cachemask.default", self=x, scale=1.0,
         zero_point=0, quant_min=0, quant_max=3)  # fmt: skip
    case("feature_alpha_dropout.default", input=x, p=0.5, train=True)
    for axis in (0, 1, -1, n - 1, 3):
        case("norm_except_dim.default", v=x, pow=2, dim=axis)
    for index, source in (("d", "d"), ("d", "e"), ("d2", "e"), ("", "")):
        case("put.default put_.default", self=x, index=tensor(index, "int"), source=tensor(source))
for left, right in (("ab", "cb"), ("a", "b"), ("", "a")):
    case("binomial.default", count=tensor(left), prob=tensor(right))
for length in (0, 1, 4, "S:n"):
    case("bartlett_window.default kaiser_window.default", window_length=length)
for one, weight, bias in (
    ("a2b", "3cd", "d"),
    ("a2b", "c3d", "e"),
    ("ab2", "23c", "c"),
    ("ab", "abc", "c"),
    ("a1b", "2b3", "3"),
):
    for padding in (0, 1):
        case("conv_tbc.default", self=tensor(one), weight=tensor(weight), bias=tensor(bias), pad=padding)
for x in ("2ab", "ab", "abc", "b"):
    for window, step in (([2], [1]), ([3], [2])):
        case("max_pool1d_with_indices.default", self=tensor(x), kernel_size=window, stride=step)
