#!/bin/sh
# ensure_venv.sh run|test|suite|dev
# Makes .venv hold this project with the libraries of that purpose, and does nothing when it already does.
#   run: what `kraft-spec` uses, Kafka's bytes and Z3 too    suite: what all parts of `make test` use, PySpark and Sphinx too
#   test: also the test tools             dev: every extra (large downloads)
# PYTHON names the interpreter to create it with; without it the first Python 3.11 or newer found is taken.
set -eu
cd "$(dirname "$0")/.."
purpose=${1:?usage: ensure_venv.sh run|test|suite|dev}
venv=.venv

say() { printf '%s\n' "kraft-spec: $*" >&2; }

# The larger environments serve the smaller purposes too, so that one .venv serves all.
case $purpose in
    run)   requirement='.[conformance,proofs]'        served_by="run test suite dev" ;;
    test)  requirement='.[test]'               served_by="test suite dev" ;;
    suite) requirement='.[docs,pipeline,test]' served_by="suite dev" ;;
    dev)   requirement='.[dev]'                served_by="dev" ;;
    *)     say "unknown purpose '$purpose': run, test, suite or dev"; exit 64 ;;
esac

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        new_enough "$PYTHON" && { echo "$PYTHON"; return; }
        say "PYTHON=$PYTHON is not a working Python 3.11 or newer"
        return 1
    fi
    for candidate in python3 python3.14 python3.13 python3.12 python3.11 python; do
        new_enough "$candidate" && { echo "$candidate"; return; }
    done
    say "no Python 3.11 or newer found (python3 is $(python3 --version 2>&1 || true))."
    say "Install one, or name it: make PYTHON=/path/to/python3.11 ..."
    return 1
}

create() {
    interpreter=$(find_python)
    say "creating $venv with $("$interpreter" --version 2>&1)"
    if ! "$interpreter" -m venv --clear "$venv" >&2; then
        rm -rf "$venv"
        say "could not create $venv; on Debian and Ubuntu this needs: apt-get install python3-venv"
        exit 1
    fi
    pwd > "$venv/.made-in"
}

# A virtual environment holds absolute paths: one whose repository was moved or copied is made anew.
if ! new_enough "$venv/bin/python" || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    create
elif [ -f "$venv/.made-in" ] && [ "$(cat "$venv/.made-in")" != "$(pwd)" ]; then
    create
fi

wanted=$(cksum < pyproject.toml)
for larger in $served_by; do
    if [ -f "$venv/.installed-$larger" ] && [ "$(cat "$venv/.installed-$larger")" = "$wanted" ]; then
        exit 0
    fi
done

say "installing what '$purpose' needs into $venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --editable "$requirement" >&2
printf '%s\n' "$wanted" > "$venv/.installed-$purpose"
