"""Operations element by element."""
import numpy as np

from cases import ALL, BOTH, NUMBERS, SIGNED, Case, Wrong, floating
import xl

CASES = [
    Case("neg", np.negative, types=SIGNED, is_elementwise=True, grad=[0]),
    Case("relu", lambda x: np.maximum(x, 0), types=NUMBERS, is_elementwise=True, grad=[0]),
    Case("add", np.add, BOTH, NUMBERS + (("u8", "i64"), ("bf16", "f32"), ("i32", "bf16")), is_elementwise=True, grad=[0, 1]),
    Case("add_", np.add, [((3, 4), (4,))], NUMBERS, in_place=True),
    Wrong("add of shapes", lambda: xl.add(xl.zeros("f32", (2, 3)), xl.zeros("f32", (4,))), "xl_add", "f32[2,3]", "f32[4]"),
]
