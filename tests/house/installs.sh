#!/bin/sh
# The ways to install that CONTRIBUTING.md names, each into an environment of its own, which then answers a question.
#
# sh tests/house/installs.sh FOLDER    # beside nothing else; PYTHON is the interpreter
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3}
mkdir -p "$1" && cd "$1"
pip="-m pip --disable-pip-version-check --quiet"

tried() { # NAME CORE ARGUMENTS...: install, and ask
    name=$1 core=$2
    shift 2
    "$python" -m venv "$name"
    "$name/bin/python" $pip install "$@"
    printf 'The lion is a big cat.' >lion.txt
    printf 'The tiger is a big cat.' >tiger.txt
    printf 'Wheat grows on a field.' >wheat.txt
    "$name/bin/setsearch" index "$name.db" lion.txt tiger.txt wheat.txt
    "$name/bin/setsearch" expand "$name.db" lion.txt --items documents --csv | grep -q '^1,tiger.txt,'
    "$name/bin/setsearch" info "$name.db" --json | grep -q "\"core\": $core"
    echo "installed: $name"
}

"$python" -m venv build && build/bin/python $pip install build
cp -R "$here" clone && rm -rf clone/.git clone/.venv* clone/dist # no git
build/bin/python -m build --sdist --outdir dist clone >/dev/null
SETSEARCH_CORE=manylinux_2_17_$(uname -m) build/bin/python -m build --wheel --outdir dist clone >/dev/null

tried from-the-clone true ./clone
tried from-the-sdist true dist/*.tar.gz
tried from-the-wheel true dist/*.whl
CC=/nothing tried without-a-compiler false dist/*.tar.gz
build/bin/python $pip wheel --wheel-dir wheels dist/*.whl
PIP_NO_INDEX=1 PIP_EXTRA_INDEX_URL='' PIP_FIND_LINKS=wheels tried offline true setsearch
