/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in the output of training programs. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/sparkline.h"
#include "core/log/metric_series.h"
#include "core/process/process.h"

static const struct log_source sources[] = {
	{ "master", 0, 0, "10.0.0.1" },
	{ "worker", 0, 1, "10.0.0.2" },
};

/* Shows a line as "epoch step | name=value name=value", "-" for missing
 * values. */
static void describe(const struct metric_parser *parser, const char *text,
		     size_t len, struct metric_carry *carry, char out[512])
{
	struct metric_sample sample;
	struct buf buf = { 0 };

	if (!metric_parse(parser, carry, text, len, &sample)) {
		strcpy(out, "");
		return;
	}
	if (sample.epoch >= 0)
		buf_printf(&buf, "%g", sample.epoch);
	else
		buf_putc(&buf, '-');
	if (sample.step >= 0)
		buf_printf(&buf, " %lld |", (long long)sample.step);
	else
		buf_puts(&buf, " - |");
	for (size_t i = 0; i < sample.count; i++)
		buf_printf(&buf, " %s=%g", sample.values[i].name,
			   sample.values[i].value);
	snprintf(out, 512, "%s", buf_text(&buf));
	buf_done(&buf);
}

static void lines_of_trainers_are_understood(void **state)
{
	static const struct {
		const char *line;
		const char *found;
	} cases[] = {
		/* PyTorch/XLA */
		{ "| Training Device=xla:0/14 Epoch=1 Step=20 Loss=6.87500 "
		  "Rate=258.47 GlobalRate=112.84 Time=02:38:57",
		  "1 20 | Loss=6.875 Rate=258.47 GlobalRate=112.84" },
		{ "[xla:1](40) Loss=1.5 Rate=20.0 Time=Wed", "- - | Loss=1.5 "
							     "Rate=20" },
		{ "| Test Epoch=1 Accuracy=59.73", "1 - | Accuracy=59.73" },
		{ "Epoch 3 train end 02:42:32", "" },
		{ "Max Accuracy=93.33%", "" },
		{ "Max Accuracy: 93.33%", "" },
		{ "Maximum Accuracy: 93.33%", "- - | Accuracy=93.33" },
		/* TensorFlow */
		{ "INFO:tensorflow:loss = 0.5, step = 100 (1.2 sec)",
		  "- 100 | loss=0.5" },
		{ "INFO:tensorflow:global_step/sec: 12.3",
		  "- - | global_step/sec=12.3" },
		{ "INFO:tensorflow:Saving dict for global step 100: accuracy "
		  "= 0.9, global_step = 100, loss = 0.3",
		  "- 100 | accuracy=0.9 loss=0.3" },
		/* Keras 2, Keras 3 */
		{ "1875/1875 [=====================] - 3s 2ms/step - loss: "
		  "0.2957 - accuracy: 0.9140 - val_loss: 0.14",
		  "- 1875 | loss=0.2957 accuracy=0.914 val_loss=0.14" },
		{ "  12/1875 ━━━━━━━━━━ 2s 1ms/step - accuracy: 0.3 - loss: 2",
		  "- 12 | accuracy=0.3 loss=2" },
		/* Lightning, tqdm */
		{ "Epoch 3: 100%|####| 100/200 [00:01<00:02, 85.30it/s, "
		  "loss=0.12, v_num=3]",
		  "3 100 | loss=0.12 it/s=85.3" },
		{ "Epoch 3:  50%|█████     | 50/100 [00:01<00:01, "
		  "train_loss_step=0.5, val/acc=0.75]",
		  "3 50 | train_loss_step=0.5 val/acc=0.75" },
		/* Hugging Face's trainer */
		{ "{'loss': 0.5246, 'grad_norm': 1.25, 'learning_rate': "
		  "4e-05, 'epoch': 0.4}",
		  "0.4 - | loss=0.5246 grad_norm=1.25 learning_rate=4e-05" },
		/* PyTorch's examples */
		{ "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.300039",
		  "1 - | Loss=2.30004" },
		{ "Test set: Average loss: 0.0483, Accuracy: 9843/10000 (98%)",
		  "- - | loss=0.0483 Accuracy=0.9843" },
		{ "Epoch [3/10], Step [100/600], Loss: 0.2512",
		  "3 100 | Loss=0.2512" },
		{ "loss=tensor(0.25, device='cuda:0')", "- - | loss=0.25" },
		/* Values */
		{ "Loss=nan", "- - | Loss=nan" },
		{ "loss: -inf", "- - | loss=-inf" },
		{ "Loss=.5 Rate=+1e3", "- - | Loss=0.5 Rate=1000" },
		{ "Loss=0.5.", "- - | Loss=0.5" },
		{ "loss=1,234.5", "- - | loss=1234.5" },
		{ "loss: 12,345,678", "- - | loss=1.23457e+07" },
		{ "loss=-1,234e1, step=4", "- 4 | loss=-12340" },
		{ "loss=1,234,acc=5", "- - | loss=1234 acc=5" },
		{ "loss=[1,2345]", "- - | loss=1" },
		{ "loss=1,234,5", "- - | loss=1" },
		{ "loss=1234,567", "- - | loss=1234" },
		{ "loss=0,234", "- - | loss=0" },
		/* The last value is the newest. */
		{ "loss=0.9 then loss=0.5", "- - | loss=0.5" },
		{ "Loss=0.9 accuracy=1 loss=0.5", "- - | loss=0.5 accuracy=1" },
		/* No metrics */
		{ "", "" },
		{ "=", "" },
		{ "loss", "" },
		{ "loss=", "" },
		{ "loss=x", "" },
		{ "loss=12:30:00", "" },
		{ "loss=1.2.3", "" },
		{ "loss=5ms", "" },
		{ "loss=-", "" },
		{ "loss=nanometre", "" },
		{ "=====: : :=0.5", "" },
		{ "gloss=0.5", "" },
		{ "val_step=3 step=4", "" },
		{ "Epoch=2", "" },
	};
	struct metric_parser *parser = metric_parser_new(NULL, NULL);
	char found[512];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct metric_carry carry = { .epoch = -1 };

		describe(parser, cases[i].line, strlen(cases[i].line), &carry,
			 found);
		if (strcmp(found, cases[i].found) != 0)
			print_message("of: %s\n", cases[i].line);
		assert_string_equal(found, cases[i].found);
	}
	metric_parser_free(parser);
}

static void an_epoch_holds_for_the_lines_after_it(void **state)
{
	struct metric_parser *parser = metric_parser_new(NULL, NULL);
	struct metric_carry carry = { .epoch = -1 };
	char found[512];

	(void)state;
	describe(parser, "Epoch 4/10", 10, &carry, found);
	assert_string_equal(found, "");
	describe(parser, "loss: 0.5", 9, &carry, found);
	assert_string_equal(found, "4 - | loss=0.5");
	metric_parser_free(parser);
}

static void patterns_of_the_job_find_more(void **state)
{
	struct pair items[] = {
		{ "temp", "temp is ([0-9.]+)" },
		{ "Step", "iter ([0-9]+)" },
		{ "loss", "objective ([0-9.]+)" },
		{ "text", "temp (is)" },
	};
	const struct pairs patterns = { COUNT(items), items };
	struct metric_parser *parser = metric_parser_new(&patterns, NULL);
	struct metric_carry carry = { .epoch = -1 };
	static const char zero[] = "iter 7\0 temp is 44.5, loss=3";
	char found[512];

	(void)state;
	describe(parser, zero, sizeof(zero) - 1, &carry, found);
	assert_string_equal(found, "- 7 | temp=44.5 loss=3");
	describe(parser, "objective 2 loss=3", 18, &carry, found);
	assert_string_equal(found, "- - | loss=2");
	metric_parser_free(parser);
}

/* A pattern that takes 40 ms for a long line of a's on a fast machine. */
#define SLOW "([0-9]*)(a|aa)*(aaa|a)*b"

/* Returns the CPU time of child processes that have ended. */
static long used_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
}

static void a_slow_pattern_is_given_up_and_counted(void **state)
{
	/* Four such patterns take longer than a line may. */
	struct pair items[] = { { "one", SLOW },
				{ "two", SLOW },
				{ "three", SLOW },
				{ "four", SLOW },
				{ "temp", "temp is ([0-9.]+)" } };
	static const char all[] = "- - | one=7 two=7 three=7 four=7";
	const struct pairs patterns = { COUNT(items), items };
	static char line[METRIC_LINE_MAX];
	struct metric_carry carry = { .epoch = -1 };
	struct metric_sample sample;
	struct metric_parser *parser;
	struct buf text = { 0 };

	struct error err;
	char found[512];
	int i;

	(void)state;
	parser = metric_parser_new(&patterns, &err);

	memset(line, 'a', sizeof(line));
	for (i = 0; i < 100; i++)
		assert_int_equal(metric_parse(parser, &carry, line,
					      sizeof(line), &sample),
				 0);

	/* The fast pattern always matches. */
	memcpy(line + 100, "temp is 44", 10);
	line[110] = ' ';
	assert_int_equal(
		metric_parse(parser, &carry, line, sizeof(line), &sample), 1);
	assert_float_equal(sample.values[0].value, 44, 0);
	assert_true(metric_parser_missed(parser, &text));
	assert_non_null(strstr(buf_text(&text),
			       "the pattern of metric 'one' took too long, and "
			       "was skipped in "));
	assert_null(strstr(buf_text(&text), "temp"));
	/* And the slow ones are back where they are quick: each when it has
	 * paid for what it overdrew. */
	found[0] = '\0';
	for (i = 0; i < 20000 && strcmp(found, all) != 0; i++)
		describe(parser, "7aab", 4, &carry, found);
	assert_string_equal(found, all);
	buf_done(&text);
	metric_parser_free(parser);
	/* Half a second for each pattern, and the excess. */
	assert_in_range(used_s(), 0, 8);
}

/* Ending all children of a process also ends the one that matches patterns. */
static void a_matcher_that_is_killed_is_begun_anew(void **state)
{
	struct pair items[] = { { "temp", "temp is ([0-9.]+)" } };
	const struct pairs patterns = { COUNT(items), items };
	struct metric_parser *parser;
	struct metric_carry carry = { .epoch = -1 };
	struct buf text = { 0 };
	struct error err;
	char found[512];
	int i;

	(void)state;
	parser = metric_parser_new(&patterns, &err);
	for (i = 0; i < 3; i++) {
		describe(parser, "temp is 5", 9, &carry, found);
		assert_string_equal(found, "- - | temp=5");
		process_end_children();
	}
	assert_false(metric_parser_missed(parser, &text));
	buf_done(&text);
	metric_parser_free(parser);
}

static void a_pattern_that_is_none_is_named(void **state)
{
	struct pair items[] = { { "temp", "([0-9" } };
	const struct pairs patterns = { COUNT(items), items };
	struct error err;

	(void)state;
	assert_null(metric_parser_new(&patterns, &err));
	assert_non_null(strstr(err.text, "metric 'temp': "));
}

/* Adds a line of master 0 or worker 0. */
static void add(struct metric_table *table, size_t source, int64_t time_ms,
		const char *text)
{
	const struct log_line line = {
		.source = &sources[source],
		.time_ms = time_ms,
		.text = text,
		.len = strlen(text),
	};

	metric_table_line(table, &line, NULL, NULL);
}

static long waits_of_children(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return usage.ru_nvcsw;
}

static void check_order(void *arg, const struct log_line *line,
			const struct metric_sample *sample)
{
	int *next = arg;

	assert_int_equal(sample->count, 1);
	assert_float_equal(sample->values[0].value, *next, 0);
	assert_int_equal(line->time_ms, *next);
	++*next;
}

/* One request to the other process answers for many lines. */
static void many_lines_are_matched_together(void **state)
{
	const int count = 30000;
	struct pair items[] = { { "temp", "temp is ([0-9.]+)" },
				{ "other", "other ([0-9]+)" } };
	const struct pairs patterns = { COUNT(items), items };
	struct metric_parser *parser = metric_parser_new(&patterns, NULL);
	struct metric_table *table = metric_table_new(sources, 2, parser);
	long before = waits_of_children();
	char text[64];
	int next = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct log_line line = { .source = &sources[i % 2],
					 .time_ms = i,
					 .text = text };

		snprintf(text, sizeof(text), "%s %d",
			 i % 3 ? "temp is" : "other", i);
		line.len = strlen(text);
		metric_table_line(table, &line, check_order, &next);
	}
	assert_true(metric_table_settle(table, -1));
	assert_int_equal(next, count);
	assert_int_equal(metric_table_series(table, 0, 0)->count +
				 metric_table_series(table, 0, 1)->count,
			 count / 3);
	metric_table_free(table);
	metric_parser_free(parser);
	assert_in_range(waits_of_children() - before, 0, count / 10);
}

/* Returns the only child of this process; 0 if the system does not tell. */
static int find_child(void)
{
	FILE *file = fopen("/proc/thread-self/children", "r");
	int pid = 0;

	if (file && fscanf(file, "%d", &pid) != 1)
		pid = 0;
	if (file)
		fclose(file);
	return pid;
}

static void nobody_waits_for_patterns_longer_than_said(void **state)
{
	struct pair items[] = { { "temp", "temp is ([0-9.]+)" } };
	const struct pairs patterns = { COUNT(items), items };
	struct metric_parser *parser = metric_parser_new(&patterns, NULL);
	struct metric_table *table = metric_table_new(sources, 2, parser);
	int child;

	(void)state;
	add(table, 0, 1, "temp is 1");
	assert_true(metric_table_settle(table, -1));
	child = find_child();
	if (child && kill(child, SIGSTOP) == 0) {
		add(table, 0, 2, "temp is 2");
		assert_false(metric_table_settle(table, 0));
		add(table, 0, 3, "temp is 3");
		assert_false(metric_table_settle(table, 1));
		assert_int_equal(metric_table_series(table, 0, 0)->count, 1);
		kill(child, SIGCONT);
		assert_true(metric_table_settle(table, -1));
		assert_int_equal(metric_table_series(table, 0, 0)->count, 3);
		assert_float_equal(metric_table_series(table, 0, 0)->last.value,
				   3, 0);
	}
	metric_table_free(table);
	metric_parser_free(parser);
}

static void every_state_of_a_progress_bar_counts(void **state)
{
	struct metric_parser *parser = metric_parser_new(NULL, NULL);
	struct metric_table *table = metric_table_new(sources, 2, parser);
	const struct metric_series *series;

	(void)state;
	add(table, 0, 1, "loss=3\rloss=2\r\rloss=4\b\b\b\b\b\bloss=1\r");
	series = metric_table_series(table, 0, 0);
	assert_int_equal(series->count, 4);
	assert_float_equal(series->last.value, 1, 0);
	assert_float_equal(series->greatest.value, 4, 0);
	assert_null(metric_table_series(table, 0, 1));
	metric_table_free(table);
	metric_parser_free(parser);
}

static void a_long_series_is_thinned_and_its_numbers_stay(void **state)
{
	struct metric_parser *parser = metric_parser_new(NULL, NULL);
	struct metric_table *table = metric_table_new(sources, 2, parser);
	const struct metric_series *series;
	const struct metric_info *info;
	double means[8];
	char text[64];

	(void)state;
	for (int i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "Step=%d Loss=%d", i,
			 i == 777 ? -5 : 100000 - i);
		add(table, 0, i, text);
	}
	add(table, 0, 100000, "loss=nan");
	series = metric_table_series(table, 0, 0);
	info = metric_table_info(table, 0);
	assert_string_equal(info->name, "Loss");
	assert_int_equal(series->count, 100001);
	assert_int_equal(series->broken, 1);
	assert_true(isnan(series->last.value));
	assert_float_equal(metric_best(info, series)->value, -5, 0);
	assert_int_equal(metric_best(info, series)->step, 777);
	assert_true(series->kept <= METRIC_POINTS_MAX);
	assert_true(series->kept >= METRIC_POINTS_MAX / 4);
	for (size_t i = 0; i < series->kept; i++)
		assert_int_equal(series->points[i].time_ms, i * series->stride);
	assert_int_equal(metric_series_means(series, means, 8), 8);
	assert_true(means[0] > means[6]);
	metric_table_free(table);
	metric_parser_free(parser);
}

static void rates_add_up_and_losses_do_not(void **state)
{
	struct metric_parser *parser = metric_parser_new(NULL, NULL);
	struct metric_table *table = metric_table_new(sources, 2, parser);
	double values[2];

	(void)state;
	add(table, 0, 1000, "Loss=1 Rate=100");
	add(table, 1, 3000, "Loss=2 Rate=200");
	add(table, 0, 5000, "Loss=3 Rate=300");
	assert_int_equal(metric_table_total(table, 0, values, 2), 2);
	assert_float_equal(values[0], 1.5, 1e-9);
	assert_float_equal(values[1], 2.5, 1e-9);
	assert_int_equal(metric_table_total(table, 1, values, 2), 2);
	assert_float_equal(values[0], 300, 1e-9);
	assert_float_equal(values[1], 500, 1e-9);
	/* A sum without all its parts is not shown. */
	add(table, 0, 0, "GlobalRate=5");
	add(table, 1, 9000, "GlobalRate=6");
	metric_table_total(table, 2, values, 2);
	assert_true(isnan(values[0]));
	assert_float_equal(values[1], 11, 1e-9);
	metric_table_free(table);
	metric_parser_free(parser);
}

static void sparklines_span_least_to_greatest(void **state)
{
	static const struct {
		double values[4];
		const char *text;
	} cases[] = {
		{ { 0, 1, 2, 7 }, "▁▂▃█" },
		{ { 5, 5, 5, 5 }, "▄▄▄▄" },
		{ { 0.1 + 0.2, 0.3, 0.3, 0.3 }, "▄▄▄▄" },
		{ { -1e308, 0, 1e308, 1e308 }, "▁▅██" },
		{ { NAN, 1, 2, INFINITY }, " ▁█!" },
		{ { NAN, NAN, NAN, NAN }, "    " },
		{ { 0, 5e-324, 0, 0 }, "▄▄▄▄" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf out = { 0 };

		sparkline_format(cases[i].values, 4, &out);
		assert_string_equal(buf_text(&out), cases[i].text);
		buf_done(&out);
	}
}

static void a_peak_of_a_long_series_is_kept(void **state)
{
	struct metric_point *out =
		mem_alloc(METRIC_EXTREMES_MAX * sizeof(struct metric_point));
	struct metric_extremes all = { 0 };
	struct metric_point point = { .epoch = -1 };
	size_t n, peaks = 0;

	(void)state;
	for (int i = 0; i < 123457; i++) {
		point.step = i;
		point.time_ms = 7LL * i;
		point.value = i == 99999 ? 1000 : i == 5 ? -3 : i % 10;
		metric_extremes_add(&all, &point);
	}
	point.value = NAN;
	metric_extremes_add(&all, &point);
	for (size_t limit = METRIC_EXTREMES_MAX; limit > 8; limit /= 3) {
		n = metric_extremes_points(&all, limit, out);
		assert_true(n > limit / 3 && n <= limit);
		for (size_t i = 0; i < n; i++) {
			if (i)
				assert_true(out[i].step > out[i - 1].step);
			peaks += out[i].step == 99999 || out[i].step == 5;
		}
		assert_int_equal(peaks, 2);
		peaks = 0;
	}
	metric_extremes_done(&all);
	/* A short series is complete. */
	for (int i = 0; i < 100; i++) {
		point.step = i;
		point.value = i % 3;
		metric_extremes_add(&all, &point);
	}
	assert_int_equal(metric_extremes_points(&all, 100, out), 100);
	assert_int_equal(out[57].step, 57);
	metric_extremes_done(&all);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_trainers_are_understood),
		cmocka_unit_test(an_epoch_holds_for_the_lines_after_it),
		cmocka_unit_test(patterns_of_the_job_find_more),
		cmocka_unit_test(a_slow_pattern_is_given_up_and_counted),
		cmocka_unit_test(a_matcher_that_is_killed_is_begun_anew),
		cmocka_unit_test(many_lines_are_matched_together),
		cmocka_unit_test(nobody_waits_for_patterns_longer_than_said),
		cmocka_unit_test(a_pattern_that_is_none_is_named),
		cmocka_unit_test(every_state_of_a_progress_bar_counts),
		cmocka_unit_test(a_long_series_is_thinned_and_its_numbers_stay),
		cmocka_unit_test(a_peak_of_a_long_series_is_kept),
		cmocka_unit_test(rates_add_up_and_losses_do_not),
		cmocka_unit_test(sparklines_span_least_to_greatest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
