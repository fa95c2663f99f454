"""Tests for other storage back ends or engines. They need pytest and hypothesis (``provspark[testing]``).

`contract` contains the tests that every back end must pass, `machine` a stateful test, `strategies` the test data,
`oracle` brute-force answers, `worlds` random pipelines, and `faults` a folder that fails at a given operation.
"""
