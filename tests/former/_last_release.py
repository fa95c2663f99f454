"""Stores, catalogues and data that the last release (4e20b32) made, below a folder of a test.

They were made at /data, with the jobs at /jobs; `unpack` places them elsewhere, so that each test has files of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq

HERE = Path(__file__).parent
JOBS = HERE / "jobs"
EXAMPLES = HERE.parents[1] / "dags_examples"
ARCHIVES = {"last_release": JOBS, "literature": EXAMPLES}
"""The archives, and the scripts that lie at /jobs for each; `literature` has pipelines of papers, over some rows."""


def unpack(root: Path, name: str = "last_release") -> dict[str, str]:
    """Write /data of the last release as `root`; return what is called otherwise there, with its first name."""
    with tarfile.open(HERE / f"{name}.tar.gz") as archive:
        archive.extractall(root, filter="data")
    return {new: old for old, new in relocate(root, {"/data": str(root), "/jobs": str(ARCHIVES[name])}).items()}


def relocate(root: Path, moved: dict[str, str]) -> dict[str, str]:
    """Make a store and a catalogue in `root` name files by their new places; return these and versions' new ids."""
    places = {rf"{re.escape(old)}(?=[/\"]|$)": new for old, new in moved.items()}

    def at_new_places(text: str) -> str:
        for old, new in places.items():
            text = re.sub(rf"(?<![\w.]){old}", lambda _, new=new: new, text)
        return text

    ids: dict[str, str] = {}
    steps = root / "prov" / "steps"
    for manifest in steps.glob("*/manifest.json"):
        body = json.loads(at_new_places(manifest.read_text()))["body"]
        for write in body["writes"]:
            for version in (write["output"], *write["inputs"]):
                ids[version["id"]] = _identity(version["dataset"], manifest.parent / version["files"])
    for manifest in steps.glob("*/manifest.json"):
        text = at_new_places(manifest.read_text())
        for old, new in ids.items():
            text = text.replace(old, new)
        for file in [f for f in manifest.parent.rglob("*") if f.is_file() and f != manifest]:
            before = file.read_bytes()
            if file.suffix == ".json":
                file.write_text(_signed(at_new_places(file.read_text())))
                text = text.replace(hashlib.sha256(before).hexdigest(), hashlib.sha256(file.read_bytes()).hexdigest())
                told = rf'("path":"{file.parent.name}/{file.name}","sha256":"\w*","size":){len(before)}'
                text = re.sub(told, lambda m, file=file: f"{m[1]}{file.stat().st_size}", text)
            elif file.parent.name == "versions":
                old = file.name.partition("-")[0]
                file.rename(file.with_name(file.name.replace(old, ids[old])))
        manifest.write_text(_signed(text))
        _touch(manifest)
    with closing(sqlite3.connect(root / "catalogue.db")) as catalogue, catalogue:
        for table, column in (("store", "url"), ("dataset", "name"), ("version", "key")):
            for rowid, value in catalogue.execute(f"SELECT rowid, {column} FROM provspark_{table}").fetchall():
                value = ids.get(value, at_new_places(value))
                catalogue.execute(f"UPDATE provspark_{table} SET {column} = ? WHERE rowid = ?", (value, rowid))
    return {**moved, **ids}


def _identity(dataset: dict[str, str], files: Path) -> str:
    digest = hashlib.sha256(f"{dataset['namespace']}\0{dataset['name']}\0".encode())
    for file in pq.read_table(files).to_pylist():
        digest.update(f"{file['path']}\0{file['size']}\0{file['mtime']}\n".encode())
    return digest.hexdigest()[:32]


def _signed(text: str) -> str:
    """An envelope with the hash of its body as it is now."""
    head, body = text.rstrip("\n").split(',"body":', 1)
    body = body.removesuffix("}")
    head = re.sub(r'"sha256":"\w+"', f'"sha256":"{hashlib.sha256(body.encode()).hexdigest()}"', head)
    return f'{head},"body":{body}}}\n'


def _touch(manifest: Path) -> None:
    """Give the data's files the times that a step knows."""
    for write in json.loads(manifest.read_text())["body"]["writes"]:
        for version in (write["output"], *write["inputs"]):
            name = Path(version["dataset"]["name"])
            for file in pq.read_table(manifest.parent / version["files"]).to_pylist():
                if (path := name / file["path"] if file["path"] else name).exists():
                    os.utime(path, ns=(file["mtime"] * 10**6,) * 2)
