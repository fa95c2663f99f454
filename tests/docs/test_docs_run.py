"""The pages whose blocks run: each prints what it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from _code_blocks import PAGES, ROOT, RUN, blocks
from _doc_worlds import BlockError, World, world

import provspark

DOCS = ROOT / "docs"


def guides() -> list[Path]:
    """Return the how-to guides in the order of their index, which is that in which they run."""
    (listed,) = re.findall(r"```{toctree}\n(?::.*\n)*\n(.*?)```", (DOCS / "how-to/index.md").read_text(), re.DOTALL)
    return [DOCS / "how-to" / f"{name}.md" for name in listed.split()]


def test_every_guide_runs() -> None:
    assert sorted([*guides(), DOCS / "how-to/index.md"]) == sorted((DOCS / "how-to").glob("*.md"))


@pytest.mark.long
@pytest.mark.spark
def test_the_tutorial_and_the_guides() -> None:
    """The guides ask about the tutorial's store."""
    with world("/home/ada/shop") as shop:
        for page in (DOCS / "tutorial.md", *guides()):
            assert shop.run(page) > 1


def others() -> list[Path]:
    """Return the other pages that have blocks to run."""
    own = {DOCS / "tutorial.md", *guides()}
    return [p for p in PAGES if p not in own and any(b.language in RUN and not b.reason for b in blocks(p))]


@pytest.fixture(scope="module")
def data() -> Iterator[World]:
    """The datasets that examples name, at /data, and their lineage in /data/prov."""
    with world("/data") as made:
        script = Path(__file__).parent / "_example_data.py"
        subprocess.run([sys.executable, script, made.folder], check=True, capture_output=True)
        store = f"{made.folder}/prov"
        prov = provspark.open(store)
        clean = next(s["step"] for s in prov.steps() if s["task_id"] == "clean" and s["run_id"] == "monday")
        made.meant |= {"clean-1f0c": clean, "2024-05-31": (made.folder / "yesterday").read_text()}
        yesterday = prov.select(f"{made.folder}/report", run="tuesday").version
        made.setup = f"import provspark\nprov = provspark.open({store!r})\nyesterday = {yesterday!r}\n"
        made.env["AIRFLOW_CONN_PROVSPARK_DEFAULT"] = json.dumps({"conn_type": "provspark", "extra": {"store": store}})
        made.env["PROVSPARK_STORE"] = store
        yield made


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("page", others(), ids=lambda p: str(p.relative_to(ROOT)))
def test_examples(page: Path, data: World) -> None:
    assert data.run(page) > 0


def test_a_block_that_fails_and_one_that_prints_something_else(tmp_path: Path) -> None:
    with world("/data") as made:
        page = tmp_path / "page.md"
        page.write_text("```python\nx = 1\nprint('/data', x + 1)\n```\n```text\n/data 3\n```\n")
        with pytest.raises(BlockError, match=r"(?s)page.md:5 says\n/data 3\n.*printed:\n/data 2"):
            made.run(page)
        page.write_text("```python\n\n1 / 0\n```\n")
        with pytest.raises(BlockError, match="ZeroDivisionError"):
            made.run(page)
        page.write_text("```console\n$ export A=7\n$ echo $A\n7\n$ ls /data/none\n```\n")
        with pytest.raises(BlockError, match=r"ls .*/here/none\nexit code 2"):
            made.run(page)
