/* SPDX-License-Identifier: Apache-2.0 */
/* The folders of hyperparameter trials, below that of their run. */
#ifndef JOBRUN_TRIAL_FOLDER_H
#define JOBRUN_TRIAL_FOLDER_H

/* The folder of a trial.  Returns new. */
char *trial_folder(const char *run_folder, int number);
/* The folder of the trial's n-th attempt, from 1.  Returns new. */
char *trial_attempt_folder(const char *run_folder, int number, int attempt);
/* The folder of the trial's newest attempt, with its logs and its
 * specification.  Returns new. */
char *trial_logs_folder(const char *run_folder, int number);

#endif
