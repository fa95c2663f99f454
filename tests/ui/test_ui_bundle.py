"""The page that ships is the one that its source makes, is small, and names no place that packages come from."""

import gzip
import hashlib
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UI, STATIC = ROOT / "ui", ROOT / "provider" / "web" / "static"
BUILD = ("build.mjs", "package-lock.json", "package.json", "tsconfig.json")


def manifest() -> dict:
    return json.loads((STATIC / "manifest.json").read_text())


def test_the_bundle_is_made_from_this_source() -> None:
    sources = sorted(p.relative_to(UI).as_posix() for p in (UI / "src").rglob("*") if p.is_file())
    digest = hashlib.sha256()
    for name in [*sources, *BUILD]:
        digest.update(name.encode() + b"\0" + (UI / name).read_bytes() + b"\0")
    assert manifest()["source"] == digest.hexdigest(), "the page's source changed: run `make ui`"


def test_the_files_are_those_that_were_made() -> None:
    files = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in STATIC.iterdir() if p.name != "manifest.json"}
    assert manifest()["files"] == files


def test_the_first_load_is_small() -> None:
    assert len(gzip.compress((STATIC / "page.js").read_bytes())) < 250_000


def test_the_plugin_takes_react_and_chakra_from_airflow() -> None:
    head = (STATIC / "page.js").read_text()[:2000]
    for name in ("React", "ReactDOM", "ReactJSXRuntime", "ReactRouterDOM", "ChakraUI"):
        assert re.search(rf"\b\w+\.{name}\b", head), name
    assert "AirflowPlugin" in head


def test_the_types_are_those_of_the_api() -> None:
    schemas = json.loads((ROOT / "docs" / "openapi.json").read_text())["components"]["schemas"]
    types = (UI / "src" / "api" / "schema.d.ts").read_text()
    for name, schema in schemas.items():
        assert re.search(rf"^        {name}: ", types, re.MULTILINE), name
        for field in schema.get("properties", {}):
            assert re.search(rf"^\s+{field}\??: ", types, re.MULTILINE), (name, field)


def test_the_lock_names_no_registry() -> None:
    lock = (UI / "package-lock.json").read_text()
    assert '"resolved"' not in lock and "://registry" not in lock


def test_values_are_never_html() -> None:
    for path in (UI / "src").rglob("*.ts*"):
        text = path.read_text()
        assert "dangerouslySetInnerHTML" not in text and "innerHTML" not in text, path
