"""Forms of `rows`: lists, ranges, arrays and columns of other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from _people import people

import provspark.api
from provspark.errors import ArgumentError, ConditionError


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
    with pytest.raises(ConditionError, match="pass the set in place of the dataset"):
        prov.forward(source, prov.select(report))
    with pytest.raises(ConditionError, match="pass the set in place of the dataset"):
        prov.values(source, prov.select(report))
    for wrong in (answer, answer.table(), answer.values()):
        with pytest.raises(ArgumentError, match="in place of the dataset"):
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
