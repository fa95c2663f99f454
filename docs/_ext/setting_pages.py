"""The table of options in Airflow's section ``[provspark]``, from the provider's own description."""

from __future__ import annotations

from markdown import table

from provspark.airflow.provider_info import get_provider_info

__all__ = ["markdown"]


def markdown() -> str:
    """Return a line for each option, with the environment variable of the same meaning."""
    options = get_provider_info()["config"]["provspark"]["options"]
    lines = [
        (
            f"`{name}`",
            f"`PROVSPARK_{name.upper()}`",
            option["type"],
            f"`{option['default']}`" if option.get("default") else "",
            f"`{option['example']}`" if option.get("example") else "",
            option["description"],
        )
        for name, option in options.items()
    ]
    return table(("option", "variable", "type", "default", "example", "meaning"), lines)
