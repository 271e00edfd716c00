/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces secrets in properties by sealed values
 * (core/provider/placeholder.h), so that comparisons, output and the store
 * contain none.  Equal secrets of one resource give equal sealed values.  The
 * digest is keyed with the store's key, because short secrets could be guessed
 * from a plain digest.
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
	/* the key is the store's, so sealed values can be stored */
	bool lasting;
};

/* Uses the store's key, made if `keep` is set; without one, a temporary key. */
int seal_init(struct seal *seal, struct store *store, bool keep,
	      struct error *err);
void seal_done(struct seal *seal);

/* Whether the resource has secrets to seal. */
bool seal_is_needed(const struct resource *it, const json_t *applied);

/*
 * Seals `properties` of the resource `it`, the wanted one if known: values that
 * are sensitive in its kind, that `it` wants as a secret, or that are sealed in
 * `applied` (or NULL).  With `seal` NULL there is no digest, and all secrets
 * look alike.  Returns new.
 */
json_t *seal_properties(const struct seal *seal, const struct resource *it,
			const json_t *applied, const json_t *properties,
			struct error *err);

#endif
