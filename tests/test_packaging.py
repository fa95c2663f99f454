"""The distributions are complete: a wheel made from the sdist runs where the checkout is not."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from test_imports import FOLDERS, ROOT

from provspark.model.release import __version__

FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "NOTICE", "Makefile")
JUNK = shutil.ignore_patterns("__pycache__", "*.pyc", "build", "dist", "*.egg-info")


def run(*command: str, cwd: Path, **env: str) -> str:
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=cwd, env={**kept, **env}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources: builds leave files behind."""
    copy = tmp_path_factory.mktemp("source")
    for name in FILES:
        shutil.copy(ROOT / name, copy / name)
    for name in (*FOLDERS.values(), "docs"):
        shutil.copytree(ROOT / name, copy / name, ignore=JUNK)
    return copy


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, which is built from the sdist."""
    dist = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(dist), ".", cwd=source)
    assert len(list(dist.glob("airflow_provider_provspark-*.tar.gz"))) == 1
    (made,) = dist.glob("airflow_provider_provspark-*.whl")
    return made


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel in it. The dependencies are seen in place, the checkout is not."""
    home = tmp_path_factory.mktemp("fresh")
    venv.create(home, with_pip=False, symlinks=True)
    (site,) = home.glob("lib/python*/site-packages")
    # A path file's directories are searched after this site-packages, and their own path files are not read,
    # so an editable install of the checkout does not come along.
    around = {p for p in map(Path, sys.path) if p.name == "site-packages"}
    (site / "dependencies.pth").write_text("".join(f"{p}\n" for p in sorted(around)))
    python = str(home / "bin" / "python")
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--no-deps",
        "--no-index",
        str(wheel),
        cwd=home,
    )
    return home


def test_every_source_is_in_the_wheel(source: Path, wheel: Path) -> None:
    sources = set()
    for folder in FOLDERS.values():
        prefix = "provspark" if folder == "provider" else f"provspark/{folder}"
        for path in (source / folder).rglob("*"):
            if path.is_file():
                sources.add(f"{prefix}/{path.relative_to(source / folder).as_posix()}")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("provspark/")}
    assert packed == sources


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all files that git knows, as a repository with one commit."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no checkout of git")
    copy = tmp_path_factory.mktemp("checkout") / "provspark"
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    git = ("git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all")):
        run(*git, *command, cwd=copy)
    return copy


@pytest.mark.parametrize("form", ["zip", "git"])
def test_a_zip_and_a_git_url_give_the_same_files(form: str, checkout: Path, wheel: Path, tmp_path: Path) -> None:
    source = f"git+{checkout.as_uri()}"
    if form == "zip":
        archive = tmp_path / "provspark-main.zip"
        run("git", "archive", "--format=zip", "--prefix=provspark-main/", "-o", str(archive), "HEAD", cwd=checkout)
        source = str(archive)
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(tmp_path))
    run(sys.executable, "-m", "pip", "wheel", "-q", *options, source, cwd=tmp_path)
    (made,) = tmp_path.glob("*.whl")
    assert set(zipfile.ZipFile(made).namelist()) == set(zipfile.ZipFile(wheel).namelist())


def test_the_source_distribution_has_the_documentation(source: Path, wheel: Path) -> None:
    (made,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    docs = {path.relative_to(source).as_posix() for path in (source / "docs").rglob("*") if path.is_file()}
    assert "docs/tutorial.md" in docs and docs <= names


def test_the_metadata_says_where_the_documentation_is(wheel: Path) -> None:
    """It names no host: there is no site on the web."""
    (metadata,) = (n for n in zipfile.ZipFile(wheel).namelist() if n.endswith(".dist-info/METADATA"))
    text = zipfile.ZipFile(wheel).read(metadata).decode()
    assert "\n## Documentation\n" in text and f"airflow-provider-provspark=={__version__}" in text
    assert "://" not in re.sub(r"(file|s3)://", "", text)


def test_what_is_no_python_is_among_them(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "provspark/py.typed" in names
    assert any(n.startswith("provspark/tracker/") and n.endswith(".java") for n in names)
    assert any("/migrations/versions/" in n for n in names)


def test_entry_points_and_licence(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (info,) = {n.split("/")[0] for n in archive.namelist() if ".dist-info/" in n}
    points = archive.read(f"{info}/entry_points.txt").decode()
    for line in (
        "provspark = provspark.cli.main:main",
        "provider_info = provspark.airflow.provider_info:get_provider_info",
        "provspark = provspark.airflow.plugin:ProvSparkPlugin",
    ):
        assert line in points.splitlines()
    assert f"{info}/licenses/LICENSE" in archive.namelist()
    assert "License-Expression: Apache-2.0" in archive.read(f"{info}/METADATA").decode()


def test_the_wheel_runs_without_the_checkout(fresh: Path) -> None:
    code = (
        "import importlib, pkgutil, provspark\n"
        "names = [m.name for m in pkgutil.walk_packages(provspark.__path__, 'provspark.')]\n"
        "names = [n for n in names if '.migrations' not in n]\n"
        "for n in names: importlib.import_module(n)\n"
        "print(provspark.__file__, len(names))"
    )
    home = str(fresh / "airflow")
    where, count = run(str(fresh / "bin" / "python"), "-c", code, cwd=fresh, AIRFLOW_HOME=home).split()[-2:]
    assert Path(where).is_relative_to(fresh)
    assert int(count) > 10


def test_the_command_runs_without_the_checkout(fresh: Path) -> None:
    answer = run(str(fresh / "bin" / "provspark"), "--help", cwd=fresh)
    for command in ("trace", "ls", "show", "run"):
        assert command in answer
