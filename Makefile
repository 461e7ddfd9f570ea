# `make run` and `make test` work from a bare clone: they create .venv, install what they need, and see to Java 17+.
# PYTHON=...  the interpreter to create .venv with          ARGS=...  more arguments for the command that runs
# SEED=N      order of the tests and Hypothesis' examples   WORKERS=N test processes, each with a JVM of its own
SHELL := /bin/sh
export PYTHON

BIN := .venv/bin
ARGS ?=
WORKERS ?= 2
# On CI one fixed seed, so that the same commit gives the same verdict; at home another order each time, printed.
# `:=`, because both kinds of seed must be the same number.
ifndef SEED
ifeq ($(CI),true)
SEED := 996
# Some hundred processes start in it: what Python compiles, it keeps.
unexport PYTHONDONTWRITEBYTECODE
else
SEED := $(shell date +%s)
endif
endif

# The edges of the model, enumerated once and taken from there by `killed` and the tests, if it is still this model.
EDGES := build/model-edges

PIPELINE_TESTS = tests/traces/pipeline tests/conformance/test_pipeline_command.py
KAFKA_TESTS = tests/conformance/test_kafka.py tests/conformance/test_kafka_agent.py tests/conformance/test_kafka_attach.py \
	tests/conformance/test_kafka_findings.py \
	tests/conformance/test_kafka_junit.py tests/conformance/test_kafka_log.py tests/conformance/test_kafka_unpinned.py \
	tests/conformance/test_kafka_schedules.py tests/conformance/test_live.py tests/conformance/test_live_adapter.py \
	tests/conformance/test_node_kafka.py
ADAPTER_TESTS = tests/conformance/test_conformance_templates.py tests/conformance/test_conformance_adapter_page.py

WITH_MUTATION = $(BIN)/python -c 'import cosmic_ray' 2>/dev/null || \
	$(BIN)/python -m pip install --quiet --editable '.[mutation]'
WITH_CVC5 = $(BIN)/python -c 'import cvc5' 2>/dev/null || \
	$(BIN)/python -m pip install --quiet --editable '.[cross-check]'
WITH_SPARK = $(BIN)/python -c 'import jinja2, pyarrow, pyspark' 2>/dev/null || \
	$(BIN)/python -m pip install --quiet --editable '.[pipeline]'
# With the extra of the wire format, whose modules have pages.
WITH_DOCS = $(BIN)/python -c 'import crc32c, furo, jinja2, kio, myst_parser, sphinx' 2>/dev/null || \
	$(BIN)/python -m pip install --quiet --editable '.[conformance,docs]'
# Warnings are errors, all of them are shown, and the pages read once serve both builders.
SPHINX = $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --jobs auto -d build/doctrees
WITH_JAVA = JAVA_HOME="$$(tools/ensure_java.sh)" && export JAVA_HOME &&
# loadfile: the tests of one file share a process, and so what their fixtures start.
# No reordering by the number of tests: tests/conftest.py has the files that take longest first.
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile \
	--no-loadscope-reorder --randomly-seed=$(SEED) --hypothesis-seed=$(SEED)

.PHONY: kafka help run test quick core vectors-on-reference smoke lint types style contracts format models edges killed pytest pipeline samples counterexamples vectors adapters bench mutants nightly night night-tests cross-check docs dev dist clean distclean

help:
	@echo "make run      the main job: scenarios on the reference, each trace checked"
	@echo "              against the TLA+ model"
	@echo "make test     lint, types, import contracts, the model checks of the ci group,"
	@echo "              the edges, the site, seeded mutants, the pipeline on Spark,"
	@echo "              Apache Kafka itself where Maven is, and last the test suite"
	@echo "make quick    lint, types, contracts, the tests of the core, the vectors on"
	@echo "              the reference, the smallest model checks: two minutes"
	@echo "make lint     only the checks that run no test"
	@echo "make models   the model checks of the ci group: exhaustive, minutes"
	@echo "make edges    every edge of the model's state graph, replayed on the"
	@echo "              reference: minutes, unless build/ has them"
	@echo "make killed   each eighth mutant of the reference is killed by the tool that is"
	@echo "              listed, each that is not listed by any; a sample of TLC's evidence"
	@echo "make pipeline the tests of the Spark pipeline, with PySpark installed for them"
	@echo "make samples  record the sample traces again, after a change that is meant"
	@echo "make counterexamples  record what TLC finds in each mutant of the model again:"
	@echo "              a quarter of an hour"
	@echo "make vectors  make the conformance vectors again, after a change that is meant;"
	@echo "              each goes through TLC"
	@echo "make adapters build the adapters in Go, Java and Rust and run every vector on"
	@echo "              them; says loudly what it has to skip"
	@echo "make kafka    Apache Kafka itself: every vector and some random schedules on one"
	@echo "              release; says loudly if it cannot"
	@echo "make format   rewrite the sources in the style that lint asks for"
	@echo "make bench    the figures of the README, measured here"
	@echo "make mutants  every tool on every mutant, seeded, machine-made and foreign, for"
	@echo "              hours; recorded in build/results for the site"
	@echo "make nightly  every check in its long form, a seventh of the slowest each night;"
	@echo "              a dated record in .nightly/"
	@echo "make cross-check  what Z3 proved, asked again of cvc5 from files in"
	@echo "              build/cross-check"
	@echo "make docs     the site in build/docs: pages of every rule, scenario and module;"
	@echo "              its examples run, its links checked"
	@echo "make dev      every extra, PySpark and the documentation tools too, in .venv"
	@echo "make dist     wheel and source archive in dist/"
	@echo "make clean    remove caches and builds (distclean: .venv too)"

run:
	@tools/ensure_venv.sh run
	@$(WITH_JAVA) $(BIN)/kraft-spec run $(ARGS)

# All is installed at once and first: pip takes the project itself away for a moment, under whatever runs beside it.
# What leaves a processor idle has company: the edges are enumerated by one thread, Sphinx writes and tests with one,
# as mypy works, and Spark and Kafka wait a lot. The longest come first, and last the models, which take both processors.
# `killed` and the tests take the edges from the file.
# The tests come last, so that the last line is their verdict.
test:
	@tools/ensure_venv.sh suite
	@$(MAKE) --no-print-directory --jobs=3 edges types kafka pipeline docs style contracts models
	@$(MAKE) --no-print-directory killed
	@$(MAKE) --no-print-directory pytest

quick:
	@tools/ensure_venv.sh test
	@$(MAKE) --no-print-directory --jobs=2 types style contracts core vectors-on-reference smoke

core:
	@$(WITH_JAVA) $(BIN)/python -m pytest -q tests/reference --ignore=tests/reference/partitions \
		--ignore-glob='*test_cluster*' --ignore-glob='*test_scenarios*' $(ARGS)

vectors-on-reference:
	$(BIN)/kraft-spec conformance run --adapter "$(BIN)/python -m kraft_conformance.adapters.reference"

smoke:
	@$(WITH_JAVA) $(BIN)/kraft-spec model smoke --workers 1

samples:
	@tools/ensure_venv.sh run
	$(BIN)/python -m kraft_dev.samples

counterexamples:
	@tools/ensure_venv.sh run
	@$(WITH_JAVA) $(BIN)/python -m kraft_dev mutants --tool evidence --record
	@$(WITH_JAVA) $(BIN)/python -m kraft_dev.findings

vectors:
	@tools/ensure_venv.sh run
	@$(WITH_JAVA) $(BIN)/python -m kraft_vectors.generate

# What is skipped is said last, on standard error, where nobody overlooks it.
adapters:
	@tools/ensure_venv.sh test
	@$(WITH_JAVA) $(BIN)/python -m pytest -rs --randomly-seed=$(SEED) --hypothesis-seed=$(SEED) $(ADAPTER_TESTS) $(ARGS)
	@$(WITH_JAVA) $(BIN)/python -m tests.conformance.adapter_builds

kafka:
	@tools/ensure_venv.sh test
	@$(WITH_JAVA) $(BIN)/python -m pytest -rs --randomly-seed=$(SEED) --hypothesis-seed=$(SEED) $(KAFKA_TESTS) $(ARGS)
	@command -v mvn >/dev/null || echo "SKIPPED: NO MAVEN ON PATH: KAFKA IS RUN FROM THE CACHE OR NOT AT ALL" >&2

lint:
	@tools/ensure_venv.sh test
	@$(MAKE) --no-print-directory --jobs=2 types style contracts

style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/english.py

types:
	$(BIN)/mypy

contracts:
	$(BIN)/lint-imports

format:
	@tools/ensure_venv.sh test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

models:
	@tools/ensure_venv.sh test
	@$(WITH_JAVA) $(BIN)/kraft-spec model ci --jobs 2 --workers 1

edges:
	@tools/ensure_venv.sh test
	@mkdir -p $(dir $(EDGES))
	@$(WITH_JAVA) $(BIN)/python -m kraft_dev edges --edges $(EDGES)

killed:
	@tools/ensure_venv.sh test
	@mkdir -p $(dir $(EDGES))
	@$(WITH_JAVA) $(BIN)/python -m kraft_dev mutants --every 8 --edges $(EDGES)
	@$(WITH_JAVA) $(BIN)/python -m kraft_dev mutants sample --tool evidence

pytest:
	@tools/ensure_venv.sh test
	@$(WITH_JAVA) $(PYTEST) $(PIPELINE_TESTS:%=--ignore=%) $(KAFKA_TESTS:%=--ignore=%) $(ARGS)

# One process: it has one session of Spark, which takes both cores.
pipeline:
	@tools/ensure_venv.sh test
	@$(WITH_SPARK)
	@$(WITH_JAVA) $(BIN)/python -m pytest --randomly-seed=$(SEED) --hypothesis-seed=$(SEED) $(PIPELINE_TESTS) $(ARGS)

mutants:
	@tools/ensure_venv.sh test
	@$(WITH_MUTATION)
	@$(WITH_JAVA) $(BIN)/python -m kraft_dev mutants --machine 200 --foreign --record $(ARGS)

bench:
	@tools/ensure_venv.sh test
	@$(WITH_JAVA) $(BIN)/python -m kraft_dev bench $(ARGS)

nightly:
	@tools/ensure_venv.sh test
	@$(WITH_MUTATION)
	@$(WITH_SPARK)
	@$(MAKE) --no-print-directory --keep-going night night-tests cross-check

night:
	@$(WITH_JAVA) $(BIN)/python -m kraft_dev nightly $(ARGS)

night-tests:
	@$(WITH_JAVA) KRAFT_SPEC_HYPOTHESIS=nightly $(PYTEST) -m "nightly or not nightly"

cross-check:
	@tools/ensure_venv.sh run
	@$(WITH_CVC5)
	@rm -rf build/cross-check
	$(BIN)/kraft-spec prove theorems --smt2 build/cross-check/theorems >/dev/null
	$(BIN)/kraft-spec prove induction --smt2 build/cross-check/induction >/dev/null
	$(BIN)/kraft-spec prove induction --profile kafka-4 --where-safe --smt2 build/cross-check/own-vote >/dev/null
	$(WITH_JAVA) $(BIN)/kraft-spec prove actions --smt2 build/cross-check/actions >/dev/null
	$(BIN)/python -m kraft_dev.proofs_cross_check build/cross-check/*

docs:
	@tools/ensure_venv.sh run
	@$(WITH_DOCS)
	@echo "docs: writing the pages of rules, scenarios and modules, and building the site in build/docs" >&2
	$(SPHINX) -b html docs build/docs
	@echo "docs: running the examples of the pages" >&2
	$(SPHINX) -b doctest docs build/doctest
	@echo "docs: following every link of the pages in build/docs" >&2
	$(BIN)/python -m tools.site.links build/docs

dev:
	@tools/ensure_venv.sh dev

dist:
	@tools/ensure_venv.sh test
	$(BIN)/python -m build

clean:
	rm -rf build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find reference spec traces conformance tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv
