/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C (Castagnoli, RFC 3720), using the processor's instruction if it has
 * one. */
#ifndef JOBRUN_CRC32C_H
#define JOBRUN_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Extends the checksum of the bytes before (0: none) by these bytes. */
uint32_t crc32c_add(uint32_t crc, const void *data, size_t len);
/* The checksum of two adjacent pieces, from the checksum of each. */
uint32_t crc32c_join(uint32_t first, uint32_t second, uint64_t second_len);
/* Cloud Storage's format: base 64 of the four bytes, most significant first. */
void crc32c_format(uint32_t crc, char out[9]);
/* Returns -1 if invalid, and leaves `out` alone. */
int crc32c_parse(const char *text, uint32_t *out);

#endif
