# make run    set up and show a live ladder (the demo day; Ctrl-C ends it)
# make test   set up and run every check and test
# make check  format, lint, types, import contracts, generated files, dependencies
# make bench  the speed table (make bench ONLY=name for one row)
# make test-clients  the canary's word against the vendors' real clients (npm; minutes; not in CI)
# make gate-report FILE=path.jsonl  how well the gate does on labelled questions (POLICY=path.toml for your own rows)
# make gate-train  learn the gate's hints afresh from the labelled questions (ARGS=--evaluate: only show how they do)
# make clean  remove everything that was made

SHELL := /bin/sh
BIN := .venv/bin
export PATH := $(CURDIR)/.tools/bin:$(PATH)
PACKAGES := decide exporters canary dashboards
LISTEN ?= 127.0.0.1:9477
# one more than there are processors: the demo's day takes its six minutes waiting
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

.PHONY: run test check generate bench test-clients gate-report gate-train clean
.DEFAULT_GOAL := test

.venv/.run-ready: pyproject.toml constraints.txt scripts/setup
	@scripts/setup run
	@touch $@

.venv/.test-ready: pyproject.toml constraints.txt scripts/setup scripts/services
	@scripts/setup test
	@scripts/services
	@touch .venv/.run-ready $@

run: .venv/.run-ready
	@$(BIN)/rungwatch serve --demo --listen $(LISTEN)

test: check
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

check: .venv/.test-ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m scripts.generate --check
	$(BIN)/deptry .
	$(BIN)/python -m scripts.audit

generate: .venv/.test-ready
	$(BIN)/python -m scripts.generate

bench: .venv/.test-ready
	$(BIN)/python -m tests.bench $(if $(ONLY),--only $(ONLY))

test-clients: .venv/.test-ready
	$(BIN)/python -m tests.clients $(ARGS)

gate-report: .venv/.test-ready
	@$(BIN)/python -m scripts.gate_report "$(FILE)" $(if $(POLICY),"$(POLICY)")

gate-train: .venv/.test-ready
	@$(BIN)/python -m scripts.gate_train $(ARGS)

clean:
	rm -rf test-output .venv .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist *.egg-info bench.json
	find $(PACKAGES) tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
