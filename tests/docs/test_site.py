"""The documentation builds without a warning, its links lead somewhere, and it needs nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from _code_blocks import ROOT

from provspark.index_store.query.question import QUESTIONS

SPHINX = "from sphinx.cmd.build import main; raise SystemExit(main())"
OFFLINE = (
    "import socket\n"
    "def refuse(*_, **__): raise OSError('no network')\n"
    "socket.socket.connect = socket.create_connection = refuse\n"
)


class Page(HTMLParser):
    """The ids, the links and what a page loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids |= {given["id"]} if given.get("id") else set()
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        elif tag in ("img", "script", "object", "iframe", "source") and (given.get("src") or given.get("data")):
            self.loaded.append(given.get("src") or given.get("data") or "")
        elif tag == "link" and given.get("rel") not in ("canonical",) and given.get("href"):
            self.loaded.append(given["href"] or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as `make docs` builds it, in a process that may not connect to anything."""
    folder = tmp_path_factory.mktemp("site")
    command = ["-W", "--keep-going", "-n", "-q", "-d", str(folder / "doctrees"), "docs", str(folder / "html")]
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE + SPHINX, *command],
        cwd=ROOT,
        env={**os.environ, "AIRFLOW_HOME": str(folder / "airflow")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_each_link_leads_to_a_file_and_a_section_of_it(pages: dict[Path, Page]) -> None:
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            section = unquote(parts.fragment)
            if not target.exists() or (section and target in pages and section not in pages[target].ids):
                broken.append(f"{path.name}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    assert [each for page in pages.values() for each in page.loaded if urlsplit(each).scheme not in ("", "data")] == []
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert styles and not [each for style in styles for each in re.findall(r"url\([\"']?(?:https?:)?//[^)]*", style)]


def test_every_page_is_in_the_site(site: Path) -> None:
    """A page that no table of contents lists is a warning, so it is an error of the build."""
    written = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert written <= {path.relative_to(site) for path in site.rglob("*.html")}


def test_the_reference_has_every_question(pages: dict[Path, Page], site: Path) -> None:
    ids = pages[site / "reference" / "questions.html"].ids
    assert {f"provspark.Provenance.{name}" for name in QUESTIONS} <= ids
