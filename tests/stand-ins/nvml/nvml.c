/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands for libnvidia-ml.so.1 (nvml.h, API 13).  NVML_STAND_IN says what
 * there is: "N" GPUs, and behind a colon for some of them, "I=PID" a process
 * on it while that lives, "I!N" an error that it gives, "I/N" so many MIG
 * slices; or
 * "init!N".
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct memory {
	unsigned long long total, free, used;
};
struct use {
	unsigned gpu, memory;
};
struct pci {
	char old_id[16];
	unsigned domain, bus, device, id, subsystem;
	char bus_id[32];
};
struct process {
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
};

/* A handle is 1 + GPU, and above that 1 + slice. */
#define GPU(device) (((size_t)(device)&0xffff) - 1)
#define SLICE(device) ((long)((size_t)(device) >> 16) - 1)

static const char *plan(void)
{
	const char *text = getenv("NVML_STAND_IN");

	return text ? text : "0";
}

/* What stands behind "I" and the sign, or -1. */
static long said(size_t gpu, char sign)
{
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), ":%zu%c", gpu, sign);
	at = strstr(plan(), key);
	return at ? atol(at + strlen(key)) : -1;
}

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
	if (!strcmp(plan(), "hang"))
		pause();
	return strncmp(plan(), "init!", 5) ? 0 : atoi(plan() + 5);
}

int nvmlShutdown(void);
int nvmlShutdown(void)
{
	return 0;
}

const char *nvmlErrorString(int error);
const char *nvmlErrorString(int error)
{
	return error == 18   ? "Driver/library version mismatch"
	       : error == 15 ? "GPU is lost"
			     : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = (unsigned)atoi(plan());
	return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	if (said(index, '!') > 0)
		return (int)said(index, '!');
	*device = (void *)(size_t)(index + 1);
	return 0;
}

int nvmlDeviceGetName(void *device, char *name, unsigned size);
int nvmlDeviceGetName(void *device, char *name, unsigned size)
{
	snprintf(name, size, "NVIDIA H100 80GB HBM3%s",
		 SLICE(device) < 0 ? "" : " MIG 1g.10gb");
	return 0;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size);
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size)
{
	if (SLICE(device) < 0)
		snprintf(uuid, size, "GPU-0-%zu", GPU(device));
	else
		snprintf(uuid, size, "MIG-0-%zu-%ld", GPU(device),
			 SLICE(device));
	return 0;
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci);
int nvmlDeviceGetPciInfo_v3(void *device, struct pci *pci)
{
	snprintf(pci->bus_id, sizeof(pci->bus_id), "00000000:%02zX:00.0",
		 GPU(device) + 10);
	return 0;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory);
int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory)
{
	memory->total = 80ULL << 30;
	memory->used = said(GPU(device), '=') > 0 ? 1ULL << 30 : 0;
	memory->free = memory->total - memory->used;
	return 0;
}

int nvmlDeviceGetUtilizationRates(void *device, struct use *use);
int nvmlDeviceGetUtilizationRates(void *device, struct use *use)
{
	use->gpu = said(GPU(device), '=') > 0 ? 97 : 0;
	return SLICE(device) < 0 ? 0 : 3;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees)
{
	(void)sensor;
	*degrees = 40;
	return SLICE(device) < 0 ? 0 : 3;
}

int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter,
				unsigned long long *count);
int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter,
				unsigned long long *count)
{
	*count = type == 1 && counter == 0 && said(GPU(device), 'e') > 0
			 ? (unsigned long long)said(GPU(device), 'e')
			 : 0;
	return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
					    struct process *all);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
					    struct process *all)
{
	long pid = said(GPU(device), '=');

	if (pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		pid = -1;
	if (pid > 0)
		all[0] = (struct process){ .pid = (unsigned)pid };
	*count = pid > 0;
	return 0;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *next);
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *next)
{
	*now = *next = said(GPU(device), '/') > 0;
	return 0;
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count);
int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count)
{
	(void)device;
	*count = 7;
	return 0;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index,
					void **slice);
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index,
					void **slice)
{
	if ((long)index >= said(GPU(device), '/'))
		return 6;
	*slice = (void *)((size_t)device | (size_t)(index + 1) << 16);
	return 0;
}
