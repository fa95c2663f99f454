"""Runs the blocks of a page in a folder: commands in bash, Python in a process that all pages of the folder share."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from _code_blocks import Block, blocks

_WORKER = """
import contextlib, io, json, sys, traceback
spaces = {}
answers = sys.stdout
for line in sys.stdin:
    asked = json.loads(line)
    space = spaces.setdefault(asked["page"], {"__name__": "__main__"})
    out, error = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(asked["code"], asked["name"], "exec"), space)
        except Exception:
            error = traceback.format_exc()
    print(json.dumps([out.getvalue(), error]), file=answers, flush=True)
"""


class BlockError(AssertionError):
    """A block failed, or printed something else than the page says."""


class World:
    """A folder in which blocks run.

    Parameters
    ----------
    folder : Path
    shown : str
        What pages call the folder.
    meant : mapping
        Texts in pages, and what they are here.
    setup : str
        Python that runs before the first block of each page.
    """

    def __init__(self, folder: Path, shown: str, meant: Mapping[str, str] | None = None, setup: str = "") -> None:
        self.folder, self.shown, self.setup = folder, shown, setup
        self.meant = {shown: str(folder), **(meant or {})}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.env = {**os.environ, "PATH": path, "PYSPARK_PYTHON": sys.executable, "COLUMNS": "400"}
        self.env["AIRFLOW_HOME"] = str(folder.parent / "airflow")
        self.env.pop("PROVSPARK_STORE", None)
        self._worker: subprocess.Popen[str] | None = None

    def run(self, page: Path) -> int:
        """Run a page; return how many blocks ran.

        Raises
        ------
        BlockError
        """
        count, printed = 0, ""
        if self.setup:
            self._python(Block(page, 0, "python", self.setup))
        for block in blocks(page):
            if block.file:
                (self.folder / block.file).write_text(block.code, encoding="utf-8")
            elif block.reason:
                continue
            elif block.language == "text":
                self._compare(block, block.code, printed)
            elif block.language == "console":
                self._commands(block)
            else:
                printed = self._python(block)
            count += 1
        return count

    def close(self) -> None:
        """End the process that runs Python."""
        if self._worker:
            self._worker.communicate(timeout=60)

    def _python(self, block: Block) -> str:
        if self._worker is None:
            self._worker = subprocess.Popen(
                [sys.executable, "-c", _WORKER],
                cwd=self.folder,
                env=self.env,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        assert self._worker.stdin and self._worker.stdout
        asked = {"page": str(block.page), "name": str(block), "code": self._here(block.code)}
        print(json.dumps(asked), file=self._worker.stdin, flush=True)
        answer = self._worker.stdout.readline()
        if not answer:
            raise BlockError(f"{block}: the process ended")
        printed, error = json.loads(answer)
        if error:
            raise BlockError(f"{block}:\n{error}")
        return str(printed)

    def _commands(self, block: Block) -> None:
        for command, expected in commands(block.code):
            printed = self._command(block, self._here(command))
            if expected.strip():
                self._compare(block, expected, printed)

    def _command(self, block: Block, command: str) -> str:
        kept = self.folder.parent / f"{self.folder.name}.env"
        done = subprocess.run(
            ["bash", "-c", f"{command}\ncode=$?; env -0 >{kept}; exit $code"],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BlockError(f"{block}: {command}\nexit code {done.returncode}\n{done.stdout}{done.stderr[-3000:]}")
        pairs = (pair.partition("=") for pair in kept.read_text(encoding="utf-8").split("\0") if pair)
        self.env = {name: value for name, _, value in pairs}
        return done.stdout

    def _here(self, code: str) -> str:
        for text, here in self.meant.items():
            code = re.sub(rf"(?<![\w.]){re.escape(text)}\b", here, code)
        return code

    def _compare(self, block: Block, expected: str, printed: str) -> None:
        want = _plain(expected)
        have = _plain(printed.replace(str(self.folder), self.shown))
        matches = len(want) == len(have) and all(map(_matches, want, have))
        if not matches:
            raise BlockError("\n".join((f"{block} says", *want, "", "but this was printed:", *have)))


@contextmanager
def world(shown: str, meant: Mapping[str, str] | None = None, setup: str = "") -> Iterator[World]:
    """Make a world in a folder with a short path, since commands cut long ones; remove it in the end."""
    with tempfile.TemporaryDirectory(prefix="docs") as folder:
        (Path(folder) / "here").mkdir()
        made = World(Path(folder) / "here", shown, meant, setup)
        try:
            yield made
        finally:
            made.close()


def commands(code: str) -> Iterator[tuple[str, str]]:
    """Return each command of a console's block, with the output below it.

    A command goes on where a line ends with a backslash.
    """
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        end = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
        yield "\n".join(lines[: end + 1]), "\n".join(lines[end + 1 :])


def _plain(text: str) -> list[str]:
    """Return its lines without what differs in each run: widths, which paths decide, and blank lines."""
    lines = (re.sub(r"─+", "─", re.sub(r"\s+", " ", line)).strip() for line in text.splitlines())
    return [line for line in lines if line]


def _matches(want: str, have: str) -> bool:
    """Return whether a line is as expected; `…` matches any text."""
    return re.fullmatch(".*".join(map(re.escape, want.split("…"))), have) is not None
