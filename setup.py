"""Mounts the repository's folders into one namespace.

A bare package `operators` or `hooks` would collide with Airflow's own folders.
"""

MOUNTS = {
    "provspark": "provider",
    "provspark.model": "model",
    "provspark.index_store": "index_store",
    "provspark.tracker": "tracker",
    "provspark.replay": "replay",
    "provspark.operators": "operators",
    "provspark.hooks": "hooks",
    "provspark.cli": "cli",
}
"""Packages and their folders, for tools and tests, too."""


def packages() -> list[str]:
    """Every mounted package with its sub-packages, by its import name."""
    from setuptools import find_packages

    return [p for name, folder in MOUNTS.items() for p in (name, *(f"{name}.{sub}" for sub in find_packages(folder)))]


if __name__ == "__main__":
    from setuptools import setup

    setup(packages=packages(), package_dir=dict(MOUNTS))
