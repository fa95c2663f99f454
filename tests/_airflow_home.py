"""For tests that import Airflow: it writes into its home, and takes over logging, as soon as it is imported."""

import logging
import os
import tempfile

os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp(prefix="airflow-"))
# py4j says goodbye when the interpreter ends; the stream that Airflow would send it to is closed by then.
logging.getLogger("py4j").setLevel(logging.WARNING)
