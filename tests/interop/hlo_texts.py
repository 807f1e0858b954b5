"""Modules as text for XLA to parse: every operation and every form of constant that our text must print as XLA does.

The opcodes and attributes in `kept` are those that our modules keep without understanding them; they must survive being
read and written.
"""
CALLED = '''
add { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT r = f32[] add(x, y) }

mul { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT r = f32[] multiply(x, y) }

ge { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT r = pred[] compare(x, y), direction=GE }

sq { x = f32[] parameter(0)
 ROOT r = f32[] multiply(x, x) }

neg { x = f32[] parameter(0)
 ROOT r = f32[] negate(x) }

ident { x = f32[] parameter(0)
 ROOT r = f32[] copy(x) }

two { a = f32[] parameter(0)
 b = s32[] parameter(1)
 c = f32[] parameter(2)
 d = s32[] parameter(3)
 p = pred[] compare(a, c), direction=GT
 s = f32[] select(p, a, c)
 t = s32[] select(p, b, d)
 ROOT r = (f32[], s32[]) tuple(s, t) }

cmp2 { a = f32[] parameter(0)
 b = f32[] parameter(1)
 c = s32[] parameter(2)
 d = s32[] parameter(3)
 ROOT p = pred[] compare(a, b), direction=LT, type=TOTALORDER }

body { p = (s32[], f32[4]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 v = f32[4] get-tuple-element(p), index=1
 one = s32[] constant(1)
 n = s32[] add(i, one)
 w = f32[4] add(v, v)
 ROOT r = (s32[], f32[4]) tuple(n, w) }

cond { p = (s32[], f32[4]) parameter(0)
 i = s32[] get-tuple-element(p), index=0
 c = s32[] constant(3)
 ROOT r = pred[] compare(i, c), direction=LT }
'''

BODIES = {}
UNARY = 'abs acos acosh asin asinh atanh cbrt ceil cosh cosine erf exponential exponential-minus-one floor log log-plus-one logistic negate round-nearest-afz round-nearest-even rsqrt sign sine sinh sqrt tan tanh copy'.split()
BINARY = 'add atan2 divide maximum minimum multiply power remainder subtract'.split()
BODIES['unary'] = 'a = f32[2,3] parameter(0)\n'+''.join(f'un{i} = f32[2,3] {o}(a)\n' for i,o in enumerate(UNARY))+'i = s32[3] parameter(1)\nn = s32[3] not(i)\np = s32[3] popcnt(i)\nc = s32[3] count-leading-zeros(i)\nf = pred[2,3] is-finite(a)\nROOT z = (f32[2,3]) tuple(a)'
BODIES['binary'] = 'a = f32[2,3] parameter(0)\nb = f32[2,3] parameter(1)\n'+''.join(f'un{i} = f32[2,3] {o}(a,b)\n' for i,o in enumerate(BINARY))+'i = u32[3] parameter(2)\n'+''.join(f'vn{k} = u32[3] {o}(i,i)\n' for k,o in enumerate('and or xor shift-left shift-right-arithmetic shift-right-logical'.split()))+'c = c64[2,3] complex(a,b)\nr = f32[2,3] real(c)\nim = f32[2,3] imag(c)\nROOT z = (f32[2,3]) tuple(a)'
BODIES['consts'] = '''a = f32[] constant(0.1)
b = f32[3] constant({1, -2.5, 1e-10})
c = f32[2,2] constant({{1,2},{3,4}})
d = f32[2,1,2] constant({{{1,2}},{{3,4}}})
e = f32[1,2,1,2] constant({{{{1,2}},{{3,4}}}})
f = pred[] constant(true)
g = pred[3] constant({1,0,1})
h = s32[] constant(-7)
i = u64[2] constant({18446744073709551615, 3})
j = bf16[3] constant({0.1, 3.14159, 1000000})
k = f16[2] constant({0.1, 65504})
l = f64[2] constant({0.1, 3.141592653589793})
m = c64[2] constant({(1,2),(0.1,-3)})
n = f32[12] constant({1,2,3,4,5,6,7,8,9,10,11,12})
o = f32[3] constant({inf, -inf, nan})
p = f32[0] constant({})
q = f32[2,0] constant({{},{}})
r = s8[2] constant({-128,127})
s = s64[] constant(-9223372036854775808)
up = u8[2] constant({255, 1})
v = pred[2,2] constant({{1,0},{0,1}})
w = (f32[], s32[2]) constant((3, {1,2}))
x = f32[1,1,1,1,2] constant({{{{{1,2}}}}})
y = f32[2,5] constant({{1,2,3,4,5},{6,7,8,9,10}})
y2 = f8e4m3fn[3] constant({0.1, 448, -2.5})
y3 = f8e5m2[3] constant({0.1, 57344, -2.5})
y4 = s4[3] constant({-8, 7, 1})
c2 = c128[] constant((0.1, -3))
big = f32[4] constant({123456792, 1e20, 1.17549435e-38, 16777217})
lay = f32[2,3]{0,1} constant({{1,2,3},{4,5,6}})
mz = f32[2] constant({-0, 0})
ROOT z = (f32[]) tuple(a)'''
BODIES['shape'] = '''a = f32[2,3] parameter(0)
t = f32[3,2] transpose(a), dimensions={1,0}
r = f32[6] reshape(a)
b = f32[4,2,3] broadcast(a), dimensions={1,2}
v = f32[2,3] reverse(a), dimensions={0,1}
s = f32[1,2] slice(a), slice={[0:1], [0:3:2]}
sx = f32[1,2] slice(a), slice={[0:1], [1:3]}
c = f32[4,3] concatenate(a, a), dimensions={0}
z0 = f32[] constant(0)
p = f32[4,6] pad(a, z0), padding=1_1x1_0_1
p2 = f32[4,2] pad(a, z0), padding=1_1x0_-1
k = s32[] constant(1)
d = f32[1,2] dynamic-slice(a, k, k), dynamic_slice_sizes={1,2}
up = f32[2,3] dynamic-update-slice(a, d, k, k)
io = s32[4,5] iota(), iota_dimension=1
cv = bf16[2,3] convert(a)
bc = s32[2,3] bitcast-convert(a)
bt = f32[3,2]{0,1} bitcast(a)
cl = f32[2,3] clamp(z0, a, z0)
cm = pred[2,3] compare(a, a), direction=NE
ct = pred[2,3] compare(a, a), direction=LT, type=TOTALORDER
sl = f32[2,3] select(cm, a, a)
rp = f32[2,3] reduce-precision(a), exponent_bits=5, mantissa_bits=10
ds = s32[] get-dimension-size(a), dimensions={0}
ob = (f32[2,3]) tuple(a)
obb = (f32[2,3]) opt-barrier(ob)
col = f32[2,3]{0,1} copy(a)
ROOT z = (f32[2,3], f32[2,3], f32[2,3], f32[2,3], f32[2,3], f32[2,3]) tuple(a, a, a, a, a, a)'''
BODIES['reduce'] = '''a = f32[2,3] parameter(0)
z0 = f32[] constant(0)
r = f32[2] reduce(a, z0), dimensions={1}, to_apply=add
i = s32[2,3] iota(), iota_dimension=1
k = s32[] constant(0)
v = (f32[2], s32[2]) reduce(a, i, z0, k), dimensions={1}, to_apply=two
m = f32[2,3] map(a), dimensions={0,1}, to_apply=sq
w = f32[1,2,2,1] parameter(1)
x = f32[1,4,4,1] parameter(2)
rw = f32[1,2,2,1] reduce-window(x, z0), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=add
rw2 = f32[1,4,4,1] reduce-window(x, z0), window={size=1x3x3x1 pad=0_0x1_1x1_1x0_0 rhs_dilate=1x1x1x1}, to_apply=add
ss = f32[1,4,4,1] select-and-scatter(x, w, z0), window={size=1x2x2x1 stride=1x2x2x1}, select=ge, scatter=add
so = f32[2,3] sort(a), dimensions={1}, to_apply=ge
st = (f32[2,3], s32[2,3]) sort(a, i), dimensions={1}, is_stable=true, to_apply=cmp2
ca = f32[] call(z0), to_apply=sq
p = pred[] constant(true)
c1 = f32[] conditional(p, z0, z0), true_computation=sq, false_computation=neg
c2 = f32[] conditional(k, z0, z0, z0), branch_computations={sq, neg, ident}
c3 = f32[] conditional(k, z0, z0), branch_computations={sq, neg}
v4 = f32[4] constant({1,2,3,4})
t = (s32[], f32[4]) tuple(k, v4)
wh = (s32[], f32[4]) while(t), condition=cond, body=body
ROOT z = (f32[2]) tuple(r)'''
BODIES['dots'] = '''a = f32[2,3] parameter(0)
b = f32[3,4] parameter(1)
d = f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
d2 = f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,highest}
d4 = f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=dot_bf16_bf16_f32
e = f32[5,2,3] parameter(2)
f = f32[5,3,4] parameter(3)
d3 = f32[5,2,4] dot(e, f), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}
x = f32[1,8,8,3] parameter(4)
k = f32[3,3,3,16] parameter(5)
c = f32[1,8,8,16] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
xx = f32[1,4,9,9] parameter(6)
kk = f32[8,2,3,3] parameter(7)
c2 = f32[1,8,4,4] convolution(xx, kk), window={size=3x3 stride=2x2 rhs_reversal=1x1}, dim_labels=bf01_oi01->bf01, feature_group_count=2
k4 = f32[8,4,3,3] parameter(8)
c3 = f32[1,8,15,15] convolution(xx, k4), window={size=3x3 lhs_dilate=2x2 rhs_reversal=1x1}, dim_labels=bf01_oi01->bf01, operand_precision={high,default}
c4 = f32[1,8,5,5] convolution(xx, k4), window={size=3x3 rhs_dilate=2x2}, dim_labels=bf01_oi01->bf01
xb = f32[4,2,5,5] parameter(9)
kb = f32[4,2,3,3] parameter(10)
c5 = f32[2,4,3,3] convolution(xb, kb), window={size=3x3}, dim_labels=bf01_oi01->bf01, batch_group_count=2
x0 = f32[1,3] parameter(11)
k0 = f32[3,4] parameter(12)
c0 = f32[1,4] convolution(x0, k0), dim_labels=bf_io->bf
ROOT z = (f32[2,4]) tuple(d)'''
BODIES['gather'] = '''a = f32[10,4] parameter(0)
i = s32[5] parameter(1)
g = f32[5,4] gather(a, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
g2 = f32[5,4] gather(a, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}, indices_are_sorted=true
up = f32[5,4] parameter(2)
s = f32[10,4] scatter(a, i, up), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
sx = f32[10,4] scatter(a, i, up), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, indices_are_sorted=true, unique_indices=true, to_apply=add
b = f32[3,10] parameter(3)
ib = s32[3,2] parameter(4)
g3 = f32[3,2] gather(b, ib), offset_dims={}, collapsed_slice_dims={1}, start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, index_vector_dim=2, slice_sizes={1,1}
ROOT z = (f32[5,4]) tuple(g)'''
BODIES['misc'] = '''a = f32[2,3] parameter(0), metadata={op_type="aten__add" op_name="fwd/a\\"b" source_file="x.py" source_line=3}
lo = f32[] constant(0)
hi = f32[] constant(1)
r = f32[2,3] rng(lo, hi), distribution=rng_uniform
r2 = f32[2,3] rng(lo, hi), distribution=rng_normal
st = u64[2] parameter(1)
bg = (u64[2], u32[4]) rng-bit-generator(st), algorithm=rng_philox
bg2 = (u64[2], u32[4]) rng-bit-generator(st), algorithm=rng_three_fry
rs = u64[1] rng-get-and-update-state(), delta=3
cc = f32[2] custom-call(a), custom_call_target="foo\\"x", backend_config="abc"
cc2 = f32[2] custom-call(a), custom_call_target="foo", custom_call_has_side_effect=true, api_version=API_VERSION_STATUS_RETURNING
cc3 = f32[2] custom-call(a), custom_call_target="foo", operand_layout_constraints={f32[2,3]{0,1}}
cc4 = f32[2] custom-call(a), custom_call_target="foo", schedule=SCHEDULE_LATEST, to_apply=add
cc5 = f32[2] custom-call(a), custom_call_target="foo", api_version=API_VERSION_TYPED_FFI, backend_config={x = 3 : i32}
sc = f32[3] constant({1,1,1})
bt = (f32[2,3], f32[3], f32[3]) batch-norm-training(a, sc, sc), epsilon=0.001, feature_index=1
bi = f32[2,3] batch-norm-inference(a, sc, sc, sc, sc), epsilon=1e-05, feature_index=1
bgr = (f32[2,3], f32[3], f32[3]) batch-norm-grad(a, sc, sc, sc, a), epsilon=0.001, feature_index=1
fu = f32[] fusion(lo), kind=kLoop, calls=sq
fa = f32[2,3] add(a, a), frontend_attributes={zz="1",aa="x y"}
tk = token[] after-all()
ri = u32[] replica-id()
k = s32[] constant(1)
dyn = f32[<=2,3] set-dimension-size(a, k), dimensions={0}
ROOT z = (f32[2,3]) tuple(a)'''

BODIES['kept'] = '''a = f32[2,3] parameter(0)
lo = f32[] constant(0)
r = f32[2,3] broadcast(lo), dimensions={}
r2 = f32[2,3] broadcast(lo), dimensions={}
cx = c64[2,3] parameter(1)
sq3 = f32[3,3] parameter(2)
cp = f32[2,3] add(a, a), control-predecessors={r, r2}
sg = f32[2,3] add(a, a), sharding={replicated}
fft = c64[2,3] fft(cx), fft_type=FFT, fft_length={3}
ch = f32[3,3] cholesky(sq3), lower=true
ts = f32[3,3] triangular-solve(sq3, sq3), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
ar = f32[2,3] all-reduce(a), replica_groups={}, to_apply=add
ROOT z = (f32[2,3]) tuple(a)'''

HEADS = {'misc': 'HloModule m, input_output_alias={ {0}: (0, {}, must-alias) }, frontend_attributes={k="v"}'}


def texts():
    """Name and text of each module."""
    for name, body in BODIES.items():
        yield name, "%s\n\n%s\nENTRY e {\n%s\n}\n" % (HEADS.get(name, "HloModule m"), CALLED, body)
