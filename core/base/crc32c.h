/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C (Castagnoli, RFC 3720), with the processor's instruction for it
 * where it has one. */
#ifndef JOBRUN_CRC32C_H
#define JOBRUN_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what came before (0: nothing) and these bytes. */
uint32_t crc32c_add(uint32_t crc, const void *data, size_t len);
/* The checksum of two pieces, one after the other, from those of each. */
uint32_t crc32c_join(uint32_t first, uint32_t second, uint64_t second_len);
/* As Cloud Storage writes it: base 64 of its four bytes, highest first. */
void crc32c_format(uint32_t crc, char out[9]);
/* -1: it is none, and `out` is left alone. */
int crc32c_parse(const char *text, uint32_t *out);

#endif
