"""Histories that failed once, each with why."""

from __future__ import annotations

from _histories import Act, History

KEPT = {
    "a captured step read a file that nobody captured, and then nothing said so": History(
        (),
        (
            Act("fill", "source", how="append", made="feed"),
            Act("fill", "middle", how="append", made="all"),
            Act("outside", "middle", how="file"),
            Act("fill", "report", how="append", made="all"),
        ),
    ),
    "what a checkpoint was made of was counted when it was gone": History(
        (),
        (
            Act("fill", "source", how="append", made="feed"),
            Act("rewrite", "source", how="checkpoint"),
            Act("fill", "middle", how="append", made="some"),
        ),
    ),
    "a read of one day was taken for the current version": History(
        ("middle", "report"),
        (
            Act("fill", "source", how="append", made="feed", days=(1, 2)),
            Act("fill", "middle", 2, how="append", made="all", days=(2,), ends="again"),
            Act("delete", "middle", how="some", drawn=157),
            Act("outside", "middle", 3, how="file"),
            Act("fill", "report", 3, how="append", made="all", days=(3,)),
        ),
    ),
    "each run read a day of its own, and all rows meant those of the last": History(
        ("source",),
        (
            Act("fill", "source", made="plain", how="append", days=(1, 2)),
            Act("fill", "middle", how="append", made="all", days=(1,)),
            Act("fill", "middle", 2, how="append", made="all", days=(2,)),
        ),
    ),
    "rows that are gone were shown among the rows asked about": History(
        (),
        (
            Act("fill", "source", how="append", made="feed"),
            Act("rewrite", "source", how="compact"),
            Act("fill", "source", 2, how="overwrite", made="feed"),
        ),
    ),
    "no step was named for rows that a run read and overwrote": History(
        ("middle",),
        (
            Act("fill", "source", how="append", made="feed", days=(1,)),
            Act("fill", "middle", how="dynamic", made="all"),
            Act("fill", "report", 2, how="append", made="some"),
            Act("fill", "middle", 2, how="dynamic", made="some"),
        ),
    ),
    "a file that nobody captured stood between older rows of a dataset and newer ones": History(
        (),
        (
            Act("fill", "source", how="append", made="feed"),
            Act("fill", "middle", how="append", made="all"),
            Act("fill", "report", how="append", made="all"),
            Act("outside", "middle", how="file"),
            Act("fill", "report", 2, how="append", made="all"),
        ),
    ),
    "rows written by the path of a day's folder were not found by the dataset's name": History(
        ("middle",),
        (
            Act("fill", "source", how="append", made="feed", days=(1, 2)),
            Act("fill", "middle", how="folder", made="all"),
            Act("fill", "middle", 2, how="dynamic", made="all", days=(2,)),
        ),
        by_path=True,
    ),
    "a day's folder that went with the dataset was taken for a disk that is not there": History(
        ("source", "middle", "report"),
        (
            Act("fill", "source", how="folder", made="feed"),
            Act("fill", "middle", how="folder", made="all"),
            Act("delete", "middle", how="folder"),
        ),
        by_path=True,
    ),
    "a day's folder that went from within the dataset was taken for a disk that is not there": History(
        ("middle", "report"),
        (
            Act("fill", "source", how="overwrite", made="plain"),
            Act("fill", "middle", how="dynamic", made="all"),
            Act("fill", "report", how="folder", made="some"),
            Act("fill", "middle", how="overwrite", made="group", ends="breaks"),
        ),
        by_path=True,
    ),
}
