/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts sealed values (core/provider/placeholder.h) where properties hold
 * secrets, so that what is compared, shown and kept has none.  Equal secrets of one
 * resource are equal when sealed.  The digest is keyed with the store's key:
 * short secrets could be found again from a plain one by trying.
 */
#ifndef JOBRUN_SEAL_H
#define JOBRUN_SEAL_H

#include <jansson.h>
#include <stdbool.h>

#include "core/provider/provider.h"
#include "core/store/store.h"

struct seal {
	unsigned char key[STORE_KEY_SIZE];
	bool ready;
	bool lasting; /* it is the store's: sealed values can be kept */
};

/* Uses the store's key, made if `keep` is set; without one, a key that is
 * thrown away. */
int seal_init(struct seal *seal, struct store *store, bool keep,
	      struct error *err);
void seal_done(struct seal *seal);

/* Whether the resource has secrets to seal. */
bool seal_is_needed(const struct resource *it, const json_t *applied);

/*
 * `properties` of the resource `it`, which is what is wanted where that is
 * known: sealed is what is sensitive in its kind, what `it` wants as a
 * secret, and what is sealed in `applied` (or NULL).  With no `seal` there is
 * no digest: all secrets are alike.  Returns new.
 */
json_t *seal_properties(const struct seal *seal, const struct resource *it,
			const json_t *applied, const json_t *properties,
			struct error *err);

#endif
