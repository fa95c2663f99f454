"""The ``provspark`` command."""

from __future__ import annotations

import click

from provspark.cli.catalogue import catalogue
from provspark.cli.common import ErrorGroup
from provspark.cli.export import export
from provspark.cli.gc import gc
from provspark.cli.listing import ls, show
from provspark.cli.operations import columns, dropped, how, operations, why
from provspark.cli.profile import impact, profile
from provspark.cli.questions import co_contributory, co_dependency, composition, correspondence, derivations, locate
from provspark.cli.receiver import receiver
from provspark.cli.repair import repair
from provspark.cli.replay import beside, counts, history, replay, whynot
from provspark.cli.run import run
from provspark.cli.serve import serve
from provspark.cli.trace import trace
from provspark.cli.verify import verify
from provspark.model.release import __version__

__all__ = ["main"]


@click.group(cls=ErrorGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="provspark")
@click.option("--debug", is_flag=True, help="Show the traceback of errors.")
def main(debug: bool) -> None:
    """Record-level lineage for Spark jobs: which source rows made this row.

    \b
    Examples:
      provspark run --store /data/prov job.py    run a PySpark script, capture its lineage
      provspark ls --store /data/prov            the data sets that it read and wrote
      provspark trace /data/report --row 17      the rows that row 17 came from

    Exit codes: 0 all well, 1 `verify` found problems, 2 an error; `run` exits as its script does.
    """


_OPERATIONS = (why, how, columns, operations, dropped)
_REPLAYS = (history, whynot, replay, beside, counts)
_QUESTIONS = (
    trace,
    *_OPERATIONS,
    *_REPLAYS,
    co_contributory,
    co_dependency,
    composition,
    correspondence,
    derivations,
    locate,
    profile,
    impact,
    export,
)
for _command in (run, ls, show, *_QUESTIONS, serve, verify, repair, gc, catalogue, receiver):
    main.add_command(_command)

if __name__ == "__main__":
    main()
