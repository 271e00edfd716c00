/* SPDX-License-Identifier: Apache-2.0 */
/* The most telling line of a failure. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/log/log_cause.h"

#define TRACE "Traceback (most recent call last):\n"

static const struct {
	const char *text, *cause;
} samples[] = {
	{ "", "" },
	{ "\n \n", "" },
	{ "loading\nno data\n\n", "no data" },
	{ TRACE "  File \"/home/me/src/train.py\", line 12, in <module>\n"
		"    main()\n"
		"  File \"/home/me/src/model.py\", line 7, in forward\n"
		"    return self.fc(x)\n"
		"           ~~~~~~~^^^\n"
		"  File \"/usr/lib/python3/dist-packages/torch/nn/linear.py\", "
		"line 125, in forward\n"
		"    return F.linear(input, self.weight, self.bias)\n"
		"RuntimeError: mat1 and mat2 shapes cannot be multiplied\n"
		"wandb: run finished\n",
	  "RuntimeError: mat1 and mat2 shapes cannot be multiplied "
	  "(src/model.py:7 in forward)" },
	/* The one that went up to the top is the last. */
	{ TRACE "  File \"train.py\", line 3, in <module>\n"
		"    d[1]\n"
		"KeyError: 1\n\n"
		"During handling of the above exception, another exception "
		"occurred:\n\n" TRACE
		"  File \"train.py\", line 5, in <module>\n"
		"    raise ValueError('no data')\n"
		"ValueError: no data\n",
	  "ValueError: no data (train.py:5)" },
	{ "[rank1]: " TRACE "[rank1]:   File \"/w/train.py\", line 9, in main\n"
	  "[rank1]:     loss.backward()\n"
	  "[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to "
	  "allocate 20.00 MiB.\n"
	  "E1122 torch/distributed/elastic: failed (exitcode: 1)\n",
	  "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
	  "20.00 MiB. (w/train.py:9 in main)" },
	{ "[rank0]: " TRACE "[rank0]:   File \"/w/train.py\", line 9, in main\n"
	  "[rank0]: ValueError: bad shape\n" TRACE
	  "  File \"/usr/local/bin/torchrun\", line 8, in <module>\n"
	  "    sys.exit(main())\n"
	  "  File \"/v/lib/python3.11/site-packages/torch/run.py\", line 9, in "
	  "run\n"
	  "torch.distributed.ChildFailedError: \n========\ntrain.py FAILED\n"
	  "--------\n",
	  "ValueError: bad shape (w/train.py:9 in main)" },
	{ TRACE "  File \"/usr/local/bin/torchrun\", line 8, in <module>\n"
		"    sys.exit(main())\n"
		"torch.distributed.ChildFailedError: \n========\n"
		"train.py FAILED\n--------\n",
	  "torch.distributed.ChildFailedError: train.py FAILED" },
	/* A launcher's own traceback comes after the worker's. */
	{ TRACE
	  "  File \"train.py\", line 2, in f\n    g()\nIndexError: 7\n" TRACE
	  "  File \"/usr/bin/torchrun\", line 8, in <module>\n"
	  "  File \"/opt/lib/python3.11/site-packages/torch/run.py\", "
	  "line 900, in run\n"
	  "    elastic_launch(\n",
	  "IndexError: 7 (train.py:2 in f)" },
	{ TRACE "  File \"train.py\", line 2, in f\n    g()\n"
		"ValueError: Caught ValueError in DataLoader worker process "
		"0.\nOriginal " TRACE
		"  File \"/v/lib/python3.11/site-packages/torch/worker.py\", "
		"line 308, in _worker_loop\n"
		"    data = fetcher.fetch(index)\n"
		"  File \"/src/data.py\", line 31, in __getitem__\n"
		"    raise ValueError(path)\n"
		"ValueError: 17.jpg\n",
	  "ValueError: 17.jpg (src/data.py:31 in __getitem__)" },
	{ TRACE "  File \"train.py\", line 2, in f\n    m.load(x)\n"
		"RuntimeError: Error(s) in loading state_dict for Net:\n"
		"\tMissing key(s) in state_dict: \"fc.bias\".\n",
	  "RuntimeError: Error(s) in loading state_dict for Net: Missing "
	  "key(s) in state_dict: \"fc.bias\". (train.py:2 in f)" },
	{ TRACE "  File \"train.py\", line 4, in f\n    dist.barrier()\n"
		"torch.distributed.DistBackendError: NCCL error in: "
		"ProcessGroupNCCL.cpp:2006, unhandled system error\n"
		"ncclSystemError: System call failed.\n"
		"Last error:\n"
		"Connect to 10.0.0.2<51999> failed : Connection refused\n",
	  "torch.distributed.DistBackendError: NCCL error in: "
	  "ProcessGroupNCCL.cpp:2006, unhandled system error: Connect to "
	  "10.0.0.2<51999> failed : Connection refused (train.py:4 in f)" },
	{ "Fatal Python error: Segmentation fault\n\n"
	  "Current thread 0x00007f11 (most recent call first):\n"
	  "  File \"/usr/lib/python3.11/ctypes/__init__.py\", line 5 in at\n"
	  "  File \"/w/src/ops.py\", line 44 in gather\n"
	  "  File \"/w/src/train.py\", line 9 in <module>\n\n"
	  "Extension modules: numpy (total: 1)\n",
	  "Fatal Python error: Segmentation fault (src/ops.py:44 in gather)" },
	{ "terminate called after throwing an instance of 'c10::Error'\n"
	  "  what():  CUDA error: an illegal memory access was encountered\n"
	  "CUDA kernel errors might be reported later.\n"
	  "Fatal Python error: Aborted\n",
	  "CUDA error: an illegal memory access was encountered" },
	{ "CUDA error 2 at kernel.cu:31: out of memory\nstopping\n",
	  "CUDA error 2 at kernel.cu:31: out of memory" },
	{ "n1:77:91 [0] NCCL WARN Cuda failure 'out of memory'\nbye\n",
	  "NCCL WARN Cuda failure 'out of memory'" },
	{ "[E ProcessGroupNCCL.cpp:563] [Rank 2] Watchdog caught collective "
	  "operation timeout: WorkNCCL(SeqNum=8, OpType=ALLREDUCE) ran for "
	  "600001 milliseconds before timing out.\n"
	  "terminate called after throwing an instance of 'std::runtime'\n"
	  "  what():  NCCL watchdog thread terminated\n"
	  "Fatal Python error: Aborted\n",
	  "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=8, "
	  "OpType=ALLREDUCE) ran for 600001 milliseconds before timing out." },
	{ "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm\nx\n",
	  "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm" },
	{ "slurmstepd: error: Detected 1 oom_kill event in StepId=3.0.\nx\n",
	  "Detected 1 oom_kill event in StepId=3.0." },
	/* Others were stopped, too: this is no cause. */
	{ "CUDA error: peer died\n" TRACE
	  "  File \"train.py\", line 4, in f\nKeyboardInterrupt\n",
	  "CUDA error: peer died" },
	/* Cut off, or no traceback at all. */
	{ TRACE "  File \"train.py\", line 4, in f\n", "File \"train.py\", "
						       "line 4, in f" },
	{ TRACE, "Traceback (most recent call last):" },
	{ TRACE "SyntaxError: x\n", "SyntaxError: x" },
	{ "\033[31mno data\033[0m\033[2J\n", "no data\\x1b[2J" },
	{ " 1%\r 2%\rfailed at 2%\n", "failed at 2%" },
};

static void the_most_telling_line_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct buf out = { 0 };

		log_cause_find(samples[i].text, strlen(samples[i].text), &out);
		assert_string_equal(buf_text(&out), samples[i].cause);
		buf_done(&out);
	}
}

static void no_sample_cut_anywhere_is_trouble(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		size_t len = strlen(samples[i].text);

		for (size_t n = 0; n <= len; n += 3) {
			char *end = malloc(n + 1);
			struct buf out = { 0 };

			memcpy(end, samples[i].text + len - n, n);
			log_cause_find(end, n, &out);
			assert_null(strchr(buf_text(&out), '\n'));
			buf_done(&out);
			free(end);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_most_telling_line_is_found),
		cmocka_unit_test(no_sample_cut_anywhere_is_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
