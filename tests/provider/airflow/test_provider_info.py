import importlib
import json
from importlib.metadata import entry_points
from pathlib import Path

from provspark.airflow.provider_info import get_provider_info
from provspark.web.limits import Limits


def test_it_fits_airflows_schema() -> None:
    import airflow
    import jsonschema

    schema = json.loads((Path(airflow.__file__).parent / "provider_info.schema.json").read_text())
    jsonschema.validate(get_provider_info(), schema)


def test_every_limit_is_an_option() -> None:
    options = get_provider_info()["config"]["provspark"]["options"]
    assert Limits.read(lambda name: options[name]["default"]) == Limits()


def test_what_it_names_is_there() -> None:
    info = get_provider_info()
    modules = [m for kind in ("operators", "hooks") for part in info[kind] for m in part["python-modules"]]
    for module in modules:
        importlib.import_module(module)
    classes = [c["hook-class-name"] for c in info["connection-types"]]
    classes += [p["plugin-class"] for p in info["plugins"]]
    for name in classes:
        module, _, leaf = name.rpartition(".")
        assert hasattr(importlib.import_module(module), leaf)


def test_the_hook_and_its_connection_type_agree() -> None:
    from provspark.hooks.prov import ProvHook

    (connection,) = get_provider_info()["connection-types"]
    assert connection["connection-type"] == ProvHook.conn_type
    assert connection["hook-name"] == ProvHook.hook_name
    assert set(connection["conn-fields"]) == {"store", "catalogue"}


def test_entry_points_are_installed() -> None:
    (provider,) = (
        e for e in entry_points(group="apache_airflow_provider") if e.dist.name == get_provider_info()["package-name"]
    )
    assert provider.load() is get_provider_info
    (plugin,) = entry_points(group="airflow.plugins", name="provspark")
    assert plugin.load().name == "provspark"
