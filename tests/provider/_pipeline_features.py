"""What the published pipelines did to some columns, by hand: the lines of their scripts, task by task."""

from __future__ import annotations

from typing import Any

TEXTS = [
    ("texts", "people = spark.read.csv(source, header=True, schema=SCHEMA)"),
    ("texts", "people = people.withColumns({name: sf.trim(name) for name in TEXTS})"),
    ("texts", 'people = people.replace("?", None, subset=TEXTS)'),
]
ENCODE = [
    ("census", "people = spark.read.parquet(source)"),
    ("census", 'people = people.select("*", *hot).drop(column)'),
    ("census", 'people = people.withColumn("sex", sf.when(sf.col("sex") == "Male", 1).otherwise(0))'),
    ("census", 'people = people.withColumn("income", sf.when(sf.col("income") == ">50K", 1).otherwise(0))'),
    ("census", 'people = people.drop("fnlwgt")'),
]
READS = {
    "texts": [("texts", "people = spark.read.csv(source, header=True, schema=SCHEMA)")],
    "census": [("census", "people = spark.read.parquet(source)")],
    "imputed": [("imputed", "people = spark.read.parquet(source)")],
    "credit_terms": [("credit_terms", "credit = spark.read.csv(source, header=True, schema=SCHEMA)")],
    "credit": [("credit", "credit = spark.read.parquet(source)")],
    "credit_imputed": [("credit_imputed", "credit = spark.read.parquet(source)")],
    "compas_complete": [("compas_complete", "scores = spark.read.csv(source, header=True).select(*COLUMNS).na.drop()")],
    "compas": [("compas", ".parquet(source)")],
    "compas_imputed": [("compas_imputed", "spark.read.csv(source, header=True).select(*COLUMNS)")],
}
READ = {"Census": ("texts", "census", "imputed"), "German": ("credit_terms", "credit", "credit_imputed")}
TRIMMED, TERMS = TEXTS[1:], "credit = credit.replace(terms, subset=[column])"
FEATURES: list[Any] = [
    ("imputed", "capital_gain", [], [], ["imputer.fit(people).transform(people)"]),
    ("imputed", "age", [], [], []),
    ("imputed", "sex", TRIMMED, [ENCODE[2][1]], []),
    ("imputed", "income", TRIMMED, [ENCODE[3][1]], []),
    ("imputed", "occupation_sales", TRIMMED, [ENCODE[1][1]], []),
    (
        "credit_imputed",
        "credit_amount",
        [],
        [],
        ['credit = credit.withColumn("known"', 'credit = credit.withColumn("credit_amount"'],
    ),
    ("credit_imputed", "duration", [], [], []),
    ("credit_imputed", "housing_own", [TERMS], ["credit = credit.withColumn(f"], []),
    ("credit_imputed", "gender", [], ['credit = credit.withColumn("gender"'], []),
    (
        "credit_imputed",
        "status_single",
        [],
        [
            'credit = credit.withColumn("gender"',
            'credit = credit.replace(STATUS, subset=["status"])',
            "credit = credit.withColumn(f",
        ],
        [],
    ),
    ("credit_imputed", "phone", [TERMS], [], []),
]
"""A column, and by hand the lines that touched it or what it was before, but for those that read: one list a task."""
OF_COMPAS = [
    (
        "compas_imputed",
        "days_b_screening_arrest",
        [
            "read ",
            "read ",
            "days_b_screening_arrest = coalesce(CAST(days_b_screening_arrest AS DOUBLE), "
            "(avg(CAST(days_b_screening_arrest AS DOUBLE)) over all rows))",
        ],
    ),
    ("compas", "race", ["read ", "read ", "race = CASE WHEN (race = 'Caucasian') THEN 1 ELSE 0 END"]),
    ("compas", "label", ["read ", "read ", "label = (1 - CAST(two_year_recid AS INT))"]),
    ("compas", "jailtime", ["read ", "read ", "jailtime = CAST(FLOOR("]),
    ("compas", "age", ["read ", "read "]),
]
"""A column of COMPAS, and the beginnings of the texts of what touched it."""
