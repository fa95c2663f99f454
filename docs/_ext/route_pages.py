"""The page of the HTTP routes, from openapi.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markdown import table

__all__ = ["markdown"]

Json = dict[str, Any]
_DESCRIPTION = Path(__file__).parents[1] / "openapi.json"
_BASE = "/api/v1"


def markdown() -> str:
    """Return a section for each route; those of questions in one table, since their fields are the parameters."""
    described: Json = json.loads(_DESCRIPTION.read_text(encoding="utf-8"))
    schemas: Json = described["components"]["schemas"]
    routes = [
        (method.upper(), path.removeprefix(_BASE), route)
        for path, methods in described["paths"].items()
        for method, route in methods.items()
    ]
    asked = [r for r in routes if r[1].startswith("/questions/")]
    parts = [_section(*r, schemas) for r in routes if r not in asked]
    lines = [
        (f"`{method} {path}`", f"[`{path.rpartition('/')[2]}`](questions.md#{path.rpartition('/')[2]})", _about(route))
        for method, path, route in asked
    ]
    return "\n\n".join((*parts, "## Questions", table(("route", "parameters", "what it does"), lines)))


def _section(method: str, path: str, route: Json, schemas: Json) -> str:
    parts = [f"## `{method} {path}`", _about(route)]
    if route.get("deprecated"):
        parts.append("The next release removes this route.")
    parameters = [_line(p["name"], p["in"], p["schema"], p.get("description", ""), p["required"]) for p in _all(route)]
    fields = list(_fields(_schema(route.get("requestBody", {})), schemas))
    parts.append(table(("parameter", "in", "type", "default", "meaning"), [*parameters, *fields]))
    answer = _schema(route["responses"]["200"])
    if answer:
        parts.append(f"Answers with {_type(answer)}.")
    return "\n\n".join(filter(None, parts))


def _all(route: Json) -> list[Json]:
    return [{"required": False, **p} for p in route.get("parameters", [])]


def _fields(schema: Json, schemas: Json) -> Iterator[tuple[str, ...]]:
    named = schema.get("$ref", "").rpartition("/")[2]
    if not named:
        return
    body = schemas[named]
    for name, field in body.get("properties", {}).items():
        yield _line(name, "body", field, field.get("description", ""), name in body.get("required", ()))


def _line(name: str, where: str, schema: Json, about: str, required: bool) -> tuple[str, ...]:
    default = "required" if required else f"`{json.dumps(schema['default'])}`" if "default" in schema else ""
    return f"`{name}`", where, _type(schema), default, about


def _schema(content: Json) -> Json:
    """Return the schema of a body in JSON; an empty one if it has none."""
    schema: Json = content.get("content", {}).get("application/json", {}).get("schema", {})
    return schema


def _type(schema: Json) -> str:
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(each) for each in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(each)}`" for each in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _about(route: Json) -> str:
    return str(route.get("description", route.get("summary", "")))
