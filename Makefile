# jobrun: one hand-written makefile, no generator.
#
#   make            build ./jobrun
#   make run        install what is missing, build, run the quickstart
#   make check      while working: what needs no server, in two minutes
#   make test       install what is missing, build with sanitizers, test
#   make check-threads   what has threads, with ThreadSanitizer
#   make check-faults    the nth write, malloc ... fails, for every n or many
#   make test-all   before a release: whole enumerations, fuzzing too
#   make help       the rest

# V=1 shows the commands.
Q = $(if $(V),,@)
SAY = @$(if $(V),:,echo)

ifeq ($(origin CC),default)
CC = cc
endif
PKG_CONFIG ?= pkg-config
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBEXECDIR ?= $(PREFIX)/libexec
MANDIR ?= $(PREFIX)/share/man
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
VERSION := $(shell cat VERSION)

# Packagers turn this off with WERROR=
WERROR = -Werror
WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
       -Wformat=2 -Wvla -Wundef -Wwrite-strings

# Linked: what every command may need, and small.  The large libraries
# (libcrypto, libarchive, libcurl) cost milliseconds of start-up each, so
# core/base/library.c opens them at their first use; their headers are needed.
LINKED = yaml-0.1 libcyaml jansson sqlite3
OPENED = libcrypto libarchive libcurl

# A build with other flags has a folder of its own, so that both can stay.
ifdef SAN
BUILD ?= build/san
OPT ?= -O1 -fno-omit-frame-pointer
# Tests start this program tens of thousands of times, so its start is cheap: at
# a fixed address, with the runtime inside, and undefined behaviour ends it at
# once.  UBSAN_SAYS=1 for a build whose message says what it was.
SANFLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	   $(if $(UBSAN_SAYS),,-fsanitize-undefined-trap-on-error)
PIE = -fno-pie
PIE_LINK = -no-pie -static-libasan
BIN ?= $(BUILD)/jobrun
else ifdef TSAN
BUILD ?= build/tsan
OPT ?= -O1 -fno-omit-frame-pointer
SANFLAGS = -fsanitize=thread
CFLAGS ?= -g1
BIN ?= $(BUILD)/jobrun
else
BUILD ?= build/release
OPT ?= -O2 -D_FORTIFY_SOURCE=2
BIN ?= jobrun
endif

CFLAGS ?= -g
PIE ?= -fPIE
PIE_LINK ?= -pie
HARDEN = -fstack-protector-strong -fstack-clash-protection
ALL_CPPFLAGS := -I. -D_GNU_SOURCE -DJOBRUN_VERSION='"$(VERSION)"' \
	       $(shell $(PKG_CONFIG) --cflags $(LINKED) $(OPENED) 2>/dev/null) \
	       $(CPPFLAGS)
ALL_CFLAGS = -std=gnu11 $(OPT) $(WARN) $(WERROR) -pthread $(PIE) \
	     $(HARDEN) $(SANFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(PIE_LINK) -pthread -Wl,-z,relro,-z,now -Wl,--build-id=sha1 $(SANFLAGS) $(LDFLAGS)
LIBS := $(shell $(PKG_CONFIG) --libs $(LINKED) 2>/dev/null) -ldl -lm

# The program takes the linked ones in, where they are there as archives: to
# find and relocate four libraries would be half of its start-up.  STATIC= for
# those who want them shared.
STATIC ?= $(if $(SAN)$(TSAN),,1)
ARCHIVES := $(foreach lib,cyaml yaml jansson sqlite3,\
	    $(shell $(CC) -print-file-name=lib$(lib).a))
ifeq ($(STATIC)$(filter-out /%,$(ARCHIVES)),1)
BIN_LIBS = $(ARCHIVES) -lm -ldl
else
BIN_LIBS = $(LIBS)
endif

# Every .c file of these folders is part of the program.
LIB_SRC := $(wildcard core/*/*.c schema/*/*.c providers/*.c providers/*/*.c \
	   providers/*/*/*.c)
LIB_SRC := $(filter-out schema/generate/%,$(LIB_SRC))
CMD_SRC := $(wildcard cmd/jobrun/*.c cmd/jobrun/*/*.c)
UNIT_SRC := $(wildcard tests/unit/*.c)
# What several of them share.
SUPPORT_SRC := $(wildcard tests/support/*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
# The catalogue is YAML in the tree and tables of C in the program.
CATALOGUE := $(sort $(wildcard schema/catalogue/*.yaml))
CATALOGUE_C = $(BUILD)/schema/catalogue/catalogue_shipped.c
GENERATE = $(BUILD)/schema/generate/catalogue
# So are the rules.
RULES := $(sort $(wildcard schema/rules/*.yaml))
RULES_C = $(BUILD)/schema/rules/rules_shipped.c
GENERATE_RULES = $(BUILD)/schema/generate/rules

# What 'jobrun init' writes is an example; 'jobrun completion' prints what
# 'make install' installs.
STARTER := README.md .gitignore .github/workflows/jobrun.yml .gitlab-ci.yml \
	   ci/.gitignore ci/apply.sh ci/comment.sh ci/forge.sh \
	   ci/install.sh ci/plan.sh ci/reviewed.sh ci/settings.sh \
	   hello/train.py jobs/hello.yaml
COMPLETION := bash zsh fish
# And what the pages have in them that 'jobrun report' writes.
PAGE := script.js style.css
EMBEDDED_C := $(addprefix $(BUILD)/cmd/jobrun/,starter_files.c completion_files.c page_files.c)

LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o) $(CATALOGUE_C:.c=.o) $(RULES_C:.c=.o)

# For whom it is built, and what starts such programs here if that is another
# architecture.
MACHINE ?= $(shell uname -m)
RUN ?=

# Small programs for other machines: static, with musl where that is there, and
# at an address that changes with each start.  Debian's musl-gcc knows no
# -static-pie, so the object that relocates the program is named here.
STATIC_CC ?= $(if $(shell command -v musl-gcc),musl-gcc,$(CC))
MUSL_START := $(if $(findstring musl,$(STATIC_CC)),\
	      $(wildcard /usr/lib/$(shell uname -m)-linux-musl/rcrt1.o))
STATIC_CFLAGS = -Os -ffunction-sections -fdata-sections -fPIE $(HARDEN)
STATIC_LDFLAGS = -s -Wl,--gc-sections,-z,relro,-z,now \
		 $(if $(MUSL_START),-static -nostartfiles $(MUSL_START) \
		 -Wl$(comma)-pie$(comma)--no-dynamic-linker$(comma)-z$(comma)text,\
		 $(if $(findstring musl,$(STATIC_CC)),-static,-static-pie))
comma := ,

# The agent for other machines is a program of its own, and a part of the
# other.  It must run on whatever Linux there is, so it is static; with musl
# it is also small.  Where the program has sanitizers, so has the agent.
HOST_SRC := $(wildcard cmd/jobrun-host/*.c) \
	    $(addprefix core/base/,alloc.c buf.c clock.c environment.c error.c file.c \
			file_watch.c library.c loop.c text.c units.c) \
	    $(addprefix core/process/,ports.c process.c reaper.c reserve.c \
			subprocess.c task.c) \
	    $(addprefix core/device/,amd.c amd_smi.c choice.c device.c device_queue.c device_text.c lease.c \
			look.c nvidia.c nvml.c ticket.c) \
	    $(addprefix core/ssh/,agent_archive.c protocol.c) \
	    core/container/container.c \
	    $(addprefix core/enter/,enter.c inside.c port.c)
HOST_OBJ := $(HOST_SRC:%.c=$(BUILD)/agent/%.o)
AGENT = $(BUILD)/cmd/jobrun-host/jobrun-host
ifdef SAN
HOST_CC = $(CC)
HOST_CFLAGS = $(OPT) $(PIE) $(SANFLAGS)
HOST_LDFLAGS = $(PIE_LINK) -Wl,-z,relro,-z,now $(SANFLAGS)
else
HOST_CC = $(STATIC_CC)
HOST_CFLAGS = $(STATIC_CFLAGS)
HOST_LDFLAGS = $(STATIC_LDFLAGS)
endif

# What starts an installed jobrun, in whatever image; also a part of it.
START_SRC := $(wildcard cmd/jobrun-start/*.c)
START_OBJ := $(START_SRC:%.c=$(BUILD)/%.o)
START = $(BUILD)/cmd/jobrun-start/jobrun-start

CMD_OBJ := $(CMD_SRC:%.c=$(BUILD)/%.o) $(EMBEDDED_C:.c=.o)
UNIT_BIN := $(UNIT_SRC:%.c=$(BUILD)/%)
SUPPORT_OBJ := $(SUPPORT_SRC:%.c=$(BUILD)/%.o)
FUZZ_BIN := $(FUZZ_SRC:%.c=$(BUILD)/%)

.PHONY: all
all: $(BIN)

$(BIN): $(CMD_OBJ) $(BUILD)/libjobrun.a
	$(SAY) "  LINK $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(CMD_OBJ) $(BUILD)/libjobrun.a \
		$(BIN_LIBS)

$(BUILD)/agent/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(SAY) "  CC   $@"
	$(Q)$(HOST_CC) -I. -D_GNU_SOURCE -std=gnu11 $(WARN) $(WERROR) \
		$(HOST_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(AGENT): $(HOST_OBJ)
	@mkdir -p $(@D)
	$(SAY) "  LINK $@"
	$(Q)$(HOST_CC) $(HOST_LDFLAGS) -o $@ $(HOST_OBJ)

# With the agent in it, and the name by which hosts know that.
$(BUILD)/core/ssh/agent_program.o: core/ssh/agent_program.c $(AGENT) Makefile
	@mkdir -p $(@D)
	$(SAY) "  CC   $@"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $< \
		-DAGENT_FILE='"$(AGENT)"' \
		-DAGENT_DIGEST="\"$$(sha256sum $(AGENT) | cut -c -32)\"" \
		-DAGENT_ARCHITECTURE='"$(MACHINE)"'

$(START_OBJ): $(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(SAY) "  CC   $@"
	$(Q)$(STATIC_CC) -I. -D_GNU_SOURCE -std=gnu11 $(WARN) $(WERROR) \
		$(STATIC_CFLAGS) -MMD -MP -c -o $@ $<

$(START): $(START_OBJ)
	$(SAY) "  LINK $@"
	$(Q)$(STATIC_CC) $(STATIC_LDFLAGS) -o $@ $(START_OBJ)

$(BUILD)/core/spec/install_start.o: core/spec/install_start.c $(START) Makefile
	@mkdir -p $(@D)
	$(SAY) "  CC   $@"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $< \
		-DSTART_FILE='"$(START)"'

$(BUILD)/libjobrun.a: $(LIB_OBJ)
	@rm -f $@
	@$(AR) rcs $@ $(LIB_OBJ)

$(BUILD)/%.o: %.c Makefile VERSION
	@mkdir -p $(@D)
	$(SAY) "  CC   $@"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

GENERATE_OBJ := $(GENERATE).o $(BUILD)/schema/catalogue/catalogue_read.o $(BUILD)/schema/catalogue/shipped.o \
		$(BUILD)/schema/catalogue/prices.o $(BUILD)/schema/catalogue/catalogue_check.o $(BUILD)/core/job/catalogue.o \
		$(BUILD)/schema/catalogue/cubes.o $(patsubst %.c,$(BUILD)/%.o,$(wildcard core/base/*.c))
$(GENERATE): $(GENERATE_OBJ)
	$(SAY) "  LINK $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(CATALOGUE_C): $(GENERATE) $(CATALOGUE)
	$(SAY) "  GEN  $@"
	$(Q)cat $(CATALOGUE) | ASAN_OPTIONS=detect_leaks=0 $(RUN) $(GENERATE) >$@.new
	@mv $@.new $@

GENERATE_RULES_OBJ := $(GENERATE_RULES).o $(BUILD)/schema/problem/problem.o \
	$(patsubst %.c,$(BUILD)/%.o,$(addprefix schema/read/,node_map.c node_reader.c syntax.c yaml_read.c) \
		$(wildcard core/base/*.c schema/yaml/*.c) core/job/message.c)
$(GENERATE_RULES): $(GENERATE_RULES_OBJ)
	$(SAY) "  LINK $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(RULES_C): $(GENERATE_RULES) $(RULES)
	@mkdir -p $(@D)
	$(SAY) "  GEN  $@"
	$(Q)ASAN_OPTIONS=detect_leaks=0 $(RUN) $(GENERATE_RULES) $(RULES) >$@.new
	@mv $@.new $@

$(BUILD)/cmd/jobrun/starter_files.c: $(STARTER:%=examples/gitops/%) cmd/jobrun/generate/embed
	@mkdir -p $(@D)
	$(SAY) "  GEN  $@"
	$(Q)cmd/jobrun/generate/embed starter_files examples/gitops $(STARTER) >$@.new
	@mv $@.new $@

$(BUILD)/cmd/jobrun/completion_files.c: $(COMPLETION:%=cmd/jobrun/completion/%) \
		cmd/jobrun/generate/embed
	@mkdir -p $(@D)
	$(SAY) "  GEN  $@"
	$(Q)cmd/jobrun/generate/embed completion_files cmd/jobrun/completion $(COMPLETION) >$@.new
	@mv $@.new $@

$(BUILD)/cmd/jobrun/page_files.c: $(PAGE:%=cmd/jobrun/page/%) cmd/jobrun/generate/embed
	@mkdir -p $(@D)
	$(SAY) "  GEN  $@"
	$(Q)cmd/jobrun/generate/embed page_files cmd/jobrun/page $(PAGE) >$@.new
	@mv $@.new $@

$(EMBEDDED_C:.c=.o): %.o: %.c cmd/jobrun/ui/embedded.h
	$(SAY) "  CC   $@"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(CATALOGUE_C:.c=.o) $(RULES_C:.c=.o): %.o: %.c
	$(SAY) "  CC   $@"
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(UNIT_BIN): $(BUILD)/%: $(BUILD)/%.o $(SUPPORT_OBJ) $(BUILD)/libjobrun.a
	$(SAY) "  LINK $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) $(shell $(PKG_CONFIG) --libs cmocka)

$(FUZZ_BIN:%=%-replay): $(BUILD)/%-replay: $(BUILD)/%.o \
		$(BUILD)/tests/fuzz/replay.o $(BUILD)/libjobrun.a
	$(SAY) "  LINK $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

-include $(HOST_OBJ:.o=.d) $(START_OBJ:.o=.d) $(LIB_OBJ:.o=.d) $(GENERATE).d $(GENERATE_RULES).d $(RULES_C:.c=.d) $(CMD_OBJ:.o=.d) $(UNIT_BIN:=.d) $(SUPPORT_OBJ:.o=.d) $(FUZZ_BIN:=.d)

# ---- what a machine needs ------------------------------------------------
# From the distribution.  Installs what is missing, and nothing if nothing is.
BUILD_PACKAGES = gcc make pkg-config libc6-dev libyaml-dev libcyaml-dev \
		 libjansson-dev libsqlite3-dev libssl-dev libarchive-dev \
		 libcurl4-openssl-dev musl-tools ca-certificates
RUN_PACKAGES = python3 python3-torch python3-numpy openssh-client
TEST_PACKAGES = libcmocka-dev bats parallel valgrind procps groff-base python3-numpy \
		python3-yaml python3-jsonschema python3-cryptography openssl curl \
		openssh-server openssh-client git jq unzip zsh nginx libarchive-tools strace \
		slurmctld slurmd slurm-client munge pmccabe clang-format \
		podman crun charliecloud busybox-static
# For `make static`, and for another architecture.
STATIC_PACKAGES = musl-tools gcc make dpkg-dev patch perl tcl gzip xz-utils bzip2 \
		  gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
		  qemu-user-static
PACKAGES ?= $(if $(STATIC_BUILD),$(STATIC_PACKAGES)) $(BUILD_PACKAGES) $(RUN_PACKAGES) $(TEST_PACKAGES)

.PHONY: deps
deps:
	@set -eu; \
	if ! command -v dpkg-query >/dev/null; then \
		echo "This is not Debian or Ubuntu. Install what they call:"; \
		echo "  $(PACKAGES)"; \
		exit 0; \
	fi; \
	missing=; \
	for package in $(sort $(PACKAGES)); do \
		dpkg-query -W -f '$${db:Status-Status}' $$package 2>/dev/null | \
			grep -qx installed || missing="$$missing $$package"; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ]; then as_root=; \
	elif command -v sudo >/dev/null; then as_root=sudo; \
	else \
		echo "As root: apt-get install$$missing"; exit 1; \
	fi; \
	echo "installing:$$missing"; \
	export DEBIAN_FRONTEND=noninteractive; \
	$$as_root apt-get update -qq; \
	$$as_root apt-get install -qq -y --no-install-recommends $$missing \
		>/dev/null

# ---- running -------------------------------------------------------------
.PHONY: run
run:
	@$(MAKE) --no-print-directory deps \
		PACKAGES="$(BUILD_PACKAGES) $(RUN_PACKAGES)"
	@$(MAKE) --no-print-directory -s all
	./$(BIN) apply --rerun examples/quickstart/job.yaml

# ---- testing -------------------------------------------------------------
# Three tiers, see CONTRIBUTING.  All cores build; tests/run has four tests a
# core side by side, as most of them wait, and two while the cores are busy.
JOBS ?= $(shell nproc)
TEST_JOBS ?= $(shell echo $$((4 * $(JOBS))))
RUN_TESTS = JOBRUN=$(abspath $(BIN)) tests/run --jobs $(TEST_JOBS)
BATS := $(wildcard tests/cli/*.bats)
# A stand-in is a server; a bats file that has one says "file_tags=server".
SERVER_TESTS := $(shell grep -lE 'support/(stand_in|kube_test)\.h' $(UNIT_SRC) </dev/null)
# Half a minute each, and nothing that a change is likely to break unseen.
SLOW_TESTS = kill stream store cache
# What takes minutes: only before a release.
HOUSE_ALL := $(wildcard tests/house/copied-provider tests/house/without-provider \
	     tests/house/all.d/*)

.PHONY: test test-all build-tests
test:
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory -j$(JOBS) build-valgrind
	@$(MAKE) --no-print-directory -j$(JOBS) TSAN=1 build-threads
	@$(MAKE) --no-print-directory -j$(JOBS) SAN=1 build-tests
	@$(MAKE) --no-print-directory SAN=1 check-all

test-all:
	@JOBRUN_TEST_ALL=1 $(MAKE) --no-print-directory test TEST_MORE="$(HOUSE_ALL)"
	@$(MAKE) --no-print-directory soak
	@if command -v clang >/dev/null; then set -e; \
		for parser in $(FUZZ_SRC:tests/fuzz/fuzz_%.c=%); do \
			$(MAKE) --no-print-directory fuzz FUZZ=$$parser; \
		done; \
	else echo "skipped: fuzzing: needs clang"; fi
	@JOBRUN=$(CURDIR)/jobrun tests/soak/hosts $(SOAK_ROUNDS)

SOAK_ROUNDS ?= 300

build-tests: $(BIN) $(UNIT_BIN) $(FUZZ_BIN:%=%-replay)

# What has threads, with ThreadSanitizer; `make test` runs what takes seconds.
THREADS_FEW = executor http object_store shard stream_fifos
THREADS = $(THREADS_FEW) cache executor_fake log_uploader schema store stream
THREADS_BUILD ?= build/tsan
THREADS_ENV = JOBRUN_THREADS=$(abspath $(THREADS_BUILD)/jobrun) \
	      TSAN_OPTIONS="die_after_fork=0 suppressions=$(CURDIR)/tests/threads.supp"
THREADS_RUNS = $(patsubst %,$(THREADS_BUILD)/tests/unit/test_%,\
	       $(if $(JOBRUN_TEST_ALL),$(THREADS),$(THREADS_FEW)))
.PHONY: build-threads check-threads
build-threads: $(THREADS_BUILD)/jobrun $(THREADS_RUNS)

check-threads:
	@$(MAKE) --no-print-directory -j$(JOBS) TSAN=1 JOBRUN_TEST_ALL=1 build-threads
	@$(THREADS_ENV) $(RUN_TESTS) tests/cli/threads.bats \
		$(THREADS:%=$(THREADS_BUILD)/tests/unit/test_%)

# The nth call of the system fails, in a plain build: sanitizers have a malloc
# of their own.  `make check-faults FAULTS="--only apply:malloc --step 1"`
INJECT = $(FAULTS_BUILD)/tests/faults/inject.so
FAULTS_BUILD ?= build/release
FAULTS ?=
FAULTS_ENV = FAULTS_JOBRUN=$(abspath jobrun) INJECT=$(abspath $(INJECT))
$(INJECT): tests/faults/inject.c
	@mkdir -p $(@D)
	$(SAY) "  LINK $@"
	$(Q)$(CC) -D_GNU_SOURCE -std=gnu11 -O1 -Wall -fPIC -shared -o $@ $< -ldl

.PHONY: check-faults
check-faults: build-valgrind
	@$(FAULTS_ENV) JOBRUN_TEST_ALL=1 tests/faults/check $(FAULTS)

# Before a release, half an hour: SOAK="--runs 1000 --kills 50" for less.
SOAK ?=
.PHONY: soak
soak: $(BIN)
	@JOBRUN=$(abspath $(BIN)) tests/soak/runs $(SOAK)

VALGRIND = valgrind -q --error-exitcode=99 --leak-check=full \
	   --errors-for-leak-kinds=definite,indirect
VALGRIND_TESTS = schema plan job archive tree
VALGRIND_BUILD ?= build/release
VALGRIND_RUNS = $(VALGRIND_TESTS:%=valgrind:$(VALGRIND_BUILD)/tests/unit/test_%) \
		valgrind:tests/cli/valgrind.bats
.PHONY: build-valgrind
build-valgrind: $(BIN) $(INJECT) $(VALGRIND_TESTS:%=$(BUILD)/tests/unit/test_%)

# LeakSanitizer needs ptrace; where that is forbidden it says so by itself.
.PHONY: check check-all check-unit check-fuzz check-cli check-valgrind
check:
	@$(MAKE) --no-print-directory -j$(JOBS) build-tests
	@$(RUN_TESTS) --without server --without slow \
		$(filter-out $(SERVER_TESTS:%.c=$(BUILD)/%) $(SLOW_TESTS:%=$(BUILD)/tests/unit/test_%),$(UNIT_BIN)) \
		$(FUZZ_BIN:%=%-replay) $(filter-out %/valgrind.bats,$(BATS))

# Both builds are there: what `make test` runs, all in one queue.
check-all: build-tests
	@$(THREADS_ENV) $(FAULTS_ENV) $(RUN_TESTS) tests/faults/check $(UNIT_BIN) $(FUZZ_BIN:%=%-replay) \
		$(filter-out %/valgrind.bats,$(BATS)) \
		$(VALGRIND_RUNS) $(THREADS_RUNS) $(TEST_MORE)

check-unit: $(UNIT_BIN)
	@$(RUN_TESTS) $(UNIT_BIN)

check-fuzz: $(FUZZ_BIN:%=%-replay)
	@$(RUN_TESTS) $(FUZZ_BIN:%=%-replay)

check-cli: $(BIN)
	@$(RUN_TESTS) $(filter-out %/valgrind.bats,$(BATS))

check-valgrind: build-valgrind
	@$(RUN_TESTS) $(VALGRIND_RUNS)

check-all check-valgrind: export VALGRIND_TOOL = $(VALGRIND)
check-all check-valgrind: export VALGRIND_JOBRUN = $(abspath jobrun)

# Coverage-guided, as long as it is let: `make fuzz` lists what there is, with
# FUZZ=job one of them runs.
SECONDS ?= 600
.PHONY: fuzz
fuzz:
ifndef FUZZ
	@echo "make fuzz FUZZ=NAME [SECONDS=$(SECONDS)], NAME is one of:"
	@for name in $(FUZZ_SRC:tests/fuzz/fuzz_%.c=%); do \
		printf '  %-12s' $$name; \
		sed -n 2,6p tests/fuzz/fuzz_$$name.c | tr -d '\n/*' | \
			tr -s ' \t' ' ' | sed 's/:.*//; s/^ //; s/$$/\n/'; \
	done
else
	$(MAKE) CC=clang BUILD=build/fuzz OPT="-O1 -fno-omit-frame-pointer" \
		SANFLAGS="-fsanitize=address,undefined,fuzzer-no-link" \
		build/fuzz/libjobrun.a build/fuzz/tests/fuzz/fuzz_$(FUZZ).o
	clang -fsanitize=address,undefined,fuzzer -pthread \
		-o build/fuzz/fuzz_$(FUZZ) build/fuzz/tests/fuzz/fuzz_$(FUZZ).o \
		build/fuzz/libjobrun.a $(LIBS)
	mkdir -p build/fuzz/corpus-$(FUZZ)
	build/fuzz/fuzz_$(FUZZ) -max_total_time=$(SECONDS) -timeout=10 \
		-rss_limit_mb=1024 build/fuzz/corpus-$(FUZZ) \
		tests/fuzz/corpus/$(FUZZ)
endif

# What reading YAML costs at least.
YAML_EVENTS = $(BUILD)/tests/bench/yaml_events
$(YAML_EVENTS): $(YAML_EVENTS).o
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(shell $(PKG_CONFIG) --libs yaml-0.1)

# A task that writes, and the least that a multiplexer of lines can do.
BENCH_LINES = $(BUILD)/tests/bench/lines
BENCH_PREFIX = $(BUILD)/tests/bench/prefix
$(BENCH_LINES) $(BENCH_PREFIX): %: %.o
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $<

# The HTTP client alone.
BENCH_NET = $(BUILD)/tests/bench/net
$(BENCH_NET): $(BENCH_NET).o $(BUILD)/libjobrun.a
	$(SAY) "  LINK $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# A loader and a model.
BENCH_LOADER = $(BUILD)/tests/bench/loader
$(BENCH_LOADER): $(BENCH_LOADER).o $(BUILD)/libjobrun.a
	$(SAY) "  LINK $@"
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# A long link, and the most that libcurl can do.
BENCH_RELAY = $(BUILD)/tests/bench/relay
BENCH_PARALLEL = $(BUILD)/tests/bench/parallel
$(BENCH_RELAY): %: %.o
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $<
$(BENCH_PARALLEL): %: %.o
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< $(shell $(PKG_CONFIG) --libs libcurl)

.PHONY: bench
bench: all $(YAML_EVENTS) $(BENCH_LINES) $(BENCH_PREFIX) $(BENCH_NET) \
		$(BENCH_RELAY) $(BENCH_PARALLEL) $(BENCH_LOADER)
	JOBRUN=$(abspath $(BIN)) YAML_EVENTS=$(abspath $(YAML_EVENTS)) \
		BENCH_LINES=$(abspath $(BENCH_LINES)) \
		BENCH_PREFIX=$(abspath $(BENCH_PREFIX)) \
		BENCH_NET=$(abspath $(BENCH_NET)) \
		BENCH_RELAY=$(abspath $(BENCH_RELAY)) \
		BENCH_PARALLEL=$(abspath $(BENCH_PARALLEL)) \
		BENCH_LOADER=$(abspath $(BENCH_LOADER)) \
		tests/bench/run $(BENCH)

# ---- an image ----------------------------------------------------------------
# jobrun and nothing else, for jobrun.kubernetes.launcher: an archive that
# podman, skopeo, docker and crane take.
IMAGE ?= $(BUILD)/jobrun-image.tar
.PHONY: image
image: $(BIN)
	$(SAY) "  IMAGE $(IMAGE)"
	$(Q)packaging/image/oci-archive $(abspath $(BIN)) $(IMAGE)

# ---- packages ----------------------------------------------------------------
# The same sources give the same bytes, wherever, whenever and by whomever they
# are built: nothing of the folder is in them, and their time is the commit's.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 0)
DIST ?= build/jobrun-$(VERSION).tar.gz
DEB ?= build/jobrun_$(VERSION)_$(shell dpkg --print-architecture 2>/dev/null).deb
DEB_ROOT = build/deb/root
.PHONY: dist deb
dist:
	@mkdir -p $(dir $(DIST))
	$(SAY) "  DIST $(DIST)"
	$(Q)git archive --format=tar --prefix=jobrun-$(VERSION)/ HEAD | gzip -9n >$(DIST)

# Distributions want their own libraries shared.
deb:
	$(Q)rm -rf $(DEB_ROOT)
	$(Q)$(MAKE) --no-print-directory -j$(JOBS) BUILD=build/deb BIN=build/deb/jobrun STATIC= \
		CFLAGS="-g -ffile-prefix-map=$(CURDIR)=." PREFIX=/usr DESTDIR=$(CURDIR)/$(DEB_ROOT) \
		ZSHDIR=/usr/share/zsh/vendor-completions install >/dev/null
	$(SAY) "  DEB  $(DEB)"
	$(Q)SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) packaging/deb/build $(DEB_ROOT) $(DEB)

# One file that runs anywhere, with all libraries inside: the first time takes a
# quarter of an hour, as it builds them.  MACHINE=aarch64 for another
# architecture, with its cross compiler and RUN=qemu-aarch64-static.
STATIC_FILE ?= build/jobrun-$(VERSION)-$(MACHINE)
.PHONY: static
static:
	$(Q)SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) JOBS=$(JOBS) RUN=$(RUN) \
		packaging/static/build build/static $(STATIC_FILE) $(MACHINE)

# The agent for hosts of another architecture, with musl: 'make install' puts it
# where jobrun looks for it.
AGENT_FILE ?= build/jobrun-host-$(MACHINE)
.PHONY: agent
agent:
	$(Q)packaging/static/libraries build/static $(MACHINE) compiler
	$(Q)PATH=$(CURDIR)/build/static/$(MACHINE)/bin:$$PATH $(MAKE) --no-print-directory -j$(JOBS) \
		BUILD=build/agent-$(MACHINE) STATIC_CC=jobrun-cc CFLAGS=-ffile-prefix-map=$(CURDIR)=. \
		build/agent-$(MACHINE)/cmd/jobrun-host/jobrun-host
	$(Q)cp build/agent-$(MACHINE)/cmd/jobrun-host/jobrun-host $(AGENT_FILE)

# ---- the rest --------------------------------------------------------------
.PHONY: install uninstall format clean help
# The manual pages of job files and of providers get their fields from the
# program: jobrun-slurm.7 what 'jobrun explain' prints for 'slurm'.
FIELD_PAGES := $(notdir $(shell grep -l "BEGIN FIELDS" man/*.[57]))
$(FIELD_PAGES:%=$(BUILD)/man/%): $(BUILD)/man/%: man/% $(BIN)
	@mkdir -p $(@D)
	@$(abspath $(BIN)) explain --format man $(if $(filter %.7,$*),$(patsubst jobrun-%.7,%,$*)) >$@.fields
	@sed -e '/^\.\\" BEGIN FIELDS/,/^\.\\" END FIELDS/{' \
		-e '/BEGIN FIELDS/r $@.fields' -e 'd;}' $< >$@
	@rm $@.fields

install: all $(FIELD_PAGES:%=$(BUILD)/man/%)
	install -D -m 755 $(BIN) $(DESTDIR)$(BINDIR)/jobrun
	for agent in $(wildcard build/jobrun-host-*); do \
		install -D -m 755 $$agent $(DESTDIR)$(LIBEXECDIR)/jobrun/$${agent##*/}; done
	for section in 1 5 7; do \
		install -d $(DESTDIR)$(MANDIR)/man$$section && \
		install -m 644 $$(for page in man/*.$$section; do \
			[ -e $(BUILD)/$$page ] && echo $(BUILD)/$$page || echo $$page; done) \
			$(DESTDIR)$(MANDIR)/man$$section || exit; done
	install -D -m 644 cmd/jobrun/completion/bash $(DESTDIR)$(BASHDIR)/jobrun
	install -D -m 644 cmd/jobrun/completion/zsh $(DESTDIR)$(ZSHDIR)/_jobrun
	install -D -m 644 cmd/jobrun/completion/fish $(DESTDIR)$(FISHDIR)/jobrun.fish

uninstall:
	rm -rf $(DESTDIR)$(LIBEXECDIR)/jobrun
	rm -f $(DESTDIR)$(BINDIR)/jobrun $(DESTDIR)$(BASHDIR)/jobrun \
		$(DESTDIR)$(ZSHDIR)/_jobrun $(DESTDIR)$(FISHDIR)/jobrun.fish
	cd man && for page in *.[157]; do \
		rm -f "$(DESTDIR)$(MANDIR)/man$${page##*.}/$$page"; done

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf build jobrun

help:
	@sed -n '/^#   make/s/^#//p' Makefile
	@echo "   make bench      measure against the tools one would use instead"
	@echo "                   (GNU parallel, concurrently ... if installed); BENCH=output"
	@echo "   make deps       install what is missing"
	@echo "   make fuzz       list the parsers to fuzz; FUZZ=job SECONDS=600 does it"
	@echo "   make soak       thousands of short runs, and kill -9 at random"
	@echo "   make image      jobrun as a container image, an OCI archive"
	@echo "   make deb        a package for Debian; make dist: the sources"
	@echo "   make static     one file that runs on any Linux, with all libraries"
	@echo "   make install    into PREFIX ($(PREFIX)), below DESTDIR"
	@echo "   make format, make clean"
