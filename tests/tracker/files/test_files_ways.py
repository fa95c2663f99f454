"""The ways in which a script reads, writes, copies and moves files without Spark, each with what is to be noticed."""

# ruff: noqa: PTH104, PTH105, PTH107, PTH109, PTH116, PTH123, PTH211, SIM115, UP020

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import logging
import lzma
import os
import pickle
import shutil
import sqlite3
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.fs
import pyarrow.json
import pyarrow.orc
import pyarrow.parquet
import pytest

from provspark.tracker.files import DriverFiles, FileRead, FileWrite


@dataclass(frozen=True)
class Seen:
    """What was noticed: the actions and files of reads, and of writes with what each contains."""

    reads: tuple[str, ...] = ()
    writes: dict[str, str] = field(default_factory=dict)
    """By name: "rows" if the script wrote it, and the files that it contains as they were."""


TABLE = pa.table({"a": [1, 2, 3]})
FRAME = pd.DataFrame({"a": [1, 2, 3]})


def made(name: str) -> str:
    """Make a file before anybody listens."""
    if name.endswith(".parquet"):
        pa.parquet.write_table(TABLE, name)
    elif name.endswith(".feather"):
        pa.feather.write_feather(TABLE, name)
    elif name.endswith(".orc"):
        pa.orc.write_table(TABLE, name)
    elif name.endswith(".pkl"):
        FRAME.to_pickle(name)
    elif name.endswith(".npy"):
        np.save(name, np.arange(3))
    elif name.endswith(".npz"):
        np.savez(name, a=np.arange(3))
    elif name.endswith(".json"):
        Path(name).write_text('{"a": 1}\n{"a": 2}\n')
    elif name.endswith(".csv.gz"):
        with gzip.open(name, "wt") as f:
            f.write("a\n1\n")
    elif name.endswith(".zip"):
        with zipfile.ZipFile(name, "w") as z:
            z.writestr("in.csv", "a\n1\n")
    elif name.endswith(".db"):
        with sqlite3.connect(name) as c:
            c.execute("CREATE TABLE t (a INT)")
        c.close()
    elif name.endswith("/"):
        pa.parquet.write_to_dataset(TABLE, name, partition_cols=["a"], basename_template="p{i}.parquet")
    else:
        Path(name).write_text("a\n1\n2\n")
    return name


def text(name: str, content: str, mode: str = "w") -> None:
    with open(name, mode) as f:
        f.write(content)


def descriptor(name: str, flags: int) -> None:
    os.close(os.open(name, flags))


def query(name: str, statement: str) -> None:
    with sqlite3.connect(name) as c:
        c.execute(statement).fetchall()
    c.close()


def in_thread(call: Callable[[], object]) -> None:
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


def in_pool(call: Callable[..., object], *args: object) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(call, *args).result()


READS: dict[str, tuple[str, Callable[[str], object], str]] = {
    "open": ("in.csv", lambda p: open(p).read(), "open"),
    "open bytes": ("in.csv", lambda p: open(p.encode(), "rb").read(), "open"),
    "io.open": ("in.csv", lambda p: io.open(p).read(), "open"),
    "os.open": ("in.csv", lambda p: descriptor(p, os.O_RDONLY), "open"),
    "pathlib": ("in.csv", lambda p: Path(p).read_text(), "pathlib.read_text"),
    "Path.open": ("in.csv", lambda p: Path(p).open().read(), "pathlib.open"),
    "csv": ("in.csv", lambda p: list(csv.reader(open(p))), "open"),
    "json": ("in.json", lambda p: [json.loads(line) for line in open(p)], "open"),
    "pickle": ("in.pkl", lambda p: pickle.load(open(p, "rb")), "open"),
    "gzip": ("in.csv.gz", lambda p: gzip.open(p).read(), "gzip.open"),
    "zipfile": ("in.zip", lambda p: zipfile.ZipFile(p).read("in.csv"), "zipfile.ZipFile"),
    "sqlite3": ("in.db", lambda p: query(p, "SELECT * FROM t"), "sqlite3.connect"),
    "sqlite3 URL": ("in.db", lambda p: sqlite3.connect(f"file:{p}?mode=ro", uri=True).close(), "sqlite3.connect"),
    "numpy.load": ("in.npy", np.load, "numpy.load"),
    "numpy.load mapped": ("in.npy", lambda p: np.load(p, mmap_mode="r").sum(), "numpy.load"),
    "numpy.load npz": ("in.npz", lambda p: np.load(p)["a"], "numpy.load"),
    "numpy.loadtxt": ("in.csv", lambda p: np.loadtxt(p, skiprows=1), "numpy.loadtxt"),
    "numpy.genfromtxt": ("in.csv", lambda p: np.genfromtxt(p, skip_header=1), "numpy.genfromtxt"),
    "numpy.fromfile": ("in.csv", lambda p: np.fromfile(p, dtype=np.uint8), "open"),
    "numpy.memmap": ("in.csv", lambda p: np.memmap(p, mode="r").sum(), "numpy.memmap"),
    "pandas.read_csv": ("in.csv", pd.read_csv, "pandas.read_csv"),
    "pandas.read_csv URL": ("in.csv", lambda p: pd.read_csv(Path(p).absolute().as_uri()), "pandas.read_csv"),
    "pandas.read_csv pyarrow": ("in.csv", lambda p: pd.read_csv(p, engine="pyarrow"), "pandas.read_csv"),
    "pandas.read_csv gz": ("in.csv.gz", pd.read_csv, "pandas.read_csv"),
    "pandas.read_csv zip": ("in.zip", pd.read_csv, "pandas.read_csv"),
    "pandas.read_table": ("in.csv", pd.read_table, "pandas.read_table"),
    "pandas.read_fwf": ("in.csv", pd.read_fwf, "pandas.read_fwf"),
    "pandas.read_json": ("in.json", lambda p: pd.read_json(p, lines=True), "pandas.read_json"),
    "pandas.read_parquet": ("in.parquet", pd.read_parquet, "pandas.read_parquet"),
    "pandas.read_parquet dtype": (
        "in.parquet",
        lambda p: pd.read_parquet(p, dtype_backend="pyarrow"),
        "pandas.read_parquet",
    ),
    "pandas.read_feather": ("in.feather", pd.read_feather, "pandas.read_feather"),
    "pandas.read_orc": ("in.orc", pd.read_orc, "pandas.read_orc"),
    "pandas.read_pickle": ("in.pkl", pd.read_pickle, "pandas.read_pickle"),
    "pandas.read_sql": (
        "in.db",
        lambda p: pd.read_sql("SELECT * FROM t", sqlite3.connect(p)),
        "sqlite3.connect",
    ),
    "parquet.read_table": ("in.parquet", lambda p: pa.parquet.read_table(p), "pyarrow.parquet.read_table"),
    "parquet.read_pandas": ("in.parquet", lambda p: pa.parquet.read_pandas(p), "pyarrow.parquet.read_pandas"),
    "ParquetFile": ("in.parquet", lambda p: pa.parquet.ParquetFile(p).read(), "pyarrow.parquet.ParquetFile"),
    "ParquetDataset": ("in.parquet", lambda p: pa.parquet.ParquetDataset(p).read(), "pyarrow.parquet.ParquetDataset"),
    "parquet with a file system": (
        "in.parquet",
        lambda p: pa.parquet.read_table(p, filesystem=pa.fs.LocalFileSystem()),
        "pyarrow.parquet.read_table",
    ),
    "parquet below a folder": (
        "in.parquet",
        lambda p: pa.parquet.read_table(p, filesystem=pa.fs.SubTreeFileSystem(os.getcwd(), pa.fs.LocalFileSystem())),
        "pyarrow.parquet.read_table",
    ),
    "parquet URL": (
        "in.parquet",
        lambda p: pa.parquet.read_table(Path(p).absolute().as_uri()),
        "pyarrow.parquet.read_table",
    ),
    "dataset": ("in.parquet", lambda p: pa.dataset.dataset([p]).to_table(), "pyarrow.dataset.dataset"),
    "csv.read_csv": ("in.csv", lambda p: pa.csv.read_csv(p), "pyarrow.csv.read_csv"),
    "csv.open_csv": ("in.csv", lambda p: pa.csv.open_csv(p).read_all(), "pyarrow.csv.open_csv"),
    "json.read_json": ("in.json", lambda p: pa.json.read_json(p), "pyarrow.json.read_json"),
    "feather.read_table": ("in.feather", lambda p: pa.feather.read_table(p), "pyarrow.feather.read_table"),
    "feather.read_feather": ("in.feather", lambda p: pa.feather.read_feather(p), "pyarrow.feather.read_feather"),
    "orc.read_table": ("in.orc", lambda p: pa.orc.read_table(p), "pyarrow.orc.read_table"),
    "ORCFile": ("in.orc", lambda p: pa.orc.ORCFile(p).read(), "pyarrow.orc.ORCFile"),
    "ipc.open_file": ("in.feather", lambda p: pa.ipc.open_file(p).read_all(), "pyarrow.ipc.open_file"),
    "memory_map": ("in.csv", lambda p: pa.memory_map(p).read(), "pyarrow.memory_map"),
    "input_stream": ("in.csv", lambda p: pa.input_stream(p).read(), "pyarrow.input_stream"),
    "OSFile": ("in.csv", lambda p: pa.OSFile(p).read(), "pyarrow.OSFile"),
    "LocalFileSystem": (
        "in.csv",
        lambda p: pa.fs.LocalFileSystem().open_input_stream(p).read(),
        "pyarrow.fs.LocalFileSystem.open_input_stream",
    ),
    "LocalFileSystem, a file": (
        "in.csv",
        lambda p: pa.fs.LocalFileSystem(use_mmap=True).open_input_file(p).read(),
        "pyarrow.fs.LocalFileSystem.open_input_file",
    ),
    "thread": ("in.csv", lambda p: in_thread(lambda: pd.read_csv(p)), "pandas.read_csv"),
    "pool": ("in.csv", lambda p: in_pool(pd.read_csv, p), "pandas.read_csv"),
}

ROWS = "rows"

WRITES: dict[str, tuple[tuple[str, ...], Callable[[], object], Seen]] = {
    "open": ((), lambda: text("out.csv", "x"), Seen((), {"out.csv": ROWS})),
    "open over another": (("out.csv",), lambda: text("out.csv", "x"), Seen((), {"out.csv": ROWS})),
    "exclusive": ((), lambda: text("out.csv", "x", "x"), Seen((), {"out.csv": ROWS})),
    "append": (("out.csv",), lambda: text("out.csv", "x", "a"), Seen((), {"out.csv": "rows out.csv"})),
    "append to none": ((), lambda: text("out.csv", "x", "a"), Seen((), {"out.csv": ROWS})),
    "append to an own": (
        (),
        lambda: (text("out.csv", "x"), text("out.csv", "x", "a")),
        Seen((), {"out.csv": ROWS}),
    ),
    "r+": (("out.csv",), lambda: text("out.csv", "x", "r+"), Seen(("open out.csv",), {"out.csv": "rows out.csv"})),
    "r+ and nothing written": (("out.csv",), lambda: open("out.csv", "r+").close(), Seen(("open out.csv",))),
    "w+": (("out.csv",), lambda: text("out.csv", "x", "w+"), Seen((), {"out.csv": ROWS})),
    "a+": (("out.csv",), lambda: text("out.csv", "x", "a+"), Seen(("open out.csv",), {"out.csv": "rows out.csv"})),
    "os.open": ((), lambda: descriptor("out.csv", os.O_WRONLY | os.O_CREAT), Seen((), {"out.csv": ROWS})),
    "truncate": (
        ("out.csv",),
        lambda: os.truncate("out.csv", 2),
        Seen(("os.truncate out.csv",), {"out.csv": "rows out.csv"}),
    ),
    "pathlib": ((), lambda: Path("out.csv").write_text("x"), Seen((), {"out.csv": ROWS})),
    "gzip": ((), lambda: gzip.open("out.gz", "wb").close(), Seen((), {"out.gz": ROWS})),
    "bz2": ((), lambda: bz2.open("out.bz2", "wb").close(), Seen((), {"out.bz2": ROWS})),
    "lzma": ((), lambda: lzma.open("out.xz", "wb").close(), Seen((), {"out.xz": ROWS})),
    "zipfile": ((), lambda: made("out.zip"), Seen((), {"out.zip": ROWS})),
    "sqlite3": ((), lambda: made("out.db"), Seen((), {"out.db": ROWS})),
    "sqlite3 over another": (
        ("in.db",),
        lambda: query("in.db", "INSERT INTO t VALUES (1)"),
        Seen(("sqlite3.connect in.db",), {"in.db": "rows in.db"}),
    ),
    "numpy.save": ((), lambda: np.save("out.npy", np.arange(3)), Seen((), {"out.npy": ROWS})),
    "numpy.savez": ((), lambda: np.savez("out.npz", np.arange(3)), Seen((), {"out.npz": ROWS})),
    "numpy.savetxt": ((), lambda: np.savetxt("out.txt", np.arange(3)), Seen((), {"out.txt": ROWS})),
    "numpy.tofile": ((), lambda: np.arange(3).tofile("out.bin"), Seen((), {"out.bin": ROWS})),
    "numpy.memmap": ((), lambda: np.memmap("out.bin", mode="w+", shape=3).flush(), Seen((), {"out.bin": ROWS})),
    "pickle": ((), lambda: pickle.dump(1, open("out.pkl", "wb")), Seen((), {"out.pkl": ROWS})),
    "DataFrame.to_csv": ((), lambda: FRAME.to_csv("out.csv"), Seen((), {"out.csv": ROWS})),
    "DataFrame.to_csv append": (
        ("out.csv",),
        lambda: FRAME.to_csv("out.csv", mode="a"),
        Seen((), {"out.csv": "rows out.csv"}),
    ),
    "DataFrame.to_csv gz": ((), lambda: FRAME.to_csv("out.csv.gz"), Seen((), {"out.csv.gz": ROWS})),
    "DataFrame.to_json": ((), lambda: FRAME.to_json("out.json"), Seen((), {"out.json": ROWS})),
    "DataFrame.to_parquet": ((), lambda: FRAME.to_parquet("out.parquet"), Seen((), {"out.parquet": ROWS})),
    "DataFrame.to_feather": ((), lambda: FRAME.to_feather("out.feather"), Seen((), {"out.feather": ROWS})),
    "DataFrame.to_orc": ((), lambda: FRAME.to_orc("out.orc"), Seen((), {"out.orc": ROWS})),
    "DataFrame.to_pickle": ((), lambda: FRAME.to_pickle("out.pkl"), Seen((), {"out.pkl": ROWS})),
    "DataFrame.to_html": ((), lambda: FRAME.to_html("out.html"), Seen((), {"out.html": ROWS})),
    "partitioned by pandas": (
        (),
        lambda: FRAME.to_parquet("out", partition_cols=["a"], basename_template="p{i}.parquet"),
        Seen((), {f"out/a={i}/p0.parquet": ROWS for i in (1, 2, 3)}),
    ),
    "write_to_dataset": ((), lambda: made("out/"), Seen((), {f"out/a={i}/p0.parquet": ROWS for i in (1, 2, 3)})),
    "write_dataset beside others": (
        ("out/",),
        lambda: pa.dataset.write_dataset(
            TABLE, "out", format="csv", basename_template="q{i}.csv", existing_data_behavior="overwrite_or_ignore"
        ),
        Seen((), {"out/q0.csv": ROWS}),
    ),
    "write_table": ((), lambda: pa.parquet.write_table(TABLE, "out.parquet"), Seen((), {"out.parquet": ROWS})),
    "ParquetWriter": (
        (),
        lambda: pa.parquet.ParquetWriter("out.parquet", TABLE.schema).close(),
        Seen((), {"out.parquet": ROWS}),
    ),
    "csv.write_csv": ((), lambda: pa.csv.write_csv(TABLE, "out.csv"), Seen((), {"out.csv": ROWS})),
    "feather.write_feather": ((), lambda: made("out.feather"), Seen((), {"out.feather": ROWS})),
    "orc.write_table": ((), lambda: made("out.orc"), Seen((), {"out.orc": ROWS})),
    "ipc.new_file": ((), lambda: pa.ipc.new_file("out.arrow", TABLE.schema).close(), Seen((), {"out.arrow": ROWS})),
    "OSFile": ((), lambda: pa.OSFile("out.bin", "wb").close(), Seen((), {"out.bin": ROWS})),
    "CSVWriter": ((), lambda: pa.csv.CSVWriter("out.csv", TABLE.schema).close(), Seen((), {"out.csv": ROWS})),
    "LocalFileSystem": (
        (),
        lambda: pa.fs.LocalFileSystem().open_output_stream("out.bin").close(),
        Seen((), {"out.bin": ROWS}),
    ),
    "LocalFileSystem append": (
        ("out.csv",),
        lambda: pa.fs.LocalFileSystem().open_append_stream("out.csv").write(b"x"),
        Seen((), {"out.csv": "rows out.csv"}),
    ),
    "LocalFileSystem copy": (
        ("in.csv",),
        lambda: pa.fs.LocalFileSystem().copy_file("in.csv", "out.csv"),
        Seen((), {"out.csv": "in.csv"}),
    ),
    "LocalFileSystem move": (
        ("in.csv",),
        lambda: pa.fs.LocalFileSystem().move("in.csv", "out.csv"),
        Seen((), {"out.csv": "in.csv"}),
    ),
    "output_stream": ((), lambda: pa.output_stream("out.bin").close(), Seen((), {"out.bin": ROWS})),
    "thread": ((), lambda: in_thread(lambda: text("out.csv", "x")), Seen((), {"out.csv": ROWS})),
    "pool": ((), lambda: in_pool(FRAME.to_csv, "out.csv"), Seen((), {"out.csv": ROWS})),
    "copyfile": (("in.csv",), lambda: shutil.copyfile("in.csv", "out.csv"), Seen((), {"out.csv": "in.csv"})),
    "copy": (("in.csv",), lambda: shutil.copy("in.csv", "out.csv"), Seen((), {"out.csv": "in.csv"})),
    "copy2": (("in.csv",), lambda: shutil.copy2("in.csv", "out.csv"), Seen((), {"out.csv": "in.csv"})),
    "copy over another": (
        ("in.csv", "out.csv"),
        lambda: shutil.copy("in.csv", "out.csv"),
        Seen((), {"out.csv": "in.csv"}),
    ),
    "copy and append": (
        ("in.csv",),
        lambda: (shutil.copy("in.csv", "out.csv"), text("out.csv", "x", "a")),
        Seen((), {"out.csv": "rows in.csv"}),
    ),
    "copy and overwrite": (
        ("in.csv",),
        lambda: (shutil.copy("in.csv", "out.csv"), text("out.csv", "x")),
        Seen((), {"out.csv": ROWS}),
    ),
    "copies of copies": (
        ("in.csv",),
        lambda: (shutil.copy("in.csv", "a.csv"), shutil.copy("a.csv", "b.csv")),
        Seen((), {"a.csv": "in.csv", "b.csv": "a.csv"}),
    ),
    "copy of one that goes": (
        (),
        lambda: (text("a.csv", "x"), shutil.copy("a.csv", "out.csv"), os.remove("a.csv")),
        Seen((), {"out.csv": ROWS}),
    ),
    "copyfileobj": (
        ("in.csv",),
        lambda: shutil.copyfileobj(open("in.csv"), open("out.csv", "w")),
        Seen(("open in.csv",), {"out.csv": ROWS}),
    ),
    "copytree": (
        ("in/",),
        lambda: shutil.copytree("in", "out"),
        Seen((), {f"out/a={i}/p0.parquet": f"in/a={i}/p0.parquet" for i in (1, 2, 3)}),
    ),
    "pyarrow copy_files": (("in.csv",), lambda: pa.fs.copy_files("in.csv", "out.csv"), Seen((), {"out.csv": "in.csv"})),
    "rename": (("in.csv",), lambda: os.rename("in.csv", "out.csv"), Seen((), {"out.csv": "in.csv"})),
    "replace": (
        ("in.csv", "out.csv"),
        lambda: Path("in.csv").replace("out.csv"),
        Seen((), {"out.csv": "in.csv"}),
    ),
    "rename a folder": (
        ("in/",),
        lambda: os.rename("in", "out"),
        Seen((), {f"out/a={i}/p0.parquet": f"in/a={i}/p0.parquet" for i in (1, 2, 3)}),
    ),
    "move": (("in.csv",), lambda: shutil.move("in.csv", "out.csv"), Seen((), {"out.csv": "in.csv"})),
    "move to a folder": (
        ("in.csv", "out/"),
        lambda: shutil.move("in.csv", "out"),
        Seen((), {"out/in.csv": "in.csv"}),
    ),
    "link": (("in.csv",), lambda: os.link("in.csv", "out.csv"), Seen((), {"out.csv": "in.csv"})),
    "symlink": (("in.csv",), lambda: os.symlink("in.csv", "out.csv"), Seen((), {"out.csv": "in.csv"})),
    "write and rename": (
        (),
        lambda: (text("out.csv.tmp", "x"), os.replace("out.csv.tmp", "out.csv")),
        Seen((), {"out.csv": ROWS}),
    ),
    "temporary and rename": (
        (),
        lambda: os.replace(descriptor_of_temporary(), "out.csv"),
        Seen((), {"out.csv": ROWS}),
    ),
    "written and deleted": ((), lambda: (text("out.csv", "x"), os.remove("out.csv")), Seen()),
    "read back": (
        (),
        lambda: (text("out.csv", "x"), pd.read_csv("out.csv")),
        Seen(("pandas.read_csv out.csv",), {"out.csv": ROWS}),
    ),
    "read back a temporary": ((), lambda: read_temporary(), Seen(("pandas.read_csv temporary",), {"temporary": ROWS})),
    "a folder": (
        ("in/",),
        lambda: pd.read_parquet("in"),
        Seen(tuple(f"pandas.read_parquet in/a={i}/p0.parquet" for i in (1, 2, 3))),
    ),
    "one read twice": (("in.csv",), lambda: [pd.read_csv("in.csv") for _ in "12"], Seen(("pandas.read_csv in.csv",))),
    "a reader within a writer": (
        ("in.parquet",),
        lambda: pa.dataset.write_dataset(
            (b for n in ["in.parquet"] for b in pa.parquet.read_table(n).to_batches()),
            "out",
            schema=TABLE.schema,
            format="parquet",
            basename_template="p{i}.parquet",
        ),
        Seen(("pyarrow.parquet.read_table in.parquet",), {"out/p0.parquet": ROWS}),
    ),
}
NOTHING: dict[str, Callable[[], object]] = {
    "a log": lambda: log_to("out.log"),
    "a log by hand": lambda: text("out.log", "x", "a"),
    "a temporary file": lambda: tempfile.NamedTemporaryFile().close(),
    "a temporary folder": lambda: in_temporary_folder(),
    "code": lambda: Path(__file__).read_text(),
    "a library's file": lambda: Path(pd.__file__).with_name("_version_meson.py").read_text(),
    "the system's": lambda: Path("/proc/self/status").read_text() + Path("/etc/hosts").read_text(),
    "nothing": lambda: text(os.devnull, "x"),
    "a folder": lambda: descriptor(".", os.O_RDONLY),
    "a descriptor": lambda: os.fdopen(os.dup(0)).close(),
    "no such file": lambda: missing(lambda: open("none.csv")),
    "no such folder": lambda: missing(lambda: open("none/out.csv", "w")),
    "no such file to rename": lambda: missing(lambda: os.rename("none.csv", "out.csv")),
    "a schema": lambda: pa.parquet.read_schema("in.parquet"),
    "what the store holds": lambda: text("store/x", "x"),
    "memory": lambda: sqlite3.connect(":memory:").close(),
    "a buffer": lambda: pa.csv.read_csv(io.BytesIO(b"a\n1\n")),
    "a checksum of Hadoop's": lambda: text(".out.csv.crc", "x"),
}


def descriptor_of_temporary() -> str:
    with tempfile.NamedTemporaryFile("w", dir=".", delete=False) as f:
        f.write("x")
        return f.name


def read_temporary() -> None:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        FRAME.to_csv(Path(folder) / "temporary")
        pd.read_csv(Path(folder) / "temporary")


def in_temporary_folder() -> None:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        FRAME.to_csv(Path(folder) / "x.csv")


def missing(call: Callable[[], object]) -> None:
    with pytest.raises(FileNotFoundError):
        call()


def log_to(name: str) -> None:
    handler = logging.FileHandler(name)
    handler.emit(logging.makeLogRecord({"msg": "x"}))
    handler.close()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "store").mkdir()
    return tmp_path


@pytest.fixture
def files(folder: Path) -> Iterator[DriverFiles]:
    found = DriverFiles(leave_out=[str(folder / "store")])
    yield found
    found.end()


def seen(files: DriverFiles, folder: Path) -> Seen:
    """Name what was noticed; a temporary folder's name is left out."""

    def name(path: str) -> str:
        found = Path(path).relative_to(folder)
        return found.name if found.parts[0].startswith("tmp") else str(found)

    reads, writes = [], {}
    for each in files.take(final=True):
        assert each.site.startswith(f"{__file__}:") or "pool" in os.environ["PYTEST_CURRENT_TEST"]
        if isinstance(each, FileRead):
            reads.append(f"{each.action} {name(each.file.path)}")
        else:
            assert isinstance(each, FileWrite)
            writes[name(each.file.path)] = " ".join(["rows"] * each.computed + [name(s.path) for s in each.sources])
    assert (files.lost(), files.processes()) == ([], [])
    return Seen(tuple(reads), writes)


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("how", READS)
def test_reads(how: str, files: DriverFiles, folder: Path) -> None:
    name, call, action = READS[how]
    made(name)
    at = os.stat(name)
    files.begin()
    call(name)
    [read] = files.take(final=True)
    assert isinstance(read, FileRead)
    assert (read.action, read.file.path) == (action, str(folder / name))
    assert (read.file.size, read.file.mtime_ns) == (at.st_size, at.st_mtime_ns)
    assert read.site.startswith(f"{__file__}:") or how == "pool"
    assert (files.lost(), files.processes()) == ([], [])


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("how", WRITES)
def test_writes(how: str, files: DriverFiles, folder: Path) -> None:
    before, call, expected = WRITES[how]
    for name in before:
        made(name)
    files.begin()
    call()
    assert seen(files, folder) == expected
    assert files.take(final=True) == []


@pytest.mark.parametrize("how", NOTHING)
def test_nothing(how: str, files: DriverFiles, folder: Path) -> None:
    made("in.parquet")
    files.begin()
    NOTHING[how]()
    assert seen(files, folder) == Seen()
