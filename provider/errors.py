"""All errors of ProvSpark. Each also derives from a built-in exception."""

from provspark.model.errors import *  # noqa: F403 - they are defined there
