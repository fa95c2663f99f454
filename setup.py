"""Map the repository's folders to packages below `provspark`.

Top-level packages `operators` and `hooks` would collide with Airflow's own folders.
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
"""Folder of each package. Tools and tests use it, too."""


def packages() -> list[str]:
    """Return the import names of all packages and their subpackages."""
    from setuptools import find_packages

    return [p for name, folder in MOUNTS.items() for p in (name, *(f"{name}.{sub}" for sub in find_packages(folder)))]


if __name__ == "__main__":
    from setuptools import setup

    setup(packages=packages(), package_dir=dict(MOUNTS))
