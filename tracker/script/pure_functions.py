"""Functions whose results depend only on their arguments, the clock, the machine or random numbers, not on data."""

from __future__ import annotations

from functools import cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BUILTINS = _words(
    "abs all any ascii bin bool bytearray bytes chr complex dict divmod enumerate filter float format frozenset"
    " hash hex int isinstance issubclass iter len list map max min next oct ord pow range repr reversed round set"
    " slice sorted str sum tuple type vars zip"
)

_MODULES = (
    *("argparse", "calendar", "collections", "copy", "datetime", "decimal", "fractions", "functools", "getpass"),
    *("hashlib", "itertools", "locale", "math", "operator", "os.path", "platform", "random", "re", "secrets", "socket"),
    *("statistics", "string", "textwrap", "time", "uuid", "zoneinfo", "dateutil", "pyspark.sql.types", "numpy"),
)
_FUNCTIONS = frozenset(
    (
        *("os.getenv", "os.environ.get", "os.getcwd", "os.getpid", "os.cpu_count", "os.urandom", "json.loads"),
        *("json.dumps", "pathlib.Path", "pathlib.PurePath", "pyspark.sql.Row", "pyspark.Row", "provspark.constant"),
        *("sys.getsizeof", "dataclasses.asdict", "dataclasses.astuple", "dataclasses.field", "typing.cast"),
        *("dataclasses.replace", "pyspark.sql.types.Row", "pandas.DataFrame", "pandas.Series", "pandas.Index"),
        *("pandas.Timestamp", "pandas.Timedelta", "pandas.date_range", "pandas.to_datetime", "pandas.to_timedelta"),
        *("pandas.period_range", "pandas.timedelta_range", "pandas.concat", "pandas.NaT", "pandas.Categorical"),
        *("pyarrow.table", "pyarrow.array", "pyarrow.schema", "pyarrow.Table.from_pydict", "pyarrow.Table.from_pylist"),
        *("pandas.DataFrame.from_dict", "pandas.DataFrame.from_records", "enum.auto", "types.SimpleNamespace"),
    )
)
_VALUES = frozenset(
    (
        *("os.environ", "os.name", "os.sep", "sys.argv", "sys.executable", "sys.maxsize", "sys.platform", "sys.prefix"),
        *("sys.version", "sys.version_info"),
    )
)
_READING = _words(
    "collect collectAsMap take first head tail toPandas toArrow toLocalIterator load loadtxt genfromtxt fromfile"
    " memmap read read_text read_bytes readline readlines open iterdir glob rglob stat recv"
)
"""Methods that read data, whatever they are called on."""
DESCRIBING = frozenset(("columns", "schema", "dtypes", "__name__", "__file__"))
"""Attributes that describe a DataFrame or a function, and contain no value of a row."""
SESSIONS = frozenset(("spark", "session", "sparkSession", "sparkContext", "sc", "conf", "widgets"))
"""Usual names of objects that contain settings and no rows."""
SETTINGS = frozenset(("applicationId", "appName", "conf", "get", "getAll", "master", "sparkUser", "version"))
"""Their attributes and methods that return settings."""
SETTERS = frozenset(("config", "set", "setConf", "setJobDescription", "setJobGroup", "setLocalProperty"))
"""Their methods that change settings."""


def pure_call(name: str) -> bool:
    """Whether the result of the function with this dotted name contains no data except its arguments.

    >>> pure_call("datetime.date.today"), pure_call("numpy.loadtxt"), pure_call("pandas.read_csv")
    (True, False, False)
    """
    if name.rsplit(".", 1)[-1] in _READING:
        return False
    return name in _FUNCTIONS or any(name.startswith(module + ".") for module in _MODULES)


def pure_value(name: str) -> bool:
    """Whether an attribute of a library is a constant.

    >>> pure_value("math.pi"), pure_value("sys.argv"), pure_value("sys.stdin")
    (True, True, False)
    """
    return name in _VALUES or any(name.startswith(module + ".") for module in _MODULES)


def reads(method: str) -> bool:
    """Whether a method of this name may read data."""
    return method in _READING


@cache
def query_names() -> frozenset[str]:
    """Return the names of all of PySpark's functions and methods that build queries."""
    from pyspark.sql import Column, DataFrame, GroupedData, SparkSession, functions
    from pyspark.sql.window import Window, WindowSpec

    owners = (Column, DataFrame, GroupedData, SparkSession, functions, Window, WindowSpec)
    return frozenset(name for owner in owners for name in dir(owner) if not name.startswith("_")) | {"fill", "replace"}
