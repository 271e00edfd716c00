/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes source distributions of Python packages, without Python, as `gcloud
 * ai-platform jobs submit training --package-path DIR --module-name M` did
 * before it uploaded a folder.
 *
 * A folder with setup.py or pyproject.toml is packed as it is.  A package (a
 * folder with __init__.py) is packed with its parent if that has one of these
 * files, as gcloud did.  Any other package or folder of Python files gets a
 * generated setup.py. setup.py is never run: all files go in except build
 * output and files that are not part of a source (core/data/tree.h).
 *
 * Equal contents give identical archives.
 */
#ifndef JOBRUN_SDIST_H
#define JOBRUN_SDIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/data/source_rules.h"

struct sdist {
	const char *path;     /* "dist/trainer-0123456789ab.tar.gz" */
	const char *root;     /* the folder that was packed */
	struct digest digest; /* SHA-256 of the archive */
	uint64_t size_bytes;  /* of the archive */
	uint32_t crc32c;      /* of the archive */
	size_t files;         /* files in the archive */
	uint64_t bytes;       /* bytes in these files */
	bool made_setup;      /* we generated setup.py */
	const char *secrets;  /* files that are likely to be secrets, or NULL */
};

/*
 * Packs `folder` into the folder `to`, which is made if missing; the archive
 * appears complete or not at all.  `module`, if not NULL, must be one that
 * `python3 -m` finds in it ("trainer.task").  `options` may be NULL; its `also`
 * is ignored.  Strings live in `mem`.
 */
int sdist_make(const char *folder, const struct source_options *options,
	       const char *module, const char *to, struct arena *mem,
	       struct sdist *out, struct error *err);

#endif
