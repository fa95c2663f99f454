"""What pandas on Spark computes on the driver, and what MLlib learns."""

from __future__ import annotations

from typing import Any

from _driver_scripts import Cases
from _driver_sources import ALL

CASES = Cases(rows=[10])


@CASES(possible=ALL, reads="R", label="coarse")
def pandas_on_spark_to_pandas(people: str, out: str) -> None:
    import pyspark.pandas as ps

    p = ps.read_parquet(people).to_pandas()  # R
    ps.from_pandas(p[p.age > 30].reset_index(drop=True)).to_parquet(out)


@CASES(possible=ALL, reads="R", label="coarse")
def pandas_on_spark_to_list(people: str, out: str) -> None:
    import pyspark.pandas as ps

    ages = ps.read_parquet(people)["age"].to_list()  # R
    ps.DataFrame({"age": sorted(ages)}).to_parquet(out)


@CASES(possible=ALL, reads="R", label="coarse")
def pandas_on_spark_applied_to_groups(people: str, out: str) -> None:
    import pyspark.pandas as ps

    p = ps.read_parquet(people)[["city", "age"]]
    spread = p.groupby("city")["age"].apply(lambda ages: ages - ages.min())  # R
    spread.to_frame("spread").to_parquet(out)


@CASES(context=ALL, ends="")
def a_model_that_transforms(spark: Any, people: str, visits: str, out: str) -> None:
    from pyspark.ml.feature import StringIndexer

    model = StringIndexer(inputCol="id", outputCol="rank").fit(spark.read.parquet(people))  # R
    all_visits = spark.read.csv(visits, header=True, schema="id INT, day STRING, cost INT")
    model.transform(all_visits).write.parquet(out)


@CASES(context=ALL, ends="")
def a_model_saved_and_loaded(spark: Any, people: str, work: str) -> None:
    from pyspark.ml.feature import StringIndexer

    model = StringIndexer(inputCol="id", outputCol="rank").fit(spark.read.parquet(people))  # R
    model.write().overwrite().save(f"{work}/model")


@a_model_saved_and_loaded.then
def _(spark: Any, visits: str, out: str, work: str) -> None:
    from pyspark.ml.feature import StringIndexerModel

    all_visits = spark.read.csv(visits, header=True, schema="id INT, day STRING, cost INT")
    StringIndexerModel.load(f"{work}/model").transform(all_visits).write.parquet(out)


@CASES(possible=ALL, reads="R", label="coarse")
def labels_of_a_model(spark: Any, people: str, out: str) -> None:
    from pyspark.ml.feature import StringIndexer

    model = StringIndexer(inputCol="name", outputCol="rank").fit(spark.read.parquet(people))  # R
    spark.createDataFrame([(label,) for label in model.labels], "name STRING").write.parquet(out)


@CASES(possible=ALL, reads="R", label="coarse")
def coefficients_of_a_model(spark: Any, people: str, out: str) -> None:
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.regression import LinearRegression

    points = VectorAssembler(inputCols=["id"], outputCol="features").transform(spark.read.parquet(people))
    model = LinearRegression(labelCol="age", solver="normal").fit(points)  # R
    spark.createDataFrame([(float(model.coefficients[0]),)], "slope DOUBLE").write.parquet(out)


@CASES(possible=ALL, reads="R")
def a_score_of_an_evaluator(spark: Any, people: str, visits: str, out: str) -> None:
    from pyspark.ml.evaluation import RegressionEvaluator
    from pyspark.sql import functions as sf

    guesses = spark.read.parquet(people).select(sf.col("age").cast("double"), sf.lit(40.0).alias("prediction"))
    score = RegressionEvaluator(labelCol="age", metricName="mae").evaluate(guesses)  # R
    all_visits = spark.read.csv(visits, header=True, schema="person INT, day STRING, cost INT")
    all_visits.withColumn("score", sf.lit(round(score, 3))).write.parquet(out)


@CASES(possible=ALL, reads="R", label="coarse")
def a_matrix_of_correlations(spark: Any, people: str, out: str) -> None:
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.stat import Correlation

    points = VectorAssembler(inputCols=["id", "age"], outputCol="v").transform(spark.read.parquet(people))
    matrix = Correlation.corr(points, "v").head()[0].toArray()  # R
    spark.createDataFrame([(round(float(x), 6),) for x in matrix[0]], "r DOUBLE").write.parquet(out)


@CASES(context=ALL, ends="", label="coarse")
def surrogates_of_a_model(spark: Any, people: str, out: str) -> None:
    from pyspark.ml.feature import Imputer

    rows = spark.read.parquet(people).selectExpr("CAST(age AS DOUBLE) AS age")
    model = Imputer(inputCols=["age"], outputCols=["full"]).fit(rows)  # R
    model.surrogateDF.write.parquet(out)


@CASES(context=ALL, ends="", label="coarse")
def a_frame_of_correlations(spark: Any, people: str, out: str) -> None:
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.stat import Correlation

    points = VectorAssembler(inputCols=["id", "age"], outputCol="v").transform(spark.read.parquet(people))
    matrix = Correlation.corr(points, "v")  # R
    matrix.selectExpr("CAST(`pearson(v)` AS STRING) AS matrix").write.parquet(out)
