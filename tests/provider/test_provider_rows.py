"""Forms of `rows`: lists, ranges, arrays and columns of other libraries."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from _people import people

import provspark.api
from provspark.errors import ArgumentError, ConditionError, RowOutOfRangeError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people(tmp_path)
    return tmp_path


@pytest.fixture
def prov(folder: Path) -> Any:
    return provspark.api.open(folder / "prov")


NUMBERS = [2, 0]
FORMS: dict[str, Any] = {
    "list": [2, 0],
    "tuple": (2, 0),
    "range": range(2, -1, -2),
    "set": {0, 2},
    "keys": {2: "a", 0: "b"}.keys(),
    "generator": lambda: (i for i in NUMBERS),
    "numpy": np.array(NUMBERS),
    "numpy 32 bits": np.array(NUMBERS, dtype=np.int32),
    "numpy unsigned": np.array(NUMBERS, dtype=np.uint8),
    "numpy objects": np.array(NUMBERS, dtype=object),
    "numpy scalars": [np.int64(2), np.uint8(0)],
    "pandas": pd.Series(NUMBERS, index=["x", "y"]),
    "pandas index": pd.Index(NUMBERS),
    "pandas nullable": pd.Series(NUMBERS, dtype="Int64"),
    "pandas on Arrow": pd.Series(NUMBERS, dtype="int64[pyarrow]"),
    "Arrow": pa.array(NUMBERS),
    "Arrow chunks": pa.chunked_array([[2], [0]]),
    "Arrow slice": pa.array([9, 2, 0]).slice(1),
    "Arrow words": pa.array(NUMBERS).dictionary_encode(),
    "Arrow scalars": list(pa.array(NUMBERS)),
}


@pytest.mark.parametrize("form", FORMS)
def test_rows_take_every_form(prov: Any, folder: Path, form: str) -> None:
    rows = FORMS[form]
    values = prov.values(str(folder / "people.csv"), rows() if callable(rows) else rows)
    expected = list(rows) if isinstance(rows, set) else NUMBERS
    assert values.table()["row"].to_pylist() == expected
    again = prov.forward(str(folder / "people.csv"), rows() if callable(rows) else rows)
    assert again == prov.forward(str(folder / "people.csv"), NUMBERS)


def test_rows_take_columns_and_sets_of_answers(prov: Any, folder: Path) -> None:
    source, report = str(folder / "people.csv"), str(folder / "report.csv")
    answer = prov.backward(report, to=source)
    expected = prov.forward(source, answer.rows.rows())
    for rows in (
        answer.table()["related_row"],
        answer.to_pandas()["related_row"],
        answer.rows,
        np.asarray(answer.rows),
    ):
        assert prov.forward(source, rows) == expected
    assert pd.Series(answer.rows).tolist() == pa.array(answer.rows).to_pylist() == list(answer.rows)
    with pytest.raises(ConditionError, match="Pass the set in place of the dataset"):
        prov.forward(source, prov.select(report))
    with pytest.raises(ConditionError, match="Pass the set in place of the dataset"):
        prov.values(source, prov.select(report))
    for wrong in (answer, answer.table(), answer.values()):
        with pytest.raises(ArgumentError, match="pass the answer as the dataset"):
            prov.forward(source, wrong)


NONE = [[], np.array([]), pd.Series([], dtype=float), pa.array([], pa.null()), set()]
MISSING = [[None], pd.Series([1, None]), pd.Series([1, None], dtype="Int64"), pa.array([1, None])]
MASKS: dict[str, Any] = {
    "list": [True, False, True],
    "numpy": np.array([True, False, True]),
    "pandas": pd.Series([True, False, True]),
    "pandas objects": pd.Series([True, False, True], dtype=object),
    "pandas nullable": pd.Series([True, False, True], dtype="boolean"),
    "Arrow": pa.array([True, False, True]),
}


@pytest.mark.parametrize("form", MASKS)
def test_masks_are_refused(prov: Any, folder: Path, form: str) -> None:
    """True and False are whole numbers to Python: rows 1 and 0 would be asked about."""
    with pytest.raises(ConditionError, match="flatnonzero"):
        prov.forward(str(folder / "people.csv"), MASKS[form])


@pytest.mark.parametrize("rows", NONE, ids=lambda rows: type(rows).__name__)
def test_no_rows_are_none(prov: Any, folder: Path, rows: Any) -> None:
    assert len(prov.forward(str(folder / "people.csv"), rows)) == 0


@pytest.mark.parametrize("rows", MISSING, ids=["list", "pandas", "nullable", "Arrow"])
def test_missing_rows_are_refused(prov: Any, folder: Path, rows: Any) -> None:
    with pytest.raises(ConditionError, match="whole numbers"):
        prov.forward(str(folder / "people.csv"), rows)


NAN = float("nan")
NO_NUMBERS: dict[str, tuple[Any, str]] = {
    "float": ([1.0], "1.0"),
    "half": ([0, 1.5], "1.5"),
    "nan": ([NAN], "nan"),
    "nan of numpy": (np.array([1, NAN]), "nan"),
    "nan of pandas": (pd.Series([1, None]), "nan"),
    "infinity": ([float("inf")], "inf"),
    "float of numpy": ([np.float64(1)], "1.0"),
    "array of floats": (np.array([1.0]), "1.0"),
    "floats of Arrow": (pa.array([1.0]), "1.0"),
    "scalar of Arrow": ([pa.scalar(1.0)], "1.0"),
    "bool": ([True], "True; for a mask"),
    "bool among numbers": ([0, True], "True; for a mask"),
    "bool of numpy": ([1, np.bool_(False)], "False; for a mask"),
    "text": (["0"], "'0'"),
    "text alone": ("0", "'0'"),
    "texts of numpy": (np.array(["0"]), "'0'"),
    "texts of pandas": (pd.Series(["0"]), "'0'"),
    "bytes": ([b"0"], "b'0'"),
    "none": ([0, None], "None"),
    "null": (pa.array([1, None]), "null"),
    "decimal": ([Decimal(1)], r"Decimal\('1'\)"),
    "list": ([[0]], r"\[0\]"),
    "table of numpy": (np.array([[0]]), r"int64 of shape \(1, 1\)"),
    "long": (["x" * 500], "'x{59}…$"),
}


@pytest.mark.parametrize("form", NO_NUMBERS)
@pytest.mark.parametrize("question", ["backward", "values", "select"])
def test_what_is_no_whole_number_is_named(prov: Any, folder: Path, question: str, form: str) -> None:
    rows, said = NO_NUMBERS[form]
    with pytest.raises(ConditionError, match=f"rows must be a list of whole numbers, found {said}"):
        getattr(prov, question)(str(folder / "people.csv"), rows)


BEYOND: dict[str, tuple[Any, int]] = {
    "above": ([2**70], 2**70),
    "among others": ([0, 2**70, 1], 2**70),
    "below": ([-(2**70)], -(2**70)),
    "below and above": ([2**63, -(2**63) - 1], -(2**63) - 1),
    "first that does not fit": ([2**63], 2**63),
    "last that fits": ([2**63 - 1], 2**63 - 1),
    "unsigned of numpy": (np.array([2**63], dtype=np.uint64), 2**63),
    "scalar of numpy": ([np.uint64(2**64 - 1)], 2**64 - 1),
    "objects of numpy": (np.array([2**70], dtype=object), 2**70),
    "range": (range(2**70), 2**70 - 1),
    "range below": (range(-(2**70), 3), -(2**70)),
    "falling range": (range(3, -(2**70), -1), 1 - 2**70),
}


@pytest.mark.parametrize("form", BEYOND)
@pytest.mark.parametrize("question", ["backward", "values", "select"])
def test_numbers_beyond_64_bits_are_out_of_range(prov: Any, folder: Path, question: str, form: str) -> None:
    rows, wrong = BEYOND[form]
    with pytest.raises(RowOutOfRangeError, match=f"^row {wrong} of ") as raised:
        getattr(prov, question)(str(folder / "people.csv"), rows)
    assert raised.value.row == wrong
