from __future__ import annotations

import random
from decimal import Context, Decimal, localcontext

import numpy as np
import pyarrow as pa
import pytest

from provspark.index_store.values.converters import text_converter


@pytest.mark.parametrize("seed", range(4))
def test_floats_of_many_digits_are_the_nearest(seed: int) -> None:
    rnd = random.Random(seed)
    convert = text_converter("float", {})
    for _ in range(300):
        low = np.uint32(rnd.randrange(0x7F7FFFFF)).view(np.float32)
        pair = low, np.nextafter(low, np.float32(np.inf))
        with localcontext(Context(prec=300)):
            middle = sum(Decimal(float(f)) for f in pair) / 2
            near = middle + rnd.choice((-1, 0, 1)) * middle.scaleb(-rnd.randint(8, 60))
            text = rnd.choice((str(near), f"{near:f}", f"{near:.40e}"))
            exact = Decimal(text)
            # Of two floats that are as near, the even one.
            want = float(min(pair, key=lambda f: (abs(Decimal(float(f)) - exact), int(f.view(np.uint32)) & 1)))
        sign, end = rnd.choice(("", "+", "-")), rnd.choice(("", "f", "D"))
        got = pa.array([convert(sign + text + end)], pa.float32())[0].as_py()
        assert got == (-want if sign == "-" else want), text
