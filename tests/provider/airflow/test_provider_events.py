from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import attr
import jsonschema
import pytest
from _catalogue import CLEAN, RAW, REPORT, STORE, World, as_input, file, files, pipeline
from _steps import publish, version, write
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import RunState
from openlineage.client.serde import Serde
from openlineage.client.transport.file import FileConfig, FileTransport
from referencing import Registry, Resource

from provspark.airflow.events import events_from_manifest, events_from_store, facets_for, read_events, start_facets
from provspark.airflow.facet import PRODUCER, ProvSparkDatasetFacet, ProvSparkRunFacet
from provspark.errors import EventError
from provspark.index_store.store.store import Store

SCHEMAS = Path(__file__).parents[3] / "docs" / "openlineage" / "1-3-0"


def test_start_and_end_of_a_step():
    world = pipeline()
    failed, good = (events_from_manifest(STORE, m) for m in world.manifests[:2])
    assert [e.eventType for e in failed] == [RunState.START, RunState.FAIL]
    assert [e.eventType for e in good] == [RunState.START, RunState.COMPLETE]
    assert [e.eventTime for e in good] == [world.manifests[1].started, world.manifests[1].ended]
    assert {(e.job.namespace, e.job.name) for e in good} == {("provspark", "d.clean")}
    assert good[0].run.runId == good[1].run.runId != failed[0].run.runId
    assert good == events_from_manifest("/data/prov/", world.manifests[1])
    (other,) = {e.job.namespace for e in events_from_manifest(STORE, world.manifests[1], namespace="prod")}
    assert other == "prod"


def test_data_sets_carry_versions_schema_and_counts():
    manifest = pipeline().manifests[3]
    facets = facets_for(STORE, manifest)
    (read,), (written,) = facets.inputs, facets.outputs
    assert (read.namespace, read.name, written.name) == ("file", "/data/raw", "/data/report")
    version = manifest.writes[0].output
    assert written.facets["provspark"] == ProvSparkDatasetFacet(STORE, manifest.step, version.id, 4, 2, "exact", "row")
    assert read.facets["provspark"].coverage is None
    assert read.facets["provspark"].rows == 15
    assert [(f.name, f.type) for f in written.facets["schema"].fields] == [("a", "int")]
    assert written.facets["provspark"].written is None
    statistics = written.outputFacets["outputStatistics"]
    assert (statistics.rowCount, statistics.fileCount, statistics.size) == (None, None, None)
    run = facets.run_facets["provspark"]
    assert (run.dag_id, run.task_id, run.run_id, run.map_index, run.try_number) == ("d", "more", "r1", -1, 1)
    assert (run.status, run.started, run.ended) == ("succeeded", manifest.started, manifest.ended)
    begun = start_facets(STORE, manifest.key)["provspark"]
    assert attr.evolve(run, status=None, started=None, ended=None, untracked=None) == begun


def test_rows_of_an_append_are_told_from_those_of_the_data_set(tmp_path):
    store = Store.open(str(tmp_path / "prov"), create=True)
    source = version("/raw", {"r": 30})
    publish(store, "first", write(version("/out", {"a": 3}, {"a"}), [(source, [(i, i) for i in range(3)])]))
    publish(store, "more", write(version("/out", {"a": 3, "b": 4, "c": 5}, {"b", "c"}), [(source, [])]))
    publish(store, "lost", write(version("/out", {"a": 3, "d": 6}, {"d"}), coverage="untracked"))
    found = []
    for event in events_from_store(store.url):
        body = Serde.to_dict(event)
        for output in body["outputs"]:
            _validator("ProvSparkDatasetFacet").validate(output["facets"])
            ours, standard = output["facets"]["provspark"], output["outputFacets"]["outputStatistics"]
            found.append((ours["rows"], ours.get("written"), standard.get("rowCount"), standard["fileCount"]))
        assert all("written" not in entry["facets"]["provspark"] for entry in body["inputs"])
    assert found == [(3, 3, 3, 1), (12, 9, 9, 2), (9, None, None, 1)]


def test_a_list_of_files_that_is_damaged_leaves_the_rest_of_an_event(tmp_path):
    store = Store.open(str(tmp_path / "prov"), create=True)
    manifest = publish(store, "first", write(version("/out", {"a": 3}, {"a"})))
    (tmp_path / "prov" / "steps" / manifest.step / manifest.writes[0].output.files).write_bytes(b"")
    (output,) = facets_for(store.url, manifest, store).outputs
    assert (output.facets["provspark"].rows, output.facets["provspark"].written) == (3, None)
    assert output.outputFacets["outputStatistics"].rowCount is None


def test_a_run_within_a_task_says_which():
    world = World()
    task, call = (world.step("t", writes=[(CLEAN, files(file("c")))], call=call) for call in ("", "job-1"))
    for manifest, said in ((task, None), (call, "job-1")):
        for event in events_from_manifest(STORE, manifest):
            facet = Serde.to_dict(event)["run"]["facets"]["provspark"]
            assert facet.get("call") == said
            _validator("ProvSparkRunFacet").validate({"provspark": facet})
    assert len({e.run.runId for m in (task, call) for e in events_from_manifest(STORE, m)}) == 2


def test_what_several_writes_read_is_one_input():
    world = World()
    raw, clean = files(file("r", written=False)), files(file("c"))
    manifest = world.step("t", [(RAW, raw), (CLEAN, as_input(clean))], [(CLEAN, clean), (REPORT, files(file("x")))])
    facets = facets_for(STORE, manifest)
    assert [d.name for d in facets.inputs] == ["/data/clean", "/data/raw"]
    assert [d.name for d in facets.outputs] == ["/data/clean", "/data/report"]


def _validator(name: str) -> jsonschema.Draft202012Validator:
    """Validate by our schema; OpenLineage's own part is stood in for by what it asks: producer and schema."""
    base = {"type": "object", "required": ["_producer", "_schemaURL"]}
    openlineage = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"DatasetFacet": base, "RunFacet": base},
    }
    ours = json.loads((SCHEMAS / f"{name}.json").read_text())
    registry = Registry().with_resource(
        "https://openlineage.io/spec/2-0-2/OpenLineage.json", Resource.from_contents(openlineage)
    )
    jsonschema.Draft202012Validator.check_schema(ours)
    return jsonschema.Draft202012Validator(ours, registry=registry)


@pytest.mark.parametrize("facet", [ProvSparkDatasetFacet, ProvSparkRunFacet])
def test_facets_follow_their_schemas(facet):
    schema = json.loads((SCHEMAS / f"{facet.__name__}.json").read_text())
    own = {a.name for a in attr.fields(facet) if not a.name.startswith("_")}
    described = schema["$defs"][facet.__name__]["allOf"][1]
    assert own == set(described["properties"])
    required = {a.name for a in attr.fields(facet) if a.default is attr.NOTHING}
    assert required == set(described["required"])
    assert facet._get_schema() == f"{schema['$id']}#/$defs/{facet.__name__}"
    assert own == set(facet._additional_skip_redact)


def test_events_follow_the_schemas():
    data_sets, runs = _validator("ProvSparkDatasetFacet"), _validator("ProvSparkRunFacet")
    for manifest in pipeline().manifests:
        for event in events_from_manifest(STORE, manifest):
            body = Serde.to_dict(event)
            runs.validate(body["run"]["facets"])
            assert body["run"]["facets"]["provspark"]["_producer"] == PRODUCER == body["producer"]
            for entry in body["inputs"] + body["outputs"]:
                data_sets.validate(entry["facets"])
    with pytest.raises(jsonschema.ValidationError):
        data_sets.validate({"provspark": {"_producer": "p", "_schemaURL": "u", "store": STORE}})


def test_redaction_leaves_our_facets_as_they_are():
    """Airflow's OpenLineage provider masks by field names; a masked version or store would link nothing."""
    from airflow.providers.openlineage.utils.utils import OpenLineageRedactor

    event = events_from_manifest(STORE, pipeline().manifests[1])[1]
    before = Serde.to_json(event)
    redacted = OpenLineageRedactor().redact(event, max_depth=20)
    assert Serde.to_json(redacted) == before


@pytest.mark.parametrize("options", [{"append": True}, {"append": False}, {"append": False, "debug_mode": True}])
def test_files_of_the_file_transport_are_read_back(tmp_path, options):
    events = [e for m in pipeline().manifests for e in events_from_manifest(STORE, m)]
    path = tmp_path / "logs" / "events[1]"
    path.parent.mkdir()
    (path.parent / "events1-20260101.json").write_text("not one of them")
    client = OpenLineageClient(transport=FileTransport(FileConfig(str(path), **options)))
    for event in events:
        client.emit(event)
    expected = [Serde.to_dict(event) for event in events]
    for given in (path, str(path), path.as_uri()):
        assert list(read_events(given)) == expected
    (path.parent / "events1-20260101.json").unlink()
    assert list(read_events(path.parent)) == expected


def test_files_that_are_not_whole_events(tmp_path):
    path = tmp_path / "e.jsonl"
    good = '{"a": 1}\n'
    for bad, line in (('{"a": ', 3), ("[1]\n", 3), ("{\n 1\n", 3), ("\xff\n", 3), ("{}{}\n", 3)):
        path.write_text(f"{good}\n{bad}", encoding="latin-1")
        read = read_events(path)
        assert next(read) == {"a": 1}
        with pytest.raises(EventError, match=rf"e\.jsonl, line {line}"):
            next(read)
    path.write_text("\n\n")
    assert list(read_events(path)) == []
    with pytest.raises(FileNotFoundError, match="log_file_path"):
        list(read_events(tmp_path / "other"))


def test_importing_the_package_does_not_import_openlineage():
    code = "import sys, provspark; sys.exit('openlineage' in sys.modules or 'sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
