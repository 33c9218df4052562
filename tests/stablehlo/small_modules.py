"""Small StableHLO modules with dynamic sizes, by operator: the condition under which each runs, and its shapes."""

from typing import NamedTuple


class Case(NamedTuple):
    """One operator: types of arguments, body, result types, condition, shapes of results."""

    name: str
    arguments: str
    body: str
    results: str
    condition: str
    shapes: str

    @property
    def text(self):
        """The module; ``return`` is added for ``%r``, or for ``%r#0`` and so on."""
        types = [t.strip() for t in self.arguments.split(";") if t.strip()]
        arguments = ", ".join(f"%{'xyzuvw'[n]}: {t}" for n, t in enumerate(types))
        results = [t.strip() for t in self.results.split(";")]
        returned = ["%r"] if len(results) == 1 else [f"%r#{n}" for n in range(len(results))]
        kinds = ", ".join(results)
        end = f"  return {', '.join(returned)} : {kinds}"
        adds = "func.func private @f(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {\n  return %a : tensor<f32>\n}\n"
        return f"{adds * ('@f' in self.body)}func.func @main({arguments}) -> ({kinds}) {{\n{self.body}\n{end}\n}}\n"


def of_type(name, attributes=""):
    """An operator on tensors of one type."""
    return f"  %r = stablehlo.{name} %x, %y{attributes} : tensor<?x4xf32>"


_BODY = """({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  })"""
_LESS = """({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  })"""
_F = "tensor<?xf32>"
_FF = "tensor<?x?xf32>"
_ZERO = "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
_SIZES = """  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %v = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %none = stablehlo.constant dense<0> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
"""
"""The size of a vector ``%x``, as a vector ``%v``, and vectors of one number."""

CASES = [
    Case("add", "tensor<?x4xf32>; tensor<?x4xf32>", of_type("add"), "tensor<?x4xf32>", "arg0_0 == arg1_0", "arg0_0, 4"),
    Case(
        "add to a static type",
        "tensor<?x4xf32>; tensor<3x?xf32>",
        "  %r = stablehlo.add %x, %y : (tensor<?x4xf32>, tensor<3x?xf32>) -> tensor<3x4xf32>",
        "tensor<3x4xf32>",
        "arg0_0 == 3 and arg1_1 == 4",
        "3, 4",
    ),
    Case("tanh", _F, "  %r = stablehlo.tanh %x : tensor<?xf32>", _F, "True", "arg0_0"),
    Case(
        "a result of a static type",
        _F,
        "  %r = stablehlo.tanh %x : (tensor<?xf32>) -> tensor<5xf32>",
        "tensor<5xf32>",
        "arg0_0 == 5",
        "5",
    ),
    Case(
        "convert",
        _F,
        "  %r = stablehlo.convert %x : (tensor<?xf32>) -> tensor<?xi32>",
        "tensor<?xi32>",
        "True",
        "arg0_0",
    ),
    Case(
        "compare",
        f"{_F}; {_F}",
        "  %r = stablehlo.compare EQ, %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xi1>",
        "tensor<?xi1>",
        "arg0_0 == arg1_0",
        "arg0_0",
    ),
    Case(
        "select",
        f"tensor<?xi1>; {_F}; {_F}",
        "  %r = stablehlo.select %x, %y, %z : tensor<?xi1>, tensor<?xf32>",
        _F,
        "arg0_0 == arg1_0 and arg1_0 == arg2_0",
        "arg1_0",
    ),
    Case(
        "select by one truth value",
        f"tensor<i1>; {_F}; {_F}",
        "  %r = stablehlo.select %x, %y, %z : tensor<i1>, tensor<?xf32>",
        _F,
        "arg1_0 == arg2_0",
        "arg1_0",
    ),
    Case(
        "clamp",
        f"tensor<f32>; {_F}; {_F}",
        "  %r = stablehlo.clamp %x, %y, %z : (tensor<f32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>",
        _F,
        "arg1_0 == arg2_0",
        "arg1_0",
    ),
    Case(
        "map",
        f"{_F}; {_F}",
        f'  %r = "stablehlo.map"(%x, %y) {_BODY} {{dimensions = array<i64: 0>}}'
        " : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>",
        _F,
        "arg0_0 == arg1_0",
        "arg0_0",
    ),
    Case(
        "dot_general",
        "tensor<?x?x?xf32>; tensor<?x?x5xf32>",
        "  %r = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1]"
        " : (tensor<?x?x?xf32>, tensor<?x?x5xf32>) -> tensor<?x?x5xf32>",
        "tensor<?x?x5xf32>",
        "arg0_0 == arg1_0 and arg0_2 == arg1_1",
        "arg0_0, arg0_1, 5",
    ),
    Case(
        "concatenate",
        f"{_FF}; {_FF}",
        "  %r = stablehlo.concatenate %x, %y, dim = 1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>",
        _FF,
        "arg0_0 == arg1_0",
        "arg0_0, arg0_1 + arg1_1",
    ),
    Case(
        "transpose",
        _FF,
        "  %r = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>",
        _FF,
        "True",
        "arg0_1, arg0_0",
    ),
    Case(
        "reshape",
        _FF,
        "  %r = stablehlo.reshape %x : (tensor<?x?xf32>) -> tensor<2x3xf32>",
        "tensor<2x3xf32>",
        "arg0_0*arg0_1 == 6",
        "2, 3",
    ),
    Case(
        "dynamic_reshape to a matrix",
        _F,
        _SIZES
        + """  %half = stablehlo.divide %v, %two : tensor<1xi32>
  %t = stablehlo.concatenate %half, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %r = stablehlo.dynamic_reshape %x, %t : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xf32>""",
        "tensor<?x2xf32>",
        "arg0_0 % 2 == 0",
        "arg0_0//2, 2",
    ),
    Case(
        "broadcast_in_dim",
        "tensor<?x3xf32>",
        "  %r = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<?x3xf32>) -> tensor<4x3xf32>",
        "tensor<4x3xf32>",
        "arg0_0 == 1 or arg0_0 == 4",
        "4, 3",
    ),
    Case(
        "dynamic_broadcast_in_dim",
        f"{_F}; {_F}",
        _SIZES
        + """  %t = stablehlo.concatenate %two, %v, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %r = stablehlo.dynamic_broadcast_in_dim %y, %t, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<2x?xf32>""",
        "tensor<2x?xf32>",
        "arg1_0 == 1 or arg1_0 == arg0_0",
        "2, arg0_0",
    ),
    Case(
        "dynamic_iota",
        _F,
        _SIZES + "  %r = stablehlo.dynamic_iota %v, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>",
        _F,
        "True",
        "arg0_0",
    ),
    Case(
        "slice",
        _F,
        "  %r = stablehlo.slice %x [1:4:2] : (tensor<?xf32>) -> tensor<2xf32>",
        "tensor<2xf32>",
        "arg0_0 >= 4",
        "2",
    ),
    Case(
        "real_dynamic_slice",
        _F,
        _SIZES + "  %r = stablehlo.real_dynamic_slice %x, %one, %v, %two"
        " : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>",
        _F,
        "True",
        "arg0_0//2",
    ),
    Case(
        "dynamic_slice",
        f"{_F}; tensor<i32>",
        "  %r = stablehlo.dynamic_slice %x, %y, sizes = [3] : (tensor<?xf32>, tensor<i32>) -> tensor<3xf32>",
        "tensor<3xf32>",
        "arg0_0 >= 3",
        "3",
    ),
    Case(
        "dynamic_update_slice",
        f"{_F}; {_F}; tensor<i32>",
        "  %r = stablehlo.dynamic_update_slice %x, %y, %z"
        " : (tensor<?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?xf32>",
        _F,
        "arg1_0 <= arg0_0",
        "arg0_0",
    ),
    Case(
        "pad",
        f"{_F}; tensor<f32>",
        "  %r = stablehlo.pad %x, %y, low = [-2], high = [1], interior = [1]"
        " : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>",
        _F,
        "True",
        "2*arg0_0 - 2",
    ),
    Case(
        "pad that removes more than there is",
        f"{_F}; tensor<f32>",
        "  %r = stablehlo.pad %x, %y, low = [-2], high = [0], interior = [0]"
        " : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>",
        _F,
        "arg0_0 >= 2",
        "arg0_0 - 2",
    ),
    Case(
        "dynamic_pad",
        f"{_F}; tensor<f32>",
        _SIZES + "  %r = stablehlo.dynamic_pad %x, %y, %v, %two, %none"
        " : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>",
        _F,
        "True",
        "2*arg0_0 + 2",
    ),
    Case(
        "gather",
        "tensor<?x?xf32>; tensor<?x1xi32>",
        '  %r = "stablehlo.gather"(%x, %y) {dimension_numbers = #stablehlo.gather<offset_dims = [1],'
        " collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}"
        " : (tensor<?x?xf32>, tensor<?x1xi32>) -> tensor<?x3xf32>",
        "tensor<?x3xf32>",
        "arg0_1 >= 3",
        "arg1_0, 3",
    ),
    Case(
        "scatter",
        "tensor<?x?xf32>; tensor<?x1xi32>; tensor<?x?xf32>",
        f'  %r = "stablehlo.scatter"(%x, %y, %z) {_BODY} {{scatter_dimension_numbers = #stablehlo.scatter<'
        "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],"
        " index_vector_dim = 1>}"
        " : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<?x?xf32>) -> tensor<?x?xf32>",
        _FF,
        "arg1_0 == arg2_0 and arg2_1 <= arg0_1",
        "arg0_0, arg0_1",
    ),
    Case(
        "reduce",
        f"{_FF}",
        _ZERO + "  %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]"
        " : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>",
        _F,
        "True",
        "arg0_1",
    ),
    Case(
        "reduce_window",
        _F,
        _ZERO + f'  %r = "stablehlo.reduce_window"(%x, %zero) {_BODY} {{window_dimensions = array<i64: 3>,'
        " window_strides = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}"
        " : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>",
        _F,
        "True",
        "arg0_0//2",
    ),
    Case(
        "select_and_scatter",
        f"{_F}; {_F}",
        _ZERO + f'  %r = "stablehlo.select_and_scatter"(%x, %y, %zero) ({_LESS[1:-1]}, {_BODY[1:-1]})'
        " {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}"
        " : (tensor<?xf32>, tensor<?xf32>, tensor<f32>) -> tensor<?xf32>",
        _F,
        "arg0_0//2 == arg1_0",
        "arg0_0",
    ),
    Case(
        "convolution",
        "tensor<?x?x?xf32>; tensor<?x?x?xf32>",
        "  %r = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],"
        " window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}"
        " : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>",
        "tensor<?x?x?xf32>",
        "2*arg1_1 == arg0_2 and arg1_2 % 2 == 0",
        "arg0_0, max((arg0_1 - arg1_0)//2 + 2, 0), arg1_2",
    ),
    Case(
        "sort",
        f"{_F}; {_F}",
        '  %r:2 = "stablehlo.sort"(%x, %y) ({'
        """
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %s = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)""",
        f"{_F}; {_F}",
        "arg0_0 == arg1_0",
        "arg0_0; arg0_0",
    ),
    Case(
        "cholesky",
        _FF,
        "  %r = stablehlo.cholesky %x, lower = true : tensor<?x?xf32>",
        _FF,
        "arg0_0 == arg0_1",
        "arg0_0, arg0_1",
    ),
    Case(
        "triangular_solve",
        f"{_FF}; {_FF}",
        '  %r = "stablehlo.triangular_solve"(%x, %y) {left_side = true, lower = true, unit_diagonal = false,'
        " transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>",
        _FF,
        "arg0_0 == arg0_1 and arg0_1 == arg1_0",
        "arg1_0, arg1_1",
    ),
    Case(
        "fft of real numbers",
        _F,
        "  %r = stablehlo.fft %x, type = RFFT, length = [6] : (tensor<?xf32>) -> tensor<4xcomplex<f32>>",
        "tensor<4xcomplex<f32>>",
        "arg0_0 == 6",
        "4",
    ),
    Case(
        "batch_norm_inference",
        f"tensor<2x?xf32>; {_F}; {_F}; {_F}; {_F}",
        '  %r = "stablehlo.batch_norm_inference"(%x, %y, %z, %u, %v) {epsilon = 0.1 : f32, feature_index = 1 : i64}'
        " : (tensor<2x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<2x?xf32>",
        "tensor<2x?xf32>",
        "arg0_1 == arg1_0 and arg0_1 == arg2_0 and arg0_1 == arg3_0 and arg0_1 == arg4_0",
        "2, arg0_1",
    ),
    Case(
        "bitcast_convert to a wider type",
        "tensor<?x?xi8>",
        "  %r = stablehlo.bitcast_convert %x : (tensor<?x?xi8>) -> tensor<?xf32>",
        _F,
        "arg0_1 == 4",
        "arg0_0",
    ),
    Case(
        "all_to_all",
        "tensor<?x?xf32>",
        '  %r = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 0 : i64,'
        " split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}"
        " : (tensor<?x?xf32>) -> tensor<?x?xf32>",
        _FF,
        "arg0_1 % 2 == 0",
        "2*arg0_0, arg0_1//2",
    ),
    Case(
        "if",
        f"tensor<i1>; {_F}; {_F}",
        """  %r = "stablehlo.if"(%x) ({
    stablehlo.return %y : tensor<?xf32>
  }, {
    stablehlo.return %z : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>""",
        _F,
        "arg1_0 == arg2_0",
        "arg1_0",
    ),
    Case(
        "while",
        f"{_F}; {_F}",
        """  %i = stablehlo.constant dense<0> : tensor<i32>
  %most = stablehlo.constant dense<9> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%a = %i, %b = %x) : tensor<i32>, tensor<?xf32>
    cond {
      %c = stablehlo.compare LT, %a, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %a, %one : tensor<i32>
      %s = stablehlo.add %b, %y : tensor<?xf32>
      stablehlo.return %n, %s : tensor<i32>, tensor<?xf32>
    }""",
        f"tensor<i32>; {_F}",
        "arg0_0 == arg1_0",
        "; arg0_0",
    ),
    Case(
        "chlo.broadcast_add",
        f"{_FF}; {_F}",
        "  %r = chlo.broadcast_add %x, %y : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>",
        _FF,
        "arg0_1 == arg1_0 or arg0_1 == 1 or arg1_0 == 1",
        "arg0_0, broadcast(arg0_1, arg1_0)",
    ),
    Case(
        "chlo.top_k",
        _FF,
        "  %r:2 = chlo.top_k(%x, k = 3) : tensor<?x?xf32> -> (tensor<?x3xf32>, tensor<?x3xi32>)",
        "tensor<?x3xf32>; tensor<?x3xi32>",
        "arg0_1 >= 3",
        "arg0_0, 3; arg0_0, 3",
    ),
    Case(
        "shape.assuming",
        f"{_F}; {_F}",
        """  %a = shape.shape_of %x : tensor<?xf32> -> tensor<1xindex>
  %b = shape.shape_of %y : tensor<?xf32> -> tensor<1xindex>
  %w = shape.cstr_broadcastable %a, %b : tensor<1xindex>, tensor<1xindex>
  %r = shape.assuming %w -> (tensor<?xf32>) {
    %t = shape.broadcast %a, %b : tensor<1xindex>, tensor<1xindex> -> tensor<1xindex>
    %p = stablehlo.dynamic_broadcast_in_dim %x, %t, dims = [0] : (tensor<?xf32>, tensor<1xindex>) -> tensor<?xf32>
    %q = stablehlo.dynamic_broadcast_in_dim %y, %t, dims = [0] : (tensor<?xf32>, tensor<1xindex>) -> tensor<?xf32>
    %s = stablehlo.add %p, %q : tensor<?xf32>
    shape.assuming_yield %s : tensor<?xf32>
  }""",
        _F,
        "arg0_0 == arg1_0 or arg0_0 == 1 or arg1_0 == 1",
        "broadcast(arg0_0, arg1_0)",
    ),
    Case(
        "a broadcast lowered to a maximum",
        f"{_F}; {_F}",
        """  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %k = stablehlo.maximum %n, %m : tensor<i32>
  %t = stablehlo.reshape %k : (tensor<i32>) -> tensor<1xi32>
  %p = stablehlo.dynamic_broadcast_in_dim %x, %t, dims = [0] : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
  %q = stablehlo.dynamic_broadcast_in_dim %y, %t, dims = [0] : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
  %r = stablehlo.add %p, %q : tensor<?xf32>""",
        _F,
        "arg0_0 == arg1_0 or arg0_0 == 1 or arg1_0 == 1",
        "max(arg0_0, arg1_0)",
    ),
    Case(
        "tensor and arith on indices",
        f"{_F}; {_F}",
        """  %i = arith.constant 0 : index
  %n = tensor.dim %x, %i : tensor<?xf32>
  %m = tensor.dim %y, %i : tensor<?xf32>
  %k = arith.addi %n, %m : index
  %t = tensor.from_elements %k : tensor<1xindex>
  %c = stablehlo.concatenate %x, %y, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %r = stablehlo.dynamic_reshape %c, %t : (tensor<?xf32>, tensor<1xindex>) -> tensor<?xf32>""",
        _F,
        "True",
        "arg0_0 + arg1_0",
    ),
    Case(
        "dot",
        f"{_FF}; {_FF}",
        "  %r = stablehlo.dot %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>",
        _FF,
        "arg0_1 == arg1_0",
        "arg0_0, arg1_1",
    ),
    Case(
        "einsum",
        f"{_FF}; {_FF}",
        '  %r = "stablehlo.einsum"(%x, %y) {einsum_config = "ab,cb->ac"}'
        " : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>",
        _FF,
        "arg0_1 == arg1_1",
        "arg0_0, arg1_0",
    ),
    Case(
        "torch_index_select",
        f"{_FF}; tensor<?xi32>",
        '  %r = "stablehlo.torch_index_select"(%x, %y) {dim = 1 : i64, batch_dims = 0 : i64}'
        " : (tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?xf32>",
        _FF,
        "True",
        "arg0_0, arg1_0",
    ),
    Case(
        "complex",
        f"{_F}; {_F}",
        "  %r = stablehlo.complex %x, %y : tensor<?xcomplex<f32>>",
        "tensor<?xcomplex<f32>>",
        "arg0_0 == arg1_0",
        "arg0_0",
    ),
    Case(
        "case",
        f"tensor<i1>; {_F}; {_F}; {_F}",
        """  %i = stablehlo.convert %x : (tensor<i1>) -> tensor<i32>
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %y : tensor<?xf32>
  }, {
    stablehlo.return %z : tensor<?xf32>
  }, {
    stablehlo.return %u : tensor<?xf32>
  }) : (tensor<i32>) -> tensor<?xf32>""",
        _F,
        "arg1_0 == arg2_0 and arg2_0 == arg3_0",
        "arg1_0",
    ),
    Case(
        "while with a parameter of a static type",
        _F,
        """  %true = stablehlo.constant dense<true> : tensor<i1>
  %r = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<3xf32>):
    stablehlo.return %true : tensor<i1>
  }, {
  ^bb0(%a: tensor<3xf32>):
    stablehlo.return %a : tensor<3xf32>
  }) : (tensor<?xf32>) -> tensor<?xf32>""",
        _F,
        "arg0_0 == 3",
        "3",
    ),
    Case(
        "dynamic_gather",
        f"{_FF}; tensor<?x1xi32>; {_F}",
        _SIZES.replace("%x", "%z")
        + """  %t = stablehlo.concatenate %one, %v, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %r = "stablehlo.dynamic_gather"(%x, %y, %t) {dimension_numbers = #stablehlo.gather<offset_dims = [1],"""
        """ collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}
      : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>""",
        _FF,
        "arg2_0 <= arg0_1",
        "arg1_0, arg2_0",
    ),
    Case(
        "dynamic_conv",
        "tensor<1x?x2xf32>; tensor<3x2x4xf32>; tensor<?xf32>",
        _SIZES.replace("%x", "%z")
        + """  %t = stablehlo.concatenate %v, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %p = stablehlo.reshape %t : (tensor<2xi32>) -> tensor<1x2xi32>
  %r = "stablehlo.dynamic_conv"(%x, %y, %p) {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}
      : (tensor<1x?x2xf32>, tensor<3x2x4xf32>, tensor<1x2xi32>) -> tensor<1x?x4xf32>""",
        "tensor<1x?x4xf32>",
        "True",
        "1, arg0_1 + arg2_0 - 1, 4",
    ),
    Case(
        "dynamic_reduce_window",
        _F,
        _SIZES
        + _ZERO
        + """  %p = stablehlo.constant dense<0> : tensor<1x2xi32>
  %r = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %zero, %two, %two, %one, %one, %p)
      {called_computations = [@f]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>,
      tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>""",
        _F,
        "True",
        "arg0_0//2",
    ),
    Case(
        "set_dimension_size",
        f"tensor<5xf32>; {_F}",
        """  %n = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %r = stablehlo.set_dimension_size %x, %n, dim = 0
      : (tensor<5xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<5>>""",
        "tensor<?xf32, #stablehlo.bounds<5>>",
        "arg1_0 <= 5",
        "arg1_0",
    ),
    Case(
        "all_gather",
        _FF,
        '  %r = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64,'
        " replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<?x?xf32>) -> tensor<?x?xf32>",
        _FF,
        "True",
        "arg0_0, 3*arg0_1",
    ),
    Case(
        "reduce_scatter",
        _F,
        f'  %r = "stablehlo.reduce_scatter"(%x) {_BODY} {{scatter_dimension = 0 : i64,'
        " replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<?xf32>) -> tensor<?xf32>",
        _F,
        "arg0_0 % 2 == 0",
        "arg0_0//2",
    ),
    Case(
        "rng_bit_generator",
        "tensor<?xui64>",
        '  %r:2 = "stablehlo.rng_bit_generator"(%x) {rng_algorithm = #stablehlo<rng_algorithm PHILOX>}'
        " : (tensor<?xui64>) -> (tensor<?xui64>, tensor<4xui32>)",
        "tensor<?xui64>; tensor<4xui32>",
        "arg0_0 == 2 or arg0_0 == 3",
        "arg0_0; 4",
    ),
    Case(
        "batch_norm_grad",
        f"tensor<2x?xf32>; {_F}; {_F}; {_F}; tensor<2x?xf32>",
        '  %r:3 = "stablehlo.batch_norm_grad"(%x, %y, %z, %u, %v) {epsilon = 0.1 : f32, feature_index = 1 : i64}'
        " : (tensor<2x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<2x?xf32>)"
        " -> (tensor<2x?xf32>, tensor<?xf32>, tensor<?xf32>)",
        f"tensor<2x?xf32>; {_F}; {_F}",
        "arg0_1 == arg1_0 and arg0_1 == arg2_0 and arg0_1 == arg3_0 and arg0_1 == arg4_1",
        "2, arg0_1; arg1_0; arg1_0",
    ),
    Case(
        "a tuple",
        f"{_F}; {_FF}",
        """  %t = stablehlo.tuple %x, %y : tuple<tensor<?xf32>, tensor<?x?xf32>>
  %r = stablehlo.get_tuple_element %t[1] : (tuple<tensor<?xf32>, tensor<?x?xf32>>) -> tensor<?x?xf32>""",
        _FF,
        "True",
        "arg1_0, arg1_1",
    ),
    Case(
        "a division by a negative number",
        _F,
        _SIZES
        + """  %minus = stablehlo.constant dense<-2> : tensor<1xi32>
  %q = stablehlo.divide %v, %minus : tensor<1xi32>
  %s = stablehlo.negate %q : tensor<1xi32>
  %r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>""",
        _F,
        "True",
        "arg0_0//2",
    ),
    Case(
        "the remainder of a negative number",
        _F,
        _SIZES
        + """  %m = stablehlo.negate %v : tensor<1xi32>
  %q = stablehlo.remainder %m, %two : tensor<1xi32>
  %s = stablehlo.add %q, %two : tensor<1xi32>
  %r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>""",
        _F,
        "True",
        "2 - arg0_0 % 2",
    ),
    Case(
        "chlo.ragged_dot",
        "tensor<2x?x5xf32>; tensor<?x2x5x7xf32>; tensor<?xi64>",
        """  %r = "chlo.ragged_dot"(%x, %y, %z) {ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2],
      rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>,
      precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]}
      : (tensor<2x?x5xf32>, tensor<?x2x5x7xf32>, tensor<?xi64>) -> tensor<2x?x7xf32>""",
        "tensor<2x?x7xf32>",
        "arg1_0 == arg2_0",
        "2, arg0_1, 7",
    ),
    Case(
        "chlo.scan",
        f"{_FF}; {_FF}; {_F}",
        """  %r:2 = chlo.scan(%x, %y) inits (%z) dimension = 0 {
  ^bb0(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>):
    %s = stablehlo.add %a, %b : tensor<?xf32>
    %t = stablehlo.add %s, %c : tensor<?xf32>
    stablehlo.return %s, %t : tensor<?xf32>, tensor<?xf32>
  } : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)""",
        f"{_FF}; {_F}",
        "arg0_0 == arg1_0 and arg0_1 == arg1_1 and arg0_1 == arg2_0",
        "arg0_0, arg0_1; arg2_0",
    ),
    Case(
        "requirements on shapes",
        f"{_F}; {_F}",
        """  %i = arith.constant 0 : index
  %two = arith.constant 2 : index
  %a = shape.shape_of %x : tensor<?xf32> -> tensor<1xindex>
  %b = shape.shape_of %y : tensor<?xf32> -> tensor<1xindex>
  %same = shape.shape_eq %a, %b : tensor<1xindex>, tensor<1xindex>
  %w = shape.cstr_require %same, "shapes differ"
  %n = tensor.dim %x, %i : tensor<?xf32>
  %h = arith.ceildivsi %n, %two : index
  %t = tensor.from_elements %h : tensor<1xindex>
  %r = stablehlo.dynamic_iota %t, dim = 0 : (tensor<1xindex>) -> tensor<?xf32>""",
        _F,
        "arg0_0 == arg1_0",
        "(arg0_0 + 1)//2",
    ),
    Case(
        "half of a size as a real number",
        _F,
        """  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %g = stablehlo.multiply %f, %half : tensor<f32>
  %k = stablehlo.convert %g : (tensor<f32>) -> tensor<i32>
  %t = stablehlo.reshape %k : (tensor<i32>) -> tensor<1xi32>
  %r = stablehlo.dynamic_iota %t, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>""",
        _F,
        "True",
        "arg0_0//2",
    ),
    Case(
        "cross-replica-sum",
        _F,
        '  %r = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}'
        " : (tensor<?xf32>) -> tensor<?xf32>",
        _F,
        "True",
        "arg0_0",
    ),
    Case(
        "a convolution without strides and padding",
        "tensor<?x?x?x3xf32>",
        """  %w = stablehlo.constant dense<0.0> : tensor<3x3x2x3xf32>
  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f],
      window = {stride = [], pad = [], lhs_dilate = [], rhs_dilate = [], reverse = []}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<?x?x?x3xf32>, tensor<3x3x2x3xf32>) -> tensor<?x?x?x2xf32>""",
        "tensor<?x?x?x2xf32>",
        "True",
        "arg0_0, max(arg0_1 - 2, 0), max(arg0_2 - 2, 0), 2",
    ),
    Case(
        "real numbers of arith",
        f"{_F}; {_F}",
        """  %a = arith.addf %x, %y : tensor<?xf32>
  %n = arith.negf %a : tensor<?xf32>
  %r = arith.cmpf olt, %n, %y : tensor<?xf32>""",
        "tensor<?xi1>",
        "arg0_0 == arg1_0",
        "arg0_0",
    ),
]
