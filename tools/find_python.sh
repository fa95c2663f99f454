#!/usr/bin/env bash
# Prints a Python that the project runs on (3.10 to 3.12, able to make virtual environments), or says what to install.
set -u

suits() {
    "$1" -c 'import sys, ensurepip, venv; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null
}

for python in ${PYTHON:-python3.11 python3.12 python3.10 python3}; do
    if path=$(command -v "$python") && suits "$path"; then
        echo "$path"
        exit 0
    fi
done

found=$("${PYTHON:-python3}" --version 2>&1 || true)
cat >&2 <<END
No suitable Python: Python 3.10, 3.11 or 3.12 with the modules venv and ensurepip is needed; found: ${found:-none}.
Install one (Debian and Ubuntu: apt-get install python3 python3-venv; Fedora: dnf install python3.12;
macOS: brew install python@3.11), or name one: make PYTHON=/path/to/python3.11 ...
END
exit 1
