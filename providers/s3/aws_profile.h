/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of AWS's tools: the environment and the files ~/.aws/credentials and
 * ~/.aws/config, as "Configuration and credential file settings" of the AWS CLI
 * user guide has them (docs.aws.amazon.com/cli/latest/userguide/
 * cli-configure-files.html, read in 2026).
 */
#ifndef JOBRUN_AWS_PROFILE_H
#define JOBRUN_AWS_PROFILE_H

/* The name of the profile in use: AWS_PROFILE, AWS_DEFAULT_PROFILE or
 * "default".  Borrowed. */
const char *aws_profile_name(void);

/* A setting of that profile, from the credentials file or else from the config
 * file.  Returns new, or NULL. */
char *aws_profile_get(const char *setting);

/* A variable that is set and not empty; borrowed, or NULL. */
const char *aws_variable(const char *name);

/* The region of AWS_REGION, AWS_DEFAULT_REGION or the profile, else
 * us-east-1.  Returns new. */
char *aws_region(void);

/* The endpoint that replaces a service's own: AWS_ENDPOINT_URL_SERVICE,
 * AWS_ENDPOINT_URL or the profile's endpoint_url, without a '/' at its end.
 * `service` is in upper case ("S3").  Returns new, or NULL. */
char *aws_endpoint(const char *service);

#endif
