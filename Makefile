# jobrun: one hand-written makefile, no generator.
#
#   make            build ./jobrun
#   make run        install what is missing, build, run the quickstart
#   make test       install what is missing, build with sanitizers, test
#   make help       the rest

CC ?= cc
PKG_CONFIG ?= pkg-config
PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
VERSION := $(shell cat VERSION)

# Packagers turn this off with WERROR=
WERROR = -Werror
WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
       -Wformat=2 -Wvla -Wundef -Wwrite-strings

# Linked: what every command may need, and small.  The large libraries
# (libcrypto, libarchive, libcurl) cost milliseconds of start-up each, so
# core/base/library.c opens them at their first use; their headers are needed.
LINKED = yaml-0.1 libcyaml jansson sqlite3
OPENED = libcrypto libarchive

# A build with other flags has a folder of its own, so that both can stay.
ifdef SAN
BUILD ?= build/san
OPT ?= -O1 -fno-omit-frame-pointer
SANFLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined
BIN ?= $(BUILD)/jobrun
else
BUILD ?= build/release
OPT ?= -O2 -D_FORTIFY_SOURCE=2
BIN ?= jobrun
endif

CFLAGS ?= -g
ALL_CPPFLAGS = -I. -D_GNU_SOURCE -DJOBRUN_VERSION='"$(VERSION)"' \
	       $(shell $(PKG_CONFIG) --cflags $(LINKED) $(OPENED) 2>/dev/null) \
	       $(CPPFLAGS)
ALL_CFLAGS = -std=gnu11 $(OPT) $(WARN) $(WERROR) -pthread -fPIE \
	     -fstack-protector-strong $(SANFLAGS) $(CFLAGS)
ALL_LDFLAGS = -pie -pthread -Wl,-z,relro $(SANFLAGS) $(LDFLAGS)
LIBS = $(shell $(PKG_CONFIG) --libs $(LINKED) 2>/dev/null) -ldl

# Every .c file of these folders is part of the program.
LIB_SRC := $(wildcard core/*.c core/*/*.c schema/*.c providers/*.c providers/*/*.c)
CMD_SRC := $(wildcard cmd/*.c)
UNIT_SRC := $(wildcard tests/unit/*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
# Files that we ship as data are linked in as they are.
DATA := $(wildcard schema/*.yaml)

LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o) $(DATA:%=$(BUILD)/%.o)
CMD_OBJ := $(CMD_SRC:%.c=$(BUILD)/%.o)
UNIT_BIN := $(UNIT_SRC:%.c=$(BUILD)/%)
FUZZ_BIN := $(FUZZ_SRC:%.c=$(BUILD)/%)

.PHONY: all
all: $(BIN)

$(BIN): $(CMD_OBJ) $(BUILD)/libjobrun.a
	$(CC) $(ALL_LDFLAGS) -o $@ $(CMD_OBJ) $(BUILD)/libjobrun.a $(LIBS)

$(BUILD)/libjobrun.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $(LIB_OBJ)

$(BUILD)/%.o: %.c Makefile VERSION
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# schema/catalogue.yaml becomes the bytes between catalogue_yaml and
# catalogue_yaml_end.
$(BUILD)/%.yaml.o: %.yaml Makefile
	@mkdir -p $(@D)
	@printf '%s\n' '.section .rodata' \
		'.global $(notdir $*)_yaml, $(notdir $*)_yaml_end' \
		'$(notdir $*)_yaml:' '.incbin "$<"' \
		'$(notdir $*)_yaml_end: .byte 0' \
		'.section .note.GNU-stack,"",%progbits' >$(BUILD)/$*.s
	$(CC) -c -o $@ $(BUILD)/$*.s

$(UNIT_BIN): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libjobrun.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) $(shell $(PKG_CONFIG) --libs cmocka)

-include $(LIB_OBJ:.o=.d) $(CMD_OBJ:.o=.d) $(UNIT_BIN:=.d)
