from __future__ import annotations

import bz2
import dataclasses
import gzip
import io
import os
import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from _values_spark import both, version_at

from provspark.errors import RowOutOfRangeError, UnknownColumnError, ValuesUnavailableError, VersionChangedError
from provspark.index_store.values import read_rows
from provspark.index_store.values.files import files_of
from provspark.index_store.values.lines import lines_of
from provspark.index_store.values.types import arrow_type
from provspark.model.datasets import Field, Files, Version


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("".join(f"{i},x{i}\n" for i in range(10)))
    (tmp_path / "b.csv").write_text("".join(f"{i},x{i}\n" for i in range(10, 15)))
    return tmp_path


def csv(folder: Path, **counts: int) -> tuple[Version, Files]:
    rows = {"a.csv": 10, "b.csv": 5} | {f"{k}.csv": v for k, v in counts.items()}
    return version_at(folder, "csv", [("n", "int"), ("s", "string")], rows)


def test_rows_come_in_the_order_asked_for(folder: Path) -> None:
    version, files = csv(folder)
    got = read_rows(version, files, np.array([14, 0, 9, 10, 0]))
    assert got.to_pydict() == {"n": [14, 0, 9, 10, 0], "s": ["x14", "x0", "x9", "x10", "x0"]}
    assert read_rows(version, files, np.array([], dtype=np.int64), ["s"]).schema == pa.schema([("s", pa.string())])


@pytest.mark.parametrize("wrong", [-1, 15])
def test_a_row_that_is_not_there(folder: Path, wrong: int) -> None:
    version, files = csv(folder)
    with pytest.raises(RowOutOfRangeError, match=rf"row {wrong} .* 15 rows"):
        read_rows(version, files, np.array([3, wrong]))


def test_a_column_that_is_not_there(folder: Path) -> None:
    version, files = csv(folder)
    with pytest.raises(UnknownColumnError, match=r"no column 'nn'.*did you mean n"):
        read_rows(version, files, np.array([0]), ["nn"])


def test_a_file_of_another_size(folder: Path) -> None:
    version, files = csv(folder)
    with (folder / "b.csv").open("a") as out:
        out.write("15,y\n")
    assert len(read_rows(version, files, np.array([0]))) == 1
    with pytest.raises(VersionChangedError, match=r"b\.csv has changed .* 40 bytes now, 35 then.*row ids are still"):
        read_rows(version, files, np.array([0, 12]))


def test_a_file_of_another_time(folder: Path) -> None:
    version, files = csv(folder)
    stat = (folder / "a.csv").stat()
    os.utime(folder / "a.csv", ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000_000))
    with pytest.raises(VersionChangedError, match=r"a\.csv was written again.*row ids are still"):
        read_rows(version, files, np.array([1]))


def test_a_file_that_is_gone(folder: Path) -> None:
    version, files = csv(folder)
    (folder / "a.csv").unlink()
    with pytest.raises(VersionChangedError, match=r"a\.csv is gone"):
        read_rows(version, files, np.array([1]))


@pytest.mark.parametrize(("recorded", "row"), [(11, 10), (9, 8), (9, 0)])
def test_another_count_than_recorded(folder: Path, recorded: int, row: int) -> None:
    version, files = csv(folder, a=recorded)
    with pytest.raises(ValuesUnavailableError, match=rf"a\.csv contains 10 rows, but {recorded} were recorded"):
        read_rows(version, files, np.array([row]))


def test_reading_stops_after_the_last_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from provspark.index_store.values import lines

    (tmp_path / "a.csv").write_text("".join(f"{i},x\n" for i in range(5000)))
    version, files = version_at(tmp_path, "csv", [("n", "int")], {"a.csv": 5000})
    monkeypatch.setattr(lines.lines_of, "__defaults__", (b"", 1000))
    seen = 0
    real = lines._split

    def spy(data: bytes, separator: bytes) -> list[bytes]:
        nonlocal seen
        seen += len(data)
        return real(data, separator)

    monkeypatch.setattr(lines, "_split", spy)
    assert read_rows(version, files, np.array([300])).to_pylist() == [{"n": 300}]
    assert 0 < seen < 4000


@pytest.mark.parametrize("separator", [b"", b";", b"ab"])
def test_lines_do_not_depend_on_blocks(tmp_path: Path, separator: bytes) -> None:
    rnd = random.Random(11)
    for _ in range(60):
        data = bytes(rnd.choice(b"\r\n;abx") for _ in range(rnd.randint(0, 30)))
        (tmp_path / "a.txt").write_bytes(data)
        version, files = version_at(tmp_path, "text", [("value", "string")], {})
        file = files_of(version, files)[0]
        want = (
            data.split(separator) if separator else io.TextIOWrapper(io.BytesIO(data), newline=None).read().split("\n")
        )
        want = [w if isinstance(w, bytes) else w.encode() for w in want]
        want = want[:-1] if want[-1] == b"" else want
        for block in (1, 2, 3, 7, 1000):
            got = [line for lines in lines_of(file, separator, block) for line in lines]
            assert got == want, (data, block)


COMPRESSIONS = {".gz": gzip.compress, ".deflate": zlib.compress, ".bz2": bz2.compress}


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_compressed_lines_do_not_depend_on_streams_and_blocks(tmp_path: Path, suffix: str) -> None:
    rnd = random.Random(3)
    path = tmp_path / f"a.txt{suffix}"
    for _ in range(40):
        streams = [bytes(rnd.choice(b"\nabx") for _ in range(rnd.randint(0, 30))) for _ in range(rnd.randint(1, 5))]
        path.write_bytes(b"".join(map(COMPRESSIONS[suffix], streams)))
        version, files = version_at(tmp_path, "text", [("value", "string")], {})
        for block in (1, 3, 1000):
            got = [line for lines in lines_of(files_of(version, files)[0], b"", block) for line in lines]
            assert got == b"".join(streams).splitlines(), (streams, block)


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_damaged_compression(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.csv{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](b"1,x\n" * 100)[:-12])
    version, files = version_at(tmp_path, "csv", [("n", "int")], {path.name: 100})
    with pytest.raises(ValuesUnavailableError, match=rf"a\.csv\{suffix} can't be read"):
        read_rows(version, files, np.array([99]))


@pytest.mark.spark
def test_bytes_after_a_compressed_stream_count_as_in_spark(spark: Any, tmp_path: Path) -> None:
    for suffix, compress in COMPRESSIONS.items():
        (tmp_path / f"two.txt{suffix}").write_bytes(compress(b"a\nb\n") + compress(b"c\n"))
    (tmp_path / "more.txt.bz2").write_bytes(bz2.compress(b"a\nb\n") + b"more")
    assert both(spark, tmp_path, "text").files.total == 11
    for suffix in (".gz", ".deflate"):
        path = tmp_path / f"more.txt{suffix}"
        path.write_bytes(COMPRESSIONS[suffix](b"a\nb\n") + b"more")
        with pytest.raises(Exception, match=f"more.txt{suffix}"):
            spark.read.text(str(path)).collect()


@pytest.mark.parametrize(
    ("fmt", "name", "options", "named"),
    [
        ("text", "a.txt", {"wholetext": "true"}, "wholetext"),
        ("csv", "a.csv.snappy", {}, "snappy"),
        ("xml", "a.xml", {}, "'xml'"),
    ],
)
def test_what_can_not_be_read_is_named(
    tmp_path: Path, fmt: str, name: str, options: dict[str, str], named: str
) -> None:
    (tmp_path / name).write_text("x\n")
    version, files = version_at(tmp_path, fmt, [("value", "string")], {name: 1}, options)
    with pytest.raises(ValuesUnavailableError, match=named):
        read_rows(version, files, np.array([0]))


def test_a_partition_that_no_folder_names(folder: Path) -> None:
    version, files = version_at(folder, "csv", [("n", "int"), ("p", "int")], {"a.csv": 10, "b.csv": 5}, {}, ("p",))
    with pytest.raises(ValuesUnavailableError, match="exactly one folder p="):
        read_rows(version, files, np.array([0]))
    assert len(read_rows(version, files, np.array([0]), ["n"])) == 1


def test_zstandard(tmp_path: Path) -> None:
    with pa.CompressedOutputStream(str(tmp_path / "a.csv.zst"), "zstd") as out:
        out.write(b"1,x\n2,y\n")
    version, files = version_at(tmp_path, "csv", [("n", "int")], {"a.csv.zst": 2})
    assert read_rows(version, files, np.array([1])).to_pylist() == [{"n": 2}]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("struct<a:int,b:array<decimal(10,2)>>", "struct<a: int32, b: list<element: decimal128(10, 2)>>"),
        ("map<string,struct<x:map<string,int>>>", "map<string, struct<x: map<string, int32>>>"),
        ("varchar(5)", "string"),
        ("struct<>", "struct<>"),
    ],
)
def test_types(text: str, want: str) -> None:
    assert str(arrow_type(text)) == want


@pytest.mark.parametrize("text", ["interval year to month", "struct<a:int,... 3 more fields>", "array<int", "udt"])
def test_types_that_are_refused(text: str) -> None:
    with pytest.raises(ValuesUnavailableError):
        arrow_type(text)


def as_written(files: Files) -> Files:
    return Files(files.paths, files.sizes, files.mtimes, files.rows, np.ones(len(files.paths), dtype=np.bool_))


@pytest.mark.parametrize(
    ("fmt", "text", "rows", "options"),
    [
        ("csv", '1,"a\nb"\n2,c\n', 2, {}),
        ("csv", '1,"a\rb"\n2,c\n', 2, {}),
        ("csv", '1,"a\nb"\n\n', 2, {}),
        ("csv", "\n1,a\n", 2, {}),
        ("text", "a\nb\nc\n", 2, {}),
        ("json", '{"n":"a;b"};{};', 2, {"lineSep": ";"}),
    ],
)
def test_a_written_value_that_spans_lines_is_noticed(
    tmp_path: Path, fmt: str, text: str, rows: int, options: dict[str, str]
) -> None:
    (tmp_path / "a.txt").write_bytes(text.encode())
    version, files = version_at(tmp_path, fmt, [("n", "string")], {"a.txt": rows}, options)
    with pytest.raises(ValuesUnavailableError, match=r"a\.txt (contains|can't be read: Spark wrote lines)"):
        read_rows(version, as_written(files), np.array([0]))


def test_written_lines_that_are_rows_are_read(folder: Path) -> None:
    version, files = csv(folder)
    assert read_rows(version, as_written(files), np.array([12, 1]))["n"].to_pylist() == [12, 1]


def test_other_file_systems(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import fs

    from provspark.model.datasets import Dataset

    asked: list[str] = []

    class Buckets:
        @staticmethod
        def from_uri(uri: str) -> tuple[fs.FileSystem, str]:
            asked.append(uri)
            return fs.SubTreeFileSystem(str(folder.parent), fs.LocalFileSystem()), folder.name

    pq.write_table(pa.table({"n": range(3), "s": ["x", "y", "z"]}), folder / "c 1.parquet")
    version, files = csv(folder)
    (folder / "sub").mkdir()
    for name in ("a.csv", "b.csv", "c 1.parquet"):
        (folder / name).rename(folder / "sub" / name)
    remote = dataclasses.replace(version, dataset=Dataset("s3a://bucket", "sub"))
    keep = [files.paths.index(n) for n in ("a.csv", "b.csv")]
    lines = Files.of([(files.paths[i], files.sizes[i], files.mtimes[i], files.rows[i], False) for i in keep])
    monkeypatch.setattr(fs, "FileSystem", Buckets)
    assert read_rows(remote, lines, np.array([14, 2]))["s"].to_pylist() == ["x14", "x2"]
    stat = (folder / "sub" / "c 1.parquet").stat()
    one = Files.of([("c 1.parquet", stat.st_size, stat.st_mtime_ns // 1_000_000, 3, False)])
    kinds = (Field("n", "bigint"), Field("s", "string"))
    parquet = dataclasses.replace(remote, format="parquet", fields=kinds)
    assert read_rows(parquet, one, np.array([2])).to_pylist() == [{"n": 2, "s": "z"}]
    assert set(asked) == {"s3://bucket"}
    (folder / "sub" / "a.csv").unlink()
    with pytest.raises(VersionChangedError, match="is gone"):
        read_rows(remote, lines, np.array([2]))


def test_a_file_system_that_pyarrow_does_not_know(folder: Path) -> None:
    from provspark.model.datasets import Dataset

    version, files = csv(folder)
    with pytest.raises(ValuesUnavailableError, match="pyarrow can't reach dbfs://x/y"):
        read_rows(dataclasses.replace(version, dataset=Dataset("dbfs://x", "y")), files, np.array([2]))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read(folder: Path) -> None:
    version, files = csv(folder)
    (folder / "a.csv").chmod(0)
    with pytest.raises(ValuesUnavailableError, match=r"a\.csv can't be read"):
        read_rows(version, files, np.array([0]))
