/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of unpacked Python packages. */
#ifndef JOBRUN_PACKAGE_H
#define JOBRUN_PACKAGE_H

#include "core/base/error.h"

/*
 * The PYTHONPATH that makes the Python package unpacked in `folder` importable,
 * for instance "F/pkg-1.0/src:F/pkg-1.0".  For a source archive, which has one
 * folder at the top with setup.py, pyproject.toml or PKG-INFO in it, the result
 * is that folder, preceded by its src/ unless src is itself a package.  For a
 * wheel it is the folder itself, and its NAME.data/purelib and platlib.
 * Returns new.
 */
char *package_root(const char *folder, struct error *err);

#endif
