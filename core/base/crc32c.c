/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/crc32c.h"

#include <pthread.h>
#include <string.h>

#include "core/base/base64.h"

#define POLYNOMIAL 0x82f63b78u /* reflected */

/* Eight bytes at a time ("slicing by 8"): tables[k] has the effect of a byte
 * that is followed by k more. */
static uint32_t tables[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_tables(void)
{
	uint32_t i, k, crc;

	for (i = 0; i < 256; i++) {
		crc = i;
		for (k = 0; k < 8; k++)
			crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
		tables[0][i] = crc;
	}
	for (k = 1; k < 8; k++)
		for (i = 0; i < 256; i++)
			tables[k][i] = tables[k - 1][i] >> 8 ^
				       tables[0][tables[k - 1][i] & 255];
}

static uint32_t add_by_table(uint32_t crc, const unsigned char *p, size_t len)
{
	pthread_once(&once, fill_tables);
	for (; len >= 8; len -= 8, p += 8) {
		uint32_t low =
			crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 |
			       (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);

		crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^
		      tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^
		      tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]] ^
		      tables[0][p[7]];
	}
	for (; len; len--, p++)
		crc = crc >> 8 ^ tables[0][(crc ^ *p) & 255];
	return crc;
}

/* Multiplies polynomials modulo the CRC's; the highest bit is x^0. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0, bit;

	for (bit = 1u << 31; bit; bit >>= 1) {
		if (a & bit)
			product ^= b;
		b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
	}
	return product;
}

/* The factor for a checksum followed by so many bytes: x^8 for each. */
static uint32_t shift_by(uint64_t bytes)
{
	uint32_t shift = 1u << 31, square = 1u << 23;

	for (; bytes; bytes >>= 1) {
		if (bytes & 1)
			shift = multiply(shift, square);
		square = multiply(square, square);
	}
	return shift;
}

#ifdef __x86_64__
/* The instruction takes three cycles, but one can start in each cycle: so three
 * checksums are computed in parallel and joined at the end. */
#define LANE 8192
static uint32_t lane_shift;
static pthread_once_t run_context_once = PTHREAD_ONCE_INIT;

static void set_lane_shift(void)
{
	lane_shift = shift_by(LANE);
}

static uint64_t word_at(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

__attribute__((target("sse4.2"))) static uint32_t
add_contexts(uint32_t crc, const unsigned char *p)
{
	uint64_t first = crc, second = 0, third = 0;
	size_t i;

	for (i = 0; i < LANE; i += 8) {
		first = __builtin_ia32_crc32di(first, word_at(p + i));
		second = __builtin_ia32_crc32di(second, word_at(p + LANE + i));
		third = __builtin_ia32_crc32di(third,
					       word_at(p + 2 * LANE + i));
	}
	crc = multiply(lane_shift, (uint32_t)first) ^ (uint32_t)second;
	return multiply(lane_shift, crc) ^ (uint32_t)third;
}

__attribute__((target("sse4.2"))) static uint32_t
add_by_instruction(uint32_t crc, const unsigned char *p, size_t len)
{
	uint64_t wide;

	if (len >= 3 * LANE)
		pthread_once(&run_context_once, set_lane_shift);
	for (; len >= 3 * LANE; len -= 3 * LANE, p += 3 * LANE)
		crc = add_contexts(crc, p);
	wide = crc;
	for (; len >= 8; len -= 8, p += 8)
		wide = __builtin_ia32_crc32di(wide, word_at(p));
	crc = (uint32_t)wide;
	for (; len; len--, p++)
		crc = __builtin_ia32_crc32qi(crc, *p);
	return crc;
}
#endif

uint32_t crc32c_add(uint32_t crc, const void *data, size_t len)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("sse4.2"))
		return ~add_by_instruction(~crc, data, len);
#endif
	return ~add_by_table(~crc, data, len);
}

uint32_t crc32c_join(uint32_t first, uint32_t second, uint64_t second_len)
{
	return multiply(shift_by(second_len), first) ^ second;
}

void crc32c_format(uint32_t crc, char out[9])
{
	const unsigned char bytes[4] = {
		(unsigned char)(crc >> 24),
		(unsigned char)(crc >> 16),
		(unsigned char)(crc >> 8),
		(unsigned char)crc,
	};
	struct buf text = { 0 };

	base64_add(&text, bytes, sizeof(bytes));
	memcpy(out, text.data, 9);
	buf_done(&text);
}

int crc32c_parse(const char *text, uint32_t *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno"
				     "pqrstuvwxyz0123456789+/";
	uint64_t value = 0;
	size_t i;

	/* 32 bits are five digits and the upper two bits of the sixth. */
	for (i = 0; i < 6; i++) {
		const char *at = text[i] ? strchr(digits, text[i]) : NULL;

		if (!at)
			return -1;
		value = value << 6 | (uint64_t)(at - digits);
	}
	if (strcmp(text + 6, "==") != 0 || value & 15)
		return -1;
	*out = (uint32_t)(value >> 4);
	return 0;
}
