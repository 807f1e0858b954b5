# Short ways to build and to check; the build itself is described in CMakeLists.txt.
# Folders: build/ the program; build/test, build/sanitize, build/tsan, build/arm64, build/fuzz, build/dist one for each kind of build.

PREFIX       ?= /usr/local
FUZZ_SECONDS ?= 60

configure = cmake -G Ninja -S . -B $(1) >/dev/null
ctest     = ctest --output-on-failure --parallel $(shell nproc)
sources   = $(shell find src include cli examples bench tests -name '*.[ch]')
need      = command -v $(1) >/dev/null || { echo "$(1) is missing: run 'make deps', or install the Debian package $(2)" >&2; exit 1; }

.PHONY: all help deps demo test tsan arm64 interop bench bench-annotate bench-device bench-server bench-reply bench-session bench-lazy bench-page bench-view browser fuzz dist install format check-format clean

all: ## Build build/xlaprof and libxlaprof (default); says which packages are missing
	@$(call need,cmake,cmake)
	@$(call need,ninja,ninja-build)
	@$(call configure,build -DXP_TESTS=OFF)
	@cmake --build build

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

deps: ## Install the Debian packages that building and testing need (with sudo where needed)
	@scripts/install-deps build test

demo: ## Install what is needed, build, and show why the device of a diffusion pipeline waits
	@scripts/install-deps build
	@$(MAKE) --no-print-directory all
	build/xlaprof demo sdxl

test: deps ## Build and run every test, then unit tests, fuzz corpora and commands again with sanitizers
	@$(MAKE) --no-print-directory dist
	@$(call configure,build/test -DXP_WERROR=ON)
	@cmake --build build/test
	@$(call configure,build/sanitize -DXP_WERROR=ON -DXP_SANITIZE=ON)
	@cmake --build build/sanitize
	$(ctest) --test-dir build/sanitize
	$(ctest) --test-dir build/test

tsan: deps ## Run unit tests and commands with the thread sanitizer
	@$(call configure,build/tsan -DXP_TSAN=ON)
	@cmake --build build/tsan
	$(ctest) --test-dir build/tsan --label-exclude fuzz

arm64: ## Build for arm64 with Debian's cross compiler, and run the tests under qemu-user
	scripts/arm64

interop: ## Compare with peers from PyPI and npm, kept in ~/.cache/xlaprof or $XLAPROF_CACHE
	@scripts/install-deps build peers
	@$(MAKE) --no-print-directory all
	@cmake --build build --target interop_programs
	tests/interop/run

browser: ## Try the page of the viewer in Chromium; screenshots go to build/pages
	@scripts/install-deps build browser
	@$(MAKE) --no-print-directory all
	tests/web/run --out build/pages

bench-page: ## Measure the page of the viewer in Chromium, on captures of 3 and 10 million events
	@scripts/install-deps build browser peers
	@$(MAKE) --no-print-directory all
	bench/page

bench: ## Measure against xprof-rs and the decode floor on a capture of 10 million events
	@scripts/install-deps build peers
	@$(MAKE) --no-print-directory all
	@cmake --build build --target floor
	bench/run

bench-server: all ## Measure what clients of the profiler server cost the program that carries it
	bench/server

bench-reply: all ## Measure a capture of 1 GiB over the wire
	@cmake --build build --target load
	bench/reply

bench-view: ## Measure the viewer on captures of 3 and 10 million events, beside xprof-rs's server
	@scripts/install-deps build peers
	@$(MAKE) --no-print-directory all
	bench/view

bench-annotate: ## Measure what an annotation costs, beside the clock's own cost and beside other recorders
	@scripts/install-deps build bench
	@$(call configure,build -DXP_TESTS=OFF)
	@cmake --build build --target annotate
	build/annotate

bench-session: ## Measure the stop and the export of a session of 5 million events
	@$(call configure,build -DXP_TESTS=OFF)
	@cmake --build build --target session
	@dir=$$(mktemp -d) && { build/session 5000000 "$$dir"; rm -rf "$$dir"; }

bench-device: ## Measure the operations of the embedded device
	@scripts/install-deps build bench
	@$(call configure,build -DXP_TESTS=OFF)
	@cmake --build build --target device
	build/device

bench-lazy: ## Measure lazy tensors beside torch_xla, and their device beside XLA's CPU client and numpy
	@scripts/install-deps build peers
	@$(call configure,build -DXP_TESTS=OFF)
	@cmake --build build --target lazy
	bench/lazy

fuzz: ## Fuzz every target with libFuzzer for FUZZ_SECONDS each (default 60)
	@scripts/install-deps build test fuzz
	@CC=clang-14 $(call configure,build/fuzz -DXP_FUZZ=ON)
	@cmake --build build/fuzz
	scripts/fuzz build/fuzz $(FUZZ_SECONDS)

dist: ## Make dist/xlaprof: one stripped program with its libraries linked in
	@$(call need,cmake,cmake)
	@$(call need,ninja,ninja-build)
	@$(call configure,build/dist -DXP_TESTS=OFF -DXP_DIST=ON)
	@cmake --build build/dist --target xlaprof
	@mkdir -p dist
	@cp build/dist/xlaprof dist/xlaprof.new && mv dist/xlaprof.new dist/xlaprof
	scripts/check-dist dist/xlaprof

install: all ## Install program and library under PREFIX (default /usr/local)
	cmake --install build --prefix $(PREFIX)

format: ## Format all C sources
	@scripts/install-deps format
	clang-format-15 -i $(sources)

check-format: ## Fail if a C source is not formatted
	@scripts/install-deps format
	clang-format-15 --dry-run --Werror $(sources)

clean: ## Remove everything that was built
	rm -rf build dist
