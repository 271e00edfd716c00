#!/usr/bin/env bats
# Data goes one way, and so do the includes: see CONTRIBUTING.md, Layout.

load helper

# Prints the includes of a folder that name none of the folders behind it.
strangers() {
	local folder=$1 allowed=$2
	grep -rnE '^#include "' --include='*.[ch]' \
		"$BATS_TEST_DIRNAME/../../$folder" |
		grep -vE "#include \"($allowed)/" || true
}

@test "core includes nothing but core" {
	[ -z "$(strangers core core)" ]
}

@test "core/base includes nothing else of core" {
	[ -z "$(strangers core/base core/base)" ]
}

@test "what starts an installed jobrun includes only core/base" {
	[ -z "$(strangers start core/base)" ]
}

@test "schema includes only itself and core" {
	[ -z "$(strangers schema 'schema|core')" ]
}

@test "providers include only themselves and core" {
	[ -z "$(strangers providers 'providers|core')" ]
}
