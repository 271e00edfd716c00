/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/request_id.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>

#include "core/base/clock.h"

void request_id(char out[REQUEST_ID_MAX])
{
	uint8_t raw[16];
	uint64_t now;
	size_t i, at = 0;

	/* Without randomness the clock has to do. */
	if (getrandom(raw, sizeof(raw), 0) != sizeof(raw)) {
		now = (uint64_t)time_monotonic_ms();
		for (i = 0; i < sizeof(raw); i++)
			raw[i] = (uint8_t)(now >> i % 8 * 8);
	}
	raw[6] = (uint8_t)((raw[6] & 0x0f) | 0x40);
	raw[8] = (uint8_t)((raw[8] & 0x3f) | 0x80);
	for (i = 0; i < sizeof(raw); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			out[at++] = '-';
		snprintf(out + at, REQUEST_ID_MAX - at, "%02x", raw[i]);
		at += 2;
	}
}
