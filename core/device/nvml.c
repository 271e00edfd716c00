/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML, by its stable names and layouts (nvml.h of go-nvml, API 13;
 * docs.nvidia.com/deploy/nvml-api).  Drivers before R510 have no list of
 * processes under this name; then no holders are known.
 */
#include "core/device/device_internal.h"

#include <string.h>

#include "core/base/library.h"

#define LIBRARY "libnvidia-ml.so.1"
#define NVML_SUCCESS 0
#define NVML_DRIVER_NOT_LOADED 9
#define NVML_GPU_IS_LOST 15
#define NVML_RESET_REQUIRED 16
#define ECC_UNCORRECTED 1
#define ECC_SINCE_BOOT 0
#define SENSOR_GPU 0
#define PROCESSES_MAX 256

typedef void *nvml_device;

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_use {
	unsigned gpu, memory;
};

struct nvml_pci {
	char old_id[16];
	unsigned domain, bus, device, id, subsystem;
	char bus_id[32];
};

struct nvml_process {
	unsigned pid;
	unsigned long long memory;
	unsigned gpu_instance, compute_instance;
};

static struct {
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*text)(int);
	int (*count)(unsigned *);
	int (*get)(unsigned, nvml_device *);
	int (*name)(nvml_device, char *, unsigned);
	int (*uuid)(nvml_device, char *, unsigned);
	int (*pci)(nvml_device, struct nvml_pci *);
	int (*memory)(nvml_device, struct nvml_memory *);
	int (*use)(nvml_device, struct nvml_use *);
	int (*temperature)(nvml_device, int, unsigned *);
	int (*ecc)(nvml_device, int, int, unsigned long long *);
	int (*processes)(nvml_device, unsigned *, struct nvml_process *);
	int (*mig_mode)(nvml_device, unsigned *, unsigned *);
	int (*mig_max)(nvml_device, unsigned *);
	int (*mig_get)(nvml_device, unsigned, nvml_device *);
} api;

static const struct library_symbol symbols[] = {
	{ "nvmlInit_v2", &api.init },
	{ "nvmlShutdown", &api.shutdown },
	{ "nvmlErrorString", &api.text },
	{ "nvmlDeviceGetCount_v2", &api.count },
	{ "nvmlDeviceGetHandleByIndex_v2", &api.get },
	{ "nvmlDeviceGetName", &api.name },
	{ "nvmlDeviceGetUUID", &api.uuid },
	{ "nvmlDeviceGetPciInfo_v3", &api.pci },
	{ "nvmlDeviceGetMemoryInfo", &api.memory },
	{ "nvmlDeviceGetUtilizationRates", &api.use },
	{ "nvmlDeviceGetTemperature", &api.temperature },
	{ "nvmlDeviceGetTotalEccErrors", &api.ecc },
	{ NULL, NULL },
};

static const struct library_symbol newer[] = {
	{ "nvmlDeviceGetComputeRunningProcesses_v3", &api.processes },
	{ NULL, NULL },
};

static const struct library_symbol mig[] = {
	{ "nvmlDeviceGetMigMode", &api.mig_mode },
	{ "nvmlDeviceGetMaxMigDeviceCount", &api.mig_max },
	{ "nvmlDeviceGetMigDeviceHandleByIndex", &api.mig_get },
	{ NULL, NULL },
};

static void look_at_holders(nvml_device handle, struct device *one,
			    struct arena *mem)
{
	struct nvml_process all[PROCESSES_MAX];
	unsigned count = PROCESSES_MAX, i;

	if (!api.processes)
		return;
	if (api.processes(handle, &count, all) != NVML_SUCCESS)
		return;
	for (i = 0; i < count && i < PROCESSES_MAX; i++)
		device_add_holder(one, (pid_t)all[i].pid, mem);
}

static void look_at_health(nvml_device handle, struct device *one,
			   struct arena *mem)
{
	unsigned long long errors = 0;
	unsigned degrees;
	int ret = api.temperature(handle, SENSOR_GPU, &degrees);

	if (ret == NVML_SUCCESS)
		one->temperature_c = (int)degrees;
	else if (ret == NVML_GPU_IS_LOST)
		one->trouble = "it has fallen off the bus";
	else if (ret == NVML_RESET_REQUIRED)
		one->trouble = "it needs a reset";
	if (api.ecc(handle, ECC_UNCORRECTED, ECC_SINCE_BOOT, &errors) ==
		    NVML_SUCCESS &&
	    errors)
		one->trouble = arena_printf(
			mem,
			"%llu uncorrected memory errors since it was reset",
			errors);
}

/* Reads the properties that a GPU and a slice have in common. */
static void look_at(nvml_device handle, struct device *one, struct arena *mem)
{
	struct nvml_memory memory;
	struct nvml_use use;
	char text[96];

	if (api.name(handle, text, sizeof(text)) == NVML_SUCCESS)
		one->model = arena_strdup(mem, text);
	if (api.uuid(handle, text, sizeof(text)) == NVML_SUCCESS)
		one->uuid = arena_strdup(mem, text);
	if (api.memory(handle, &memory) == NVML_SUCCESS) {
		one->memory_bytes = memory.total;
		one->memory_used_bytes = memory.used;
	}
	if (api.use(handle, &use) == NVML_SUCCESS)
		one->use_percent = (int)use.gpu;
	look_at_health(handle, one, mem);
	look_at_holders(handle, one, mem);
}

/* Adds the slices of a partitioned GPU in its place; false: it is not
 * partitioned. */
static bool add_slices(nvml_device handle, unsigned index, const char *bus,
		       struct devices *out, struct arena *mem)
{
	unsigned now = 0, next, max = 0, i;
	nvml_device slice;

	if (!api.mig_get || api.mig_mode(handle, &now, &next) != NVML_SUCCESS ||
	    !now || api.mig_max(handle, &max) != NVML_SUCCESS)
		return false;
	for (i = 0; i < max; i++) {
		struct device *one;

		if (api.mig_get(handle, i, &slice) != NVML_SUCCESS)
			continue;
		one = device_add(out, "nvidia", (int)index);
		if (!one)
			return true;
		one->slice = true;
		one->bus = bus;
		look_at(slice, one, mem);
	}
	return true;
}

static void add_all(unsigned count, struct devices *out, struct arena *mem)
{
	struct nvml_pci pci;
	unsigned i;

	for (i = 0; i < count; i++) {
		const char *bus = NULL;
		struct device *one;
		nvml_device handle;
		int ret = api.get(i, &handle);

		if (ret == NVML_SUCCESS &&
		    api.pci(handle, &pci) == NVML_SUCCESS)
			bus = device_bus(pci.bus_id, mem);
		if (ret == NVML_SUCCESS && add_slices(handle, i, bus, out, mem))
			continue;
		one = device_add(out, "nvidia", (int)i);
		if (!one)
			return;
		one->bus = bus;
		if (ret == NVML_SUCCESS)
			look_at(handle, one, mem);
		else
			one->trouble = arena_strdup(mem, api.text(ret));
	}
}

int device_nvml(struct devices *out, struct arena *mem, struct error *err)
{
	struct error ignored;
	unsigned count = 0;
	int ret;

	if (library_open(LIBRARY, symbols, &ignored) < 0)
		return 0;
	library_open(LIBRARY, newer, &ignored);
	library_open(LIBRARY, mig, &ignored);
	ret = api.init();
	/* A machine image may have the library on a machine without a GPU. */
	if (ret == NVML_DRIVER_NOT_LOADED)
		return 0;
	if (ret == NVML_SUCCESS) {
		ret = api.count(&count);
		if (ret == NVML_SUCCESS)
			add_all(count, out, mem);
		if (ret != NVML_SUCCESS)
			error_set(err, ERROR_FAILED,
				  "NVIDIA's driver does not count its GPUs: %s",
				  api.text(ret));
		api.shutdown();
	} else {
		error_set(err, ERROR_FAILED,
			  "NVIDIA's driver can't be queried: %s: check "
			  "nvidia-smi, and whether the machine was rebooted "
			  "since the driver was installed",
			  api.text(ret));
	}
	if (ret != NVML_SUCCESS)
		return -1;
	if (count)
		out->source = "NVML";
	return 1;
}
