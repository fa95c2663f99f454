"""Airflow's provider info: connection type, hooks, operators, plugin and configuration options."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from provspark.web.limits import Limits

__all__ = ["get_provider_info"]


def get_provider_info() -> dict[str, Any]:
    """Return the provider's description, in the form of ``airflow/provider_info.schema.json``."""
    return {
        "package-name": "airflow-provider-provspark",
        "name": "ProvSpark",
        "description": "Record-level lineage for DAGs of Spark jobs: which source rows made this row.",
        "integrations": [
            {
                "integration-name": "ProvSpark",
                "tags": ["software"],
            }
        ],
        "operators": [
            {
                "integration-name": "ProvSpark",
                "python-modules": ["provspark.operators.spark", "provspark.operators.query"],
            },
        ],
        "hooks": [
            {"integration-name": "ProvSpark", "python-modules": ["provspark.hooks.prov"]},
        ],
        "connection-types": [
            {
                "connection-type": "provspark",
                "hook-class-name": "provspark.hooks.prov.ProvHook",
                "hook-name": "ProvSpark",
                "ui-field-behaviour": {
                    "hidden-fields": ["host", "schema", "login", "password", "port", "extra"],
                    "relabeling": {},
                    "placeholders": {"store": "s3://bucket/prov", "catalogue": "postgresql://host/prov"},
                },
                "conn-fields": {
                    "store": {
                        "label": "Store",
                        "description": "Folder for the lineage: file:///data/prov",
                        "schema": {"type": ["string", "null"]},
                    },
                    "catalogue": {
                        "label": "Catalogue",
                        "description": "SQLAlchemy URL of the catalogue; if it is set, queries use it",
                        "schema": {"type": ["string", "null"], "format": "password"},
                    },
                },
            }
        ],
        "extra-links": ["provspark.operators.links.ProvenanceLink"],
        "plugins": [{"name": "provspark", "plugin-class": "provspark.airflow.plugin.ProvSparkPlugin"}],
        "config": {
            "provspark": {
                "description": "Where lineage is stored, and what the page shows.",
                "options": {
                    "store": _option("Folder for the lineage of tasks that don't set prov_store.", "file:///data/prov"),
                    "catalogue": _option(
                        "SQLAlchemy URL of the catalogue of tasks that don't set prov_catalogue.",
                        "postgresql+psycopg2://user@host/provspark",
                        sensitive=True,
                    ),
                    "trusted": _option(
                        "Tasks, operators, lines of scripts and kinds of stops, separated by commas, that fail no "
                        "expectation of a ProvQueryOperator.",
                        "clean.py:12, audit.export, before-format-3",
                    ),
                    "show_values": _option(
                        "Show values of rows on the page and in its API. If False, they show only row ids, counts and "
                        "names.",
                        "False",
                        kind="boolean",
                        default="True",
                    ),
                    "mask_columns": _option(
                        "Columns whose values the page and its API never show or filter by. This includes all columns "
                        "derived from them. Names with * and ?, separated by commas.",
                        "*email*, ssn",
                    ),
                    "open_columns": _option(
                        "Columns to show even if they are derived from masked ones: COLUMN or DATASET:COLUMN, with * "
                        "and ?, separated by commas.",
                        "age_band, reports/*:total",
                    ),
                    **_limits(),
                },
            }
        },
    }


_LIMITS = {
    "max_body": "Maximum size of a request's body, in bytes.",
    "max_conditions": "Maximum number of conditions on rows in one request.",
    "max_steps": "Maximum number of steps that one API query spans.",
    "max_items": "Maximum number of items in one list of a response.",
    "request_seconds": "Maximum time until an API response starts, in seconds. Replays are exempt.",
    "questions": "Maximum number of concurrent queries in one process of the api-server; further queries wait.",
    "questions_per_user": "Maximum number of concurrent queries of one user in one process; further queries wait.",
    "replay_seconds": "Time limit of a replay, in seconds: Spark reruns stored operations in a separate process to "
    "show what they did to a record. 0 disables replays.",
    "replays": "Maximum number of concurrent replays in all processes of the api-server on a machine.",
    "replays_per_user": "Maximum number of concurrent replays of one user.",
    "replays_waiting": "Maximum number of waiting replays; further ones are rejected.",
    "replays_waiting_per_user": "Maximum number of waiting replays of one user; further ones are rejected.",
}


def _limits() -> dict[str, Any]:
    options = {}
    for field in fields(Limits):
        default = f"{field.default:g}" if field.type == "float" else str(field.default)
        kind = "float" if field.type == "float" else "integer"
        options[field.name] = _option(_LIMITS[field.name], default, kind=kind, default=default)
    return options


def _option(
    description: str, example: str, *, sensitive: bool = False, kind: str = "string", default: str | None = None
) -> dict[str, Any]:
    return {
        "description": description,
        "version_added": "0.1.0",
        "type": kind,
        "sensitive": sensitive,
        "example": example,
        "default": default,
    }
