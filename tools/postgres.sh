# A PostgreSQL for the tests, where one can be had; without one only continuous integration stops.
if [ -z "${PROVSPARK_TEST_POSTGRES:-}" ] && ! tests/setup_postgres.sh && [ -n "${CI:-}" ]; then
    exit 1
fi
