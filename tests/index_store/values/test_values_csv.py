from __future__ import annotations

import bz2
import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _values_spark import both, from_spark, version_at

from provspark.errors import ValuesUnavailableError
from provspark.index_store.values import read_rows

pytestmark = pytest.mark.spark

SCHEMA = "id int, name string, v double"
NASTY = (
    b"\xef\xbb\xbf"
    rb'''id,name,v
1,"a,b",1.5
2,"say \"hi\"",2
3,"say ""hi""",x
'''
    b"\r\n   \t\n"
    rb"""4,open "quote,3
5,"unclosed,4
6
7,a,b,c,d
8,,NULL
9,"",
10, sp ,  7.5
"11",'q',1e3
"""
    b"12,\xe9\xff,0x1p3\n"
    b'13,"x" ,1d\r\n14,y,-Inf\r15,z,Infinity\r\n'
    b"#16,c,1\n #17,c,1\n"
    b"18,\xed\xa0\x80\xf0\x9f\x98\x80\xe2\x82,1\n"
    b"19,end\x00,+5"
)


@pytest.mark.parametrize(
    "options",
    [
        {"header": "true"},
        {"header": "true", "comment": "#"},
        {"escape": '"'},
        {"header": "true", "nullValue": "NULL", "emptyValue": "E"},
        {"header": "true", "ignoreLeadingWhiteSpace": "true", "ignoreTrailingWhiteSpace": "true"},
        {"header": "true", "encoding": "ISO-8859-1"},
        {"header": "true", "encoding": "US-ASCII"},
        {"header": "true", "quote": "'"},
        {"header": "true", "quote": ""},
        {"header": "true", "lineSep": "a"},
        {"header": "true", "sep": ";"},
        {"header": "true", "unescapedQuoteHandling": "STOP_AT_CLOSING_QUOTE"},
        {"header": "true", "charToEscapeQuoteEscaping": "|"},
    ],
    ids=lambda o: "-".join(k for k in o if k != "header") or "plain",
)
def test_a_nasty_file_reads_as_in_spark(spark: Any, tmp_path: Path, options: dict[str, str]) -> None:
    (tmp_path / "a.csv").write_bytes(NASTY)
    side = both(spark, tmp_path / "a.csv", "csv", SCHEMA, options)
    assert side.files.total >= 3


@pytest.mark.parametrize("options", [{"header": "true", "comment": "#"}, {"header": "true"}])
def test_the_header_is_the_first_line_that_is_not_skipped(spark: Any, tmp_path: Path, options: dict[str, str]) -> None:
    (tmp_path / "h.csv").write_bytes(b"\n#x\n #h\n  \na,b\n1,2\n#3,4\n #3,4\n5,6\n")
    both(spark, tmp_path / "h.csv", "csv", "a string, b string", options)


def test_separators_of_several_characters_and_escapes(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_bytes(b"a||b|||c\n||x||\n1||2|\n|||||\n")
    both(spark, tmp_path / "m.csv", "csv", "a string, b string, c string", {"sep": "||"})
    (tmp_path / "t.csv").write_bytes(b'a\tb\t"c\td"\n\t\tx\n')
    both(spark, tmp_path / "t.csv", "csv", "a string, b string, c string", {"delimiter": "\\t"})


def test_folders_compressions_empty_files_and_partitions(spark: Any, tmp_path: Path) -> None:
    null, one, text = (tmp_path / n for n in ("k=__HIVE_DEFAULT_PARTITION__", "k=a%2Fb c", "k=é"))
    for folder in (null, one, text):
        folder.mkdir()
    (one / "p1.csv").write_bytes(b"a,b\n1,2\n")
    (one / "p2.csv").write_bytes(b"")
    (text / "e.csv").write_bytes(b"a,b\n")
    (text / "y.csv.bz2").write_bytes(bz2.compress(b"a,b\n7,8\n"))
    (text / "x.csv.deflate").write_bytes(zlib.compress(b"a,b\n9,8\r\n\n9,9"))
    (null / "z.csv.gz").write_bytes(gzip.compress(b"a,b\n3,4\n") + gzip.compress(b"5,6"))
    schema = "a int, b string, k string"
    side = both(spark, tmp_path, "csv", schema, {"header": "true"}, ("k",))
    assert sorted({str(r["k"]) for r in side.rows}) == ["None", "a/b c", "é"]


TYPES = "a tinyint, b smallint, c int, d bigint, e float, f double, g boolean, h decimal(8,2), i date, j timestamp"
CELLS = """1,2,3,4,1.1,2.2,true,12.345,2024-01-02,2024-01-02 03:04:05
300,40000,3000000000,9223372036854775808,x,1e400,TRUE,99999999.999,2024-1-2,2024-01-02T03:04:05Z
-1,+2,-3, 4,NaN,-Inf,yes,1,2024-02-30,2024-03-31 02:30:00
1_0,٣,1.0,1e2,1e-50,.5,false,"1,234.5",2024-01-02 ,2024-10-27 02:30:00.123456789
0,0,0,0,3.4028236e38,1.,tRue,-0.005,0001-01-02,2024-01-02 03:04
0,0,0,0,0.1234567890123456789,1e,0,1e3,20240102,2024-01-02
0,0,0,0,1f,1D,t,.5,2024-01-02T00:00:00,2024
0,0,0,0,  1.5 ,1 5,t,1., 2024-01-02,2024-07-02 03:04:05.1+01:00
0,0,0,0,16777217.0000001,-Infinity,t,+1,+2024-01-02,2024-07-02 03:04:05 Europe/London
0,0,0,0,1.00000017881393432617187499,0x1.8p1,t,1e-9,9999-12-31,2024-07-02T3:4:5.
0,0,0,0,1,2,t,0.015,1970-01-01,2024-07-02 25:00:00
0,0,0,0,1,2,t,-,1970-1-1,2024-07-02 1:2:3 PST
0,0,0,0,1,2,t,1e100,1970-01,2024-13-02
"""


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"timeZone": "Europe/Paris"},
        {"dateFormat": "yyyy-M-d", "timestampFormat": "yyyy-MM-dd HH:mm:ss[.SSS][XXX]"},
        {
            "dateFormat": "yyyy-M-d",
            "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss[.SSSSSS]XXX",
            "enableDateTimeParsingFallback": "true",
        },
    ],
)
def test_types_convert_as_in_spark(spark: Any, tmp_path: Path, options: dict[str, str]) -> None:
    (tmp_path / "t.csv").write_text(CELLS)
    both(spark, tmp_path / "t.csv", "csv", TYPES, options)
    both(spark, tmp_path / "t.csv", "csv", TYPES.replace("j timestamp", "j timestamp_ntz"), {})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("multiLine", "true"),
        ("mode", "DROPMALFORMED"),
        ("encoding", "UTF-16"),
        ("unescapedQuoteHandling", "BACK_TO_DELIMITER"),
        ("singleVariantColumn", "v"),
        ("sep", "||~"),
    ],
)
def test_options_that_are_not_followed_are_named(tmp_path: Path, option: str, value: str) -> None:
    (tmp_path / "a.csv").write_text("1,2\n")
    version, files = version_at(tmp_path, "csv", [("a", "int")], {"a.csv": 1}, {option: value})
    with pytest.raises(ValuesUnavailableError, match=option):
        read_rows(version, files, np.array([0]))


@pytest.mark.parametrize(
    ("fields", "options", "text", "named"),
    [
        ([("a", "timestamp")], {}, "2024-01-02 03:04:05", "timeZone"),
        ([("a", "date")], {"dateFormat": "dd MMM yyyy"}, "02 Jan 2024", "MMM"),
        ([("a", "decimal(5,2)")], {"locale": "de-DE"}, "1.5", "locale"),
        ([("a", "string"), ("_corrupt_record", "string")], {}, "x", "columnNameOfCorruptRecord"),
        ([("a", "string")], {"maxColumns": "1"}, "x,y", "maxColumns"),
        ([("a", "string")], {"maxCharsPerColumn": "1"}, "xy", "maxCharsPerColumn"),
        ([("a", "interval day to second")], {}, "x", "interval day to second"),
        ([("a", "array<int>")], {}, "x", "array<int>"),
    ],
)
def test_values_that_are_not_read_exactly_are_refused(
    tmp_path: Path, fields: list[tuple[str, str]], options: dict[str, str], text: str, named: str
) -> None:
    (tmp_path / "a.csv").write_text(text + "\n")
    version, files = version_at(tmp_path, "csv", fields, {"a.csv": 1}, options)
    with pytest.raises(ValuesUnavailableError, match=named):
        read_rows(version, files, np.array([0]))


def test_the_column_for_bad_records_takes_no_place(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,x\n2,y,z\n")
    schema = "a int, _corrupt_record string, b string"
    want = from_spark(spark.read.schema(schema).csv(str(tmp_path)).select("a", "b"))
    fields = [("a", "int"), ("_corrupt_record", "string"), ("b", "string")]
    version, files = version_at(tmp_path, "csv", fields, {"a.csv": 2})
    assert read_rows(version, files, np.arange(2), ["a", "b"]).to_pylist() == want


def test_a_partition_column_that_is_in_the_files_too_is_refused(tmp_path: Path) -> None:
    (tmp_path / "k=1").mkdir()
    (tmp_path / "k=1" / "a.csv").write_text("a,K\n1,2\n")
    fields = [("a", "int"), ("k", "int")]
    version, files = version_at(tmp_path, "csv", fields, {"k=1/a.csv": 1}, {"header": "true"}, ("k",))
    with pytest.raises(ValuesUnavailableError, match="also a partition column"):
        read_rows(version, files, np.array([0]))
