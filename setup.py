"""Mounts the repository's folders into one namespace.

A bare package `operators` or `hooks` would collide with Airflow's own folders.
"""

from setuptools import find_packages, setup

MOUNTS = {
    "provspark": "provider",
    "provspark.operators": "operators",
    "provspark.hooks": "hooks",
    "provspark.tracker": "tracker",
    "provspark.index_store": "index_store",
    "provspark.cli": "cli",
}


def packages() -> list[str]:
    """Every mounted package with its sub-packages, by its import name."""
    found = []
    for name, folder in MOUNTS.items():
        found.append(name)
        found += [f"{name}.{sub}" for sub in find_packages(folder)]
    return found


setup(packages=packages(), package_dir=dict(MOUNTS))
