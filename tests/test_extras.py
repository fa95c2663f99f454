"""Installing ProvSpark beside an Airflow adds packages, and moves none that is there: pip's resolver is asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[1]
AIRFLOWS = {
    "3.1": ("apache-airflow==3.1.8", "apache-airflow-providers-apache-spark==5.6.0", "pandas==2.1.4"),
    "3.2": ("apache-airflow==3.2.0", "apache-airflow-providers-apache-spark==6.0.2", "pandas==2.3.3"),
    "3.3": ("apache-airflow==3.3.2", "apache-airflow-providers-apache-spark==6.3.4", "pyspark==4.1.3"),
}
"""By version, what a deployment has; pip adds what these need."""
PROVIDERS = ("apache-airflow-providers-openlineage", "apache-airflow-providers-fab", "apache-airflow-providers-amazon")
OTHERS = {"dev", "testing", "spark"}
"""Extras of the driver's environment, and of developers."""


def pip(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    """Return what pip would install, from its report."""
    report = folder / "report.json"
    command = [sys.executable, "-m", "pip", *arguments, "--dry-run", "--quiet", "--report", str(report)]
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    installed: list[dict[str, Any]] = json.loads(report.read_text())["install"]
    return installed


def installed(folder: Path, requirements: tuple[str, ...]) -> dict[str, str]:
    """Make an environment in which pip finds these packages and what they need, without their code."""
    venv.create(folder, with_pip=False, symlinks=True)
    site = next((folder / "lib").iterdir()) / "site-packages"
    found = {}
    for one in pip(folder, "install", "--ignore-installed", *requirements):
        about = one["metadata"]
        name, version = about["name"], about["version"]
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}"]
        lines += [f"Provides-Extra: {extra}" for extra in about.get("provides_extra", ())]
        lines += [f"Requires-Dist: {needed}" for needed in about.get("requires_dist", ())]
        (info / "METADATA").write_text("\n".join(lines) + "\n")
        (info / "INSTALLER").write_text("pip\n")
        (info / "RECORD").write_text("")
        found[name.lower().replace("_", "-")] = version
    return found


@pytest.mark.parametrize("version", AIRFLOWS)
def test_nothing_that_is_installed_is_moved(version: str, tmp_path: Path) -> None:
    there = installed(tmp_path / "venv", AIRFLOWS[version] + PROVIDERS)
    assert len(there) > 100 and there["apache-airflow"].startswith(version)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"].keys() - OTHERS
    python = str(tmp_path / "venv" / "bin" / "python")
    for chosen in ("airflow", ",".join(sorted(extras))):
        added = pip(tmp_path, "--python", python, "install", f"{ROOT}[{chosen}]")
        names = {one["metadata"]["name"].lower().replace("_", "-"): one["metadata"]["version"] for one in added}
        assert "airflow-provider-provspark" in names
        assert {name: (there[name], to) for name, to in names.items() if name in there} == {}
        assert not names.keys() & {"pyspark", "pyspark-client", "pandas"}
