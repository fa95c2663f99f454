"""Every error of ProvSpark, each also a child of a built-in error."""

from provspark.model.errors import *  # noqa: F403 - the one list of them is there
