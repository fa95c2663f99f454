from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _values_spark import both, version_at

from provspark.errors import ValuesUnavailableError
from provspark.index_store.values import read_rows

pytestmark = pytest.mark.spark

LINES = r"""{"a": 1, "b": "x", "c": 1.5}

   TAB
{"a": 1, "b": 'single', 'c': NaN}
{"a": "1", "b": 12.50, "c": "NaN"}
{"b": {"x": [1, 2 , 3]}, "c": 3}
{"b": [1,  2], "a": 1.0} trailing
{"b": true, "a": 99999999999, "c": "-INF"}
[{"a": 1}, {"a": 2, "b": "y"}]
[]
[1]
[{"a": 1}, null]
[{"a": 1}, {"a": tru}]
123
"abc"
abc
null
{"a": 5
{"a": 5, "b": tru, "c": 2}
{"a": 5, "b": "x", "c": 01}
{"a": 5 "b": 2}
{"a": 1, "a": "x", "b": "p", "b": "q"}
{"a": -0, "b": "\u00e9\ud83d\ude00\/\n\'", "c": -Infinity}
{"a": null, "b": null, "c": 1e400}
{"A": 7, "zz": {"a": 3}, "c": 7}
{}
{"a": 1,}
{"c": 123456789012345678901234567890}
{"b": "\ud83d alone"}
{"b": -1.0E+5, "c": "Infinity"}
{"c": INF}
{"c": +1}
{"c": .5}
{"c": 1.}
{"b": "a"}{"b": "z"}
{"b": "aTABb", "a": 1}
{"b": "a\x", "a": 1}
{"z": "aTABb", "a": 1}
{"b": "abc
{"a": 1, "z": [1, x], "c": 2}
{"a":1,"b":{"x":[1,2
{"a": "xTABy", "b": "z"}
""".replace("TAB", "\t")

NESTED = r"""{"s": {"x": 1, "y": "p"}, "l": [1, 2], "m": {"k": 1.5}, "t": [{"x": 1}, {"x": 2}]}
{"s": {"x": "bad", "y": "p"}, "l": [1, "bad"], "m": {"k": 1.5, "j": 2}, "t": [{"x": 1}, {"x": "bad"}]}
{"s": [1], "l": {"a": 1}, "m": [], "t": [{"x": 1}, null]}
{"s": null, "l": [null, 1], "m": {"k": null}, "t": []}
{"s": {}, "l": [], "m": {}, "t": [{}]}
{"l": [1, x], "s": {"x": 1}}
{"s": {"x": 1 "y": 2}, "l": [1]}
{"m": {"k": "bad", "j": 2}, "l": [2]}
"""

TYPES = r"""{"a": 200, "b": 40000, "d": "2024-1-2", "t": "2024-01-02T03:04:05Z", "n": "2024-01-02 03:04", "h": 1.005}
{"a": -129, "b": -5, "d": "x", "t": 1700000000, "n": "2024-01-02 03:04Z", "h": "1,234.567", "o": "true"}
{"a": 300, "b": 1.0, "d": "", "t": "", "n": "", "h": "", "o": 1, "y": ""}
{"a": 255, "d": "2024-01-02T00:00:00", "t": "2024-03-31 02:30:00", "h": 1e3, "o": null, "y": 1}
{"a": 127, "d": "2024", "t": "2024-01-02", "h": 123456789, "o": false, "y": "aGVsbG8="}
{"f": 1.00000017881393432617187499, "o": true}
"""


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"allowNonNumericNumbers": "false", "allowSingleQuotes": "false"},
        {"allowUnquotedControlChars": "true", "allowBackslashEscapingAnyCharacter": "true"},
        {"lineSep": "}\n"},
    ],
    ids=lambda o: "-".join(o) or "plain",
)
def test_lines_read_as_in_spark(spark: Any, tmp_path: Path, options: dict[str, str]) -> None:
    (tmp_path / "a.json").write_text(LINES)
    both(spark, tmp_path, "json", "a int, b string, c double", options)


def test_nested_values_read_as_in_spark(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "n.json").write_text(NESTED)
    both(
        spark, tmp_path, "json", "s struct<x:int,y:string>, l array<int>, m map<string,double>, t array<struct<x:int>>"
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"timeZone": "Europe/Paris"},
        {"dateFormat": "yyyy-M-d", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ssXXX"},
    ],
)
def test_types_convert_as_in_spark(spark: Any, tmp_path: Path, options: dict[str, str]) -> None:
    (tmp_path / "t.json").write_text(TYPES)
    schema = "a tinyint, b smallint, d date, t timestamp, n timestamp_ntz, h decimal(6,2), o boolean, y binary, f float"
    both(spark, tmp_path, "json", schema, options)


def test_encodings_and_partitions(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "p=2").mkdir()
    (tmp_path / "p=2" / "a.json").write_bytes('{"a": "é", "b": 1}\n'.encode("latin-1"))
    both(spark, tmp_path, "json", "a string, b int, p int", {"encoding": "ISO-8859-1", "lineSep": "\n"}, ("p",))


@pytest.mark.parametrize(
    "option", ["multiLine", "allowComments", "allowUnquotedFieldNames", "allowNumericLeadingZeros"]
)
def test_options_that_are_not_followed_are_named(tmp_path: Path, option: str) -> None:
    (tmp_path / "a.json").write_text("{}\n")
    version, files = version_at(tmp_path, "json", [("a", "int")], {"a.json": 1}, {option: "true"})
    with pytest.raises(ValuesUnavailableError, match=option):
        read_rows(version, files, np.array([0]))


@pytest.mark.parametrize(
    ("line", "kind", "named"),
    [
        (b'{"a": "\xe9"}', "string", "not valid utf-8"),
        (b'{"a": "aGVs bG8="}', "binary", "base64"),
        (b'{"a": "12"}', "date", "Spark 1"),
        (b'{"a": ' + b"[" * 300 + b"]" * 300 + b"}", "string", "nests deeper"),
        (b'{"a": 99999999999999}', "timestamp", "outside of the years"),
        (b'{"a": {"1": 2}}', "map<int,int>", "map<int,int>"),
    ],
)
def test_values_that_are_not_read_exactly_are_refused(tmp_path: Path, line: bytes, kind: str, named: str) -> None:
    (tmp_path / "a.json").write_bytes(line + b"\n")
    version, files = version_at(tmp_path, "json", [("a", kind)], {"a.json": 1})
    with pytest.raises(ValuesUnavailableError, match=named):
        read_rows(version, files, np.array([0]))
