#!/bin/sh
# Installs PostgreSQL's server and its JDBC driver for the tests, from Debian's packages. The tests start a private one themselves,
# as an unprivileged user in a temporary folder. Fails, with the reason on stderr, where it can't be had.
set -eu

have() { command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }

give_up() {
    echo "no PostgreSQL for the tests: $1" >&2
    exit 1
}

if ! have; then
    command -v apt-get >/dev/null 2>&1 || give_up "no initdb found, and no apt-get to install it with"
    [ "$(id -u)" = 0 ] || give_up "no initdb found; run as root: apt-get install postgresql"
    export DEBIAN_FRONTEND=noninteractive
    mkdir -p /etc/postgresql-common
    # Without this the package makes and starts a server of its own.
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql; } >&2 ||
        give_up "apt-get could not install it"
    have || give_up "apt-get installed it, but there is no initdb"
fi

driver=/usr/share/java/postgresql.jar
if ! [ -e "${PROVSPARK_TEST_POSTGRES_JDBC:-$driver}" ]; then
    command -v apt-get >/dev/null 2>&1 || give_up "no $driver, and no apt-get to install it with"
    [ "$(id -u)" = 0 ] || give_up "no $driver; run as root: apt-get install libpostgresql-jdbc-java"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends libpostgresql-jdbc-java; } >&2 ||
        give_up "apt-get could not install the JDBC driver"
fi
