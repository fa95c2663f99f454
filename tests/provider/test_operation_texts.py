"""Operations in answers: imputations, in the user's columns and not in those that Spark makes up, in plain words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import Window
from pyspark.sql import functions as sf

import provspark
from provspark.cli.main import main
from provspark.tracker import attach

pytestmark = pytest.mark.spark

MADE_UP = re.compile(r"\b_we?\d|_nondeterministic|__pivot|__auto_generated")
FRAME = "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"

Frame = Callable[[Any], Any]

IMPUTATIONS: dict[str, tuple[Frame, str]] = {
    "fillna": (lambda p: p.fillna({"y": 0}), "y = coalesce(y, 0)"),
    "fillna of doubles": (lambda p: p.fillna(1.5, subset=["x"]), "x = coalesce(nanvl(x, CAST(NULL AS DOUBLE)), 1.5D)"),
    "windowed": (
        lambda p: p.withColumn("x", sf.coalesce("x", sf.avg("x").over(Window.partitionBy("k")))),
        f"x = coalesce(x, avg(x) OVER (PARTITION BY k {FRAME}))",
    ),
    "nvl": (
        lambda p: p.withColumn("x", sf.expr("nvl(x, max(x) over (partition by k))")),
        f"x = nvl(x, max(x) OVER (PARTITION BY k {FRAME}))",
    ),
    "flagged": (
        lambda p: p.withColumn(
            "x", sf.when(sf.col("x") > 100, sf.avg("x").over(Window.partitionBy("k"))).otherwise(sf.col("x"))
        ),
        f"x = CASE WHEN (x > 100) THEN avg(x) OVER (PARTITION BY k {FRAME}) ELSE x END",
    ),
    "missing as a CASE": (
        lambda p: p.withColumn("y", sf.when(sf.col("y").isNull(), 0).otherwise(sf.col("y"))),
        "y = CASE WHEN (y IS NULL) THEN 0 ELSE y END",
    ),
    "rounded": (
        lambda p: p.withColumn("y", sf.coalesce("y", sf.round(sf.avg("y").over(Window.partitionBy())).cast("int"))),
        f"y = coalesce(y, CAST(round(avg(y) OVER ({FRAME}), 0) AS INT))",
    ),
    "under a new name": (
        lambda p: p.withColumn("filled", sf.coalesce("x", sf.avg("x").over(Window.partitionBy()))),
        f"filled = coalesce(x, avg(x) OVER ({FRAME}))",
    ),
}
OTHERS: dict[str, tuple[Frame, list[str]]] = {
    "another column": (lambda p: p.withColumn("y", sf.coalesce("y", "z")), ["changed column"]),
    "another's maximum": (
        lambda p: p.withColumn("y", sf.coalesce("y", sf.max("z").over(Window.partitionBy("k")))),
        ["changed column"],
    ),
    "a term for another": (lambda p: p.replace({"a": "b"}, subset=["k"]), ["changed column"]),
    "a limit": (
        lambda p: p.withColumn("x", sf.when(sf.col("x") > 100, 100.0).otherwise(sf.col("x"))),
        ["changed column"],
    ),
    "a default elsewhere": (lambda p: p.withColumn("t", sf.coalesce("y", sf.lit(1))), ["added column"]),
    "a first row": (
        lambda p: (
            p.withColumn("r", sf.row_number().over(Window.partitionBy("k").orderBy(sf.col("x") + 1)))
            .filter("r = 1")
            .drop("r")
        ),
        ["added column", "filter", "dropped column"],
    ),
    "a share": (
        lambda p: p.withColumn("share", sf.col("x") / sf.sum("x").over(Window.partitionBy())),
        ["added column"],
    ),
    "a pivot": (lambda p: p.groupBy("k").pivot("y", [1, 2]).sum("x"), ["aggregate", "dropped column", "added column"]),
    "a random order": (lambda p: p.orderBy(sf.rand(1)), []),
    "a join": (lambda p: p.join(p.select("k", sf.col("z").alias("zz")), "k"), ["added column", "join"]),
    "a union": (lambda p: p.union(p), ["union"]),
    "an explosion": (lambda p: p.withColumn("e", sf.explode(sf.array("y", "z"))), ["added column", "added rows"]),
}


UNSURE = "y = coalesce(y, zz)"


def _chosen(p: Any) -> Any:
    return (
        p.withColumn("zz", sf.col("z") * 2)
        .withColumn("y", sf.coalesce("y", "zz"))
        .withColumn("y", sf.col("y") + 1)
        .withColumn("x", sf.col("x") + 1)
    )


def _modelled(p: Any) -> Any:
    from pyspark.ml.feature import Imputer

    p = p.withColumn("y", sf.col("y") + 1)
    p = p.withColumn("z", sf.col("z") + 1)
    return Imputer(inputCols=["y", "z"], outputCols=["y", "z"]).fit(p).transform(p).withColumn("k", sf.upper("k"))


@pytest.fixture(scope="module")
def prov(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("texts")
    (folder / "in.csv").write_text("k,x,y,z\na,1,,2\na,,1,3\nb,200,2,\nb,3,2,4\n")
    with attach(store=str(folder / "prov"), step="s"):
        for name, (make, _) in {**IMPUTATIONS, **OTHERS}.items():
            read = spark.read.csv(str(folder / "in.csv"), header=True, schema="k string, x double, y int, z int")
            make(read).write.parquet(str(folder / name))
        for name, frame in (("chosen", _chosen(read)), ("modelled", _modelled(read))):
            frame.write.parquet(str(folder / name))
    return provspark.open(str(folder / "prov")), folder


def lines(prov: Any, name: str, **how: Any) -> list[dict[str, Any]]:
    provenance, folder = prov
    told = provenance.operations(str(folder / name), **how).table().to_pylist()
    return [line for line in told if line["category"] != ["read"]]


@pytest.mark.parametrize("name", IMPUTATIONS)
def test_an_imputation_is_one_operation_in_the_users_columns(prov: Any, name: str) -> None:
    (line,) = lines(prov, name)
    assert (line["category"], line["text"]) == (["imputation"], IMPUTATIONS[name][1])
    assert len(line["makes"]) == 1
    assert line["categories"] == line["paper_categories"] in (["transformation"], ["vertical augmentation"])


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_imputation_is_told_in_plain_words(prov: Any, name: str) -> None:
    told = lines(prov, name)
    assert list(dict.fromkeys(c for line in told for c in line["category"])) == OTHERS[name][1]


@pytest.mark.parametrize("name", [*IMPUTATIONS, *OTHERS])
@pytest.mark.parametrize("parts", [False, True])
def test_no_name_of_sparks_own_is_told(prov: Any, name: str, parts: bool) -> None:
    for line in lines(prov, name, parts=parts):
        assert not MADE_UP.search(repr({k: v for k, v in line.items() if k != "dataset"}))


def test_a_helper_is_told_by_what_it_stands_for(prov: Any) -> None:
    told = lines(prov, "a share", parts=True)
    assert [line["text"] for line in told if "OVER" in line["text"]] == [
        f"compute sum(x) OVER ({FRAME})",
        f"share = (x / sum(x) OVER ({FRAME}))",
        f"drop sum(x) OVER ({FRAME})",
    ]


def test_words_of_the_last_release_go_on(prov: Any) -> None:
    provenance, folder = prov
    answer = provenance.operations(str(folder / "a limit"))
    with pytest.warns(DeprecationWarning, match="paper_categories"):
        assert [line.categories for line in answer.lines] == [("source",), ("transformation",)]


def test_a_list_that_is_a_superset_says_so(prov: Any) -> None:
    provenance, folder = prov
    for rows in (None, [0, 2]):
        answer = provenance.operations(str(folder / "chosen"), rows, "y", parts=True)
        assert [(line.text.partition(" = ")[0], line.exact) for line in answer.lines[1:]] == [
            ("zz", False),
            ("y", True),
            ("y", True),
        ]
        assert not answer.exact and "superset" in repr(answer)
        (_, unsure, *_) = answer.table().to_pylist()
        assert unsure["why"].startswith(UNSURE)
    ahead = provenance.operations(str(folder / "in.csv"), column="z", direction="forward", to=str(folder / "chosen"))
    assert [line.exact for line in ahead.lines] == [True, True, False, False]
    told = CliRunner(env={"COLUMNS": "240"}).invoke(
        main, ["operations", str(folder / "chosen"), "--column", "y", "--store", str(folder / "prov")]
    )
    assert told.exit_code == 0
    assert re.search(rf"operation 1: only for some rows, depending on their values: {re.escape(UNSURE)}", told.output)


def test_a_list_that_is_exact_says_nothing(prov: Any) -> None:
    provenance, folder = prov
    answer = provenance.operations(str(folder / "chosen"), column="x")
    assert answer.exact and answer.table()["why"].null_count == len(answer) == 2


def test_a_model_touches_the_columns_that_it_makes(prov: Any) -> None:
    provenance, folder = prov
    touched = {
        column: [line.reads for line in provenance.operations(str(folder / "modelled"), column=column).lines[1:]]
        for column in ("k", "x", "y", "z")
    }
    assert touched == {"k": [("k",)], "x": [], "y": [("y",), ("y", "z")], "z": [("z",), ("y", "z")]}
    columns = provenance.columns(str(folder / "modelled")).table().to_pylist()
    assert {(x["column"], x["related_column"]) for x in columns} == {(c, c) for c in "kxyz"}
