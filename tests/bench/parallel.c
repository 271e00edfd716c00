/* SPDX-License-Identifier: Apache-2.0 */
/* The most that libcurl can do: parallel COUNT URL... gets them all, COUNT at
 * once, and drops their bytes. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static size_t drop(char *data, size_t size, size_t count, void *arg)
{
	(void)data;
	(void)arg;
	return size * count;
}

static void start(CURLM *multi, const char *url)
{
	CURL *easy = curl_easy_init();

	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 262144L);
	curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
	curl_multi_add_handle(multi, easy);
}

int main(int argc, char **argv)
{
	CURLM *multi;
	CURLMsg *message;
	int count = argc > 1 ? atoi(argv[1]) : 0, next = 2, running, left;

	curl_global_init(CURL_GLOBAL_DEFAULT);
	multi = curl_multi_init();
	while (next < argc && next < count + 2)
		start(multi, argv[next++]);
	do {
		curl_multi_perform(multi, &running);
		while ((message = curl_multi_info_read(multi, &left))) {
			CURL *easy = message->easy_handle;

			if (message->data.result != CURLE_OK)
				return 1;
			curl_multi_remove_handle(multi, easy);
			curl_easy_cleanup(easy);
			if (next < argc) {
				start(multi, argv[next++]);
				running++;
			}
		}
		if (running)
			curl_multi_poll(multi, NULL, 0, 1000, NULL);
	} while (running);
	curl_multi_cleanup(multi);
	return 0;
}
