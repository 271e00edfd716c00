/* SPDX-License-Identifier: Apache-2.0 */
/* The names that gcloud's flags and other services give to the fields of a
 * job. */
#ifndef JOBRUN_ALSO_CALLED_H
#define JOBRUN_ALSO_CALLED_H

/* The path of the field that is meant by a key, in any spelling, that is none
 * here: "trainingInput.masterType" by master-machine-type.  Or NULL. */
const char *also_called(const char *key);

#endif
