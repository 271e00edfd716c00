/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sample a file belongs to, by its path.  As in WebDataset, that is the
 * path up to the first dot of the base name: "a/1.jpg" and "a/1.cls" are of the
 * sample "a/1".
 */
#ifndef JOBRUN_SAMPLE_KEY_H
#define JOBRUN_SAMPLE_KEY_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the key in a path; 0 if WebDataset would ignore or refuse the
 * file. */
size_t sample_key_len(const char *path);

/* Whether the first part of the path is like "__meta__": see
 * webdataset.tariterators. */
bool sample_path_is_meta(const char *path);
/* Whether the part of the sample is one that WebDataset sets itself. */
bool sample_path_is_reserved(const char *path);

#endif
