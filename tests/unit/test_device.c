/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as the kernel shows them, in a made-up /proc and /sys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/device/device.h"

static char *root;

static void put(const char *name, const char *text)
{
	char *path = path_join(root, name);
	char *above = path_folder(path);
	struct error err;

	assert_int_equal(folder_make(above, &err), 0);
	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
	free(above);
	free(path);
}

static int set_up(void **state)
{
	char template[] = "/tmp/test_device.XXXXXX";

	(void)state;
	root = mem_strdup(mkdtemp(template));
	return 0;
}

static int tear_down(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(folder_remove(root, &err), 0);
	free(root);
	return 0;
}

static void link_card(const char *card, const char *bus)
{
	char *to = mem_printf("../../../devices/%s", bus);
	char *folder = mem_printf("%s/sys/class/drm/%s", root, card);
	char *path = mem_printf("%s/device", folder);
	struct error err;

	assert_int_equal(folder_make(folder, &err), 0);
	assert_int_equal(symlink(to, path), 0);
	free(path);
	free(folder);
	free(to);
}

static void a_machine_without_has_none(void **state)
{
	struct arena *mem = arena_new();
	struct devices *all;
	struct error err;

	(void)state;
	assert_false(devices_any(root));
	all = devices_find(root, mem, &err);
	assert_non_null(all);
	assert_int_equal(all->count, 0);
	assert_null(all->source);
	arena_free(mem);
}

static void the_kernel_tells_of_nvidia(void **state)
{
	struct arena *mem = arena_new();
	struct devices *all;
	struct error err;

	(void)state;
	put("proc/driver/nvidia/gpus/0000:af:00.0/information",
	    "Model: \t\t Tesla T4\nIRQ:   \t\t 4\nGPU UUID: \t GPU-b\n"
	    "Bus Location: \t 0000:af:00.0\n");
	put("proc/driver/nvidia/gpus/0000:3b:00.0/information",
	    "Model: \t\t Tesla T4\nGPU UUID: \t GPU-a\n");
	assert_true(devices_any(root));
	all = devices_find(root, mem, &err);
	assert_int_equal(all->count, 2);
	assert_string_equal(all->source, "/proc/driver/nvidia");
	assert_string_equal(all->items[0].uuid, "GPU-a");
	assert_null(all->items[0].bus);
	assert_int_equal(all->items[1].index, 1);
	assert_string_equal(all->items[1].uuid, "GPU-b");
	assert_string_equal(all->items[1].model, "Tesla T4");
	assert_string_equal(all->items[1].bus, "0000:af:00.0");
	assert_int_equal(all->items[1].use_percent, -1);
	arena_free(mem);
}

static void the_kernel_tells_of_amd(void **state)
{
	struct arena *mem = arena_new();
	struct devices *all;
	struct error err;

	(void)state;
	/* A card of another vendor has the same files. */
	put("sys/devices/0000:01:00.0/vendor", "0x8086\n");
	put("sys/devices/0000:01:00.0/mem_info_vram_total", "1\n");
	link_card("card0", "0000:01:00.0");
	put("sys/devices/0000:c1:00.0/vendor", "0x1002\n");
	put("sys/devices/0000:c1:00.0/mem_info_vram_total", "2048\n");
	link_card("card1", "0000:c1:00.0");
	put("sys/devices/0000:31:00.0/vendor", "0x1002\n");
	put("sys/devices/0000:31:00.0/mem_info_vram_total", "4096\n");
	put("sys/devices/0000:31:00.0/mem_info_vram_used", "1024\n");
	put("sys/devices/0000:31:00.0/gpu_busy_percent", "42\n");
	put("sys/devices/0000:31:00.0/unique_id", "18f68e602b8a790f\n");
	put("sys/devices/0000:31:00.0/product_name", "Instinct MI300X\n");
	put("sys/devices/0000:31:00.0/hwmon/hwmon3/temp1_input", "41000\n");
	link_card("card2", "0000:31:00.0");
	assert_true(devices_any(root));
	all = devices_find(root, mem, &err);
	assert_int_equal(all->count, 2);
	assert_string_equal(all->items[0].bus, "0000:31:00.0");
	assert_string_equal(all->items[0].uuid, "GPU-18f68e602b8a790f");
	assert_string_equal(all->items[0].model, "Instinct MI300X");
	assert_int_equal(all->items[0].memory_used_bytes, 1024);
	assert_int_equal(all->items[0].use_percent, 42);
	assert_int_equal(all->items[0].temperature_c, 41);
	assert_int_equal(all->items[1].index, 1);
	assert_int_equal(all->items[1].temperature_c, -1);
	arena_free(mem);
}

/* A card of AMD's at this place on the bus. */
static void put_card(const char *card, const char *bus)
{
	char *vendor = mem_printf("sys/devices/%s/vendor", bus);
	char *memory = mem_printf("sys/devices/%s/mem_info_vram_total", bus);
	char *model = mem_printf("sys/devices/%s/device", bus);

	put(vendor, "0x1002\n");
	put(memory, "4096\n");
	put(model, "0x74a1\n");
	link_card(card, bus);
	free(model);
	free(memory);
	free(vendor);
}

static void use_amd_smi(void)
{
	char *here = getcwd(NULL, 0);
	char *path =
		mem_printf("%s/tests/stand-ins/amd:%s", here, getenv("PATH"));

	setenv("PATH", path, 1);
	setenv("AMD_SMI_STAND_IN", root, 1);
	free(path);
	free(here);
}

/* Tables as the documentation of ROCm 6.2 shows them, with the row of a process
 * that uses no GPU, which it lists too. */
static void amd_smi_tells_what_the_kernel_does_not(void **state)
{
	struct arena *mem = arena_new();
	struct devices *all;
	struct error err;

	(void)state;
	put_card("card1", "0000:26:00.0");
	put_card("card2", "0000:05:00.0");
	use_amd_smi();
	put("list.csv", "gpu,gpu_bdf,gpu_uuid,kfd_id,node_id,partition_id\n"
			"0,0000:05:00.0,abff74a1,1,2,0\n"
			"1,0000:26:00.0,77ff74a1,2,3,0\n");
	put("process.csv",
	    "gpu,name,pid,gtt_mem,cpu_mem,vram_mem,mem_usage,gfx,enc\n"
	    "0,N/A,4242,0,0,0,0,0,0\n"
	    "1,pt_main_thread,1,2134016,211795968,7889485824,8103415808,0,0\n");
	put("metric.csv",
	    "gpu,total_correctable_count,total_uncorrectable_count\n"
	    "0,7,3\n1,N/A,N/A\n");
	put("static.csv",
	    "gpu,market_name,vendor_id,vendor_name\n"
	    "0,AMD Instinct MI300X,0x1002,\"Advanced, \"\"Micro\"\"\"\n"
	    "1,\"AMD Instinct MI300X, OAM\",0x1002,N/A\n");
	all = devices_find(root, mem, &err);
	assert_non_null(all);
	assert_string_equal(all->source, "amd-smi");
	assert_int_equal(all->count, 2);
	assert_string_equal(all->items[0].uuid, "abff74a1");
	assert_int_equal(all->items[0].memory_bytes, 4096);
	assert_int_equal(all->items[0].holder_count, 0);
	assert_string_equal(all->items[0].trouble,
			    "3 uncorrected memory errors since its driver was "
			    "loaded");
	assert_string_equal(all->items[0].model, "AMD Instinct MI300X");
	assert_string_equal(all->items[1].model, "AMD Instinct MI300X, OAM");
	assert_null(all->items[1].trouble);
	assert_int_equal(all->items[1].holder_count, 1);
	assert_int_equal(all->items[1].holders[0].pid, 1);
	arena_free(mem);
}

/* All partitions of a GPU have its place and its UUID. */
static void amd_smi_tells_of_partitions(void **state)
{
	struct arena *mem = arena_new();
	struct devices *all;
	struct error err;
	int i;

	(void)state;
	put_card("card1", "0000:0c:00.0");
	put_card("card2", "0000:df:00.0");
	use_amd_smi();
	put("list.csv",
	    "gpu,gpu_bdf,gpu_uuid\n0,0000:0c:00.0,c0ff\n1,0000:0c:00.0,c0ff\n"
	    "2,0000:df:00.0,bbff\n3,0000:df:00.0,bbff\n");
	put("process.csv",
	    "gpu,process_info\n0,No running processes detected\n");
	all = devices_find(root, mem, &err);
	assert_non_null(all);
	assert_int_equal(all->count, 4);
	for (i = 0; i < 4; i++) {
		static const char *const places[] = { "0000:0c:00.0",
						      "0000:0c:00.0/1",
						      "0000:df:00.0",
						      "0000:df:00.0/1" };

		assert_int_equal(all->items[i].index, i);
		assert_string_equal(all->items[i].bus, places[i]);
	}
	arena_free(mem);
}

/* A node of KFD's topology; location_id is that of the bus. */
static void put_node(int number, const char *gpu_id, unsigned long location,
		     int domain)
{
	char *folder =
		mem_printf("sys/class/kfd/kfd/topology/nodes/%d", number);
	char *id = mem_printf("%s/gpu_id", folder);
	char *path = mem_printf("%s/properties", folder);
	char *text = mem_printf("cpu_cores_count 0\nsimd_count 1216\n"
				"vendor_id 4098\nlocation_id %lu\n"
				"domain %d\nnum_xcc 8\n",
				location, domain);

	put(id, gpu_id);
	put(path, text);
	free(text);
	free(path);
	free(id);
	free(folder);
}

/* ROCm counts by KFD's nodes, of which the tenth is not between the first and
 * the second, and processors are some. */
static void the_order_is_that_of_rocm(void **state)
{
	static const char *const places[] = { "0000:c1:00.0", "0001:05:00.0",
					      "0000:05:00.0", "0000:26:00.0" };
	struct arena *mem = arena_new();
	struct devices *all;
	struct error err;
	int i;

	(void)state;
	put_card("card1", "0000:05:00.0");
	put_card("card2", "0000:26:00.0");
	put_card("card3", "0000:c1:00.0");
	put_card("card4", "0001:05:00.0");
	put_node(0, "0\n", 0, 0);
	put_node(1, "4321\n", 0xc100, 0);
	put_node(2, "1234\n", 0x0500, 1);
	put_node(10, "777\n", 0x0500, 0);
	/* KFD does not know the one at 26. */
	all = devices_find(root, mem, &err);
	assert_non_null(all);
	assert_int_equal(all->count, 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(all->items[i].index, i);
		assert_string_equal(all->items[i].bus, places[i]);
	}
	arena_free(mem);
}

static void partitions_are_in_the_order_of_rocm(void **state)
{
	static const char *const places[] = { "0000:df:00.0", "0000:df:00.0/1",
					      "0000:0c:00.0",
					      "0000:0c:00.0/1" };
	struct arena *mem = arena_new();
	struct devices *all;
	struct error err;
	int i;

	(void)state;
	put_card("card1", "0000:0c:00.0");
	put_card("card2", "0000:df:00.0");
	use_amd_smi();
	put("list.csv",
	    "gpu,gpu_bdf,gpu_uuid\n0,0000:0c:00.0,c0ff\n1,0000:0c:00.0,c0ff\n"
	    "2,0000:df:00.0,bbff\n3,0000:df:00.0,bbff\n");
	put("process.csv",
	    "gpu,process_info\n0,No running processes detected\n");
	/* The highest bits are the number of the partition. */
	put_node(1, "1\n", 0xdf00, 0);
	put_node(2, "2\n", 0x1000df00, 0);
	put_node(3, "3\n", 0x0c00, 0);
	put_node(4, "4\n", 0x10000c00, 0);
	all = devices_find(root, mem, &err);
	assert_non_null(all);
	assert_int_equal(all->count, 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(all->items[i].index, i);
		assert_string_equal(all->items[i].bus, places[i]);
	}
	arena_free(mem);
}

static void without_amd_smi_the_kernel_is_enough(void **state)
{
	struct arena *mem = arena_new();
	struct devices *all;
	struct error err;

	(void)state;
	put_card("card1", "0000:26:00.0");
	use_amd_smi();
	all = devices_find(root, mem, &err);
	assert_non_null(all);
	assert_string_equal(all->source, "/sys/class/drm");
	assert_int_equal(all->count, 1);
	arena_free(mem);
}

static void lines_tell_all_that_is_known(void **state)
{
	struct arena *mem = arena_new();
	struct devices *all = arena_alloc(mem, sizeof(*all)), *read;
	struct buf out = { 0 };

	(void)state;
	all->source = "NVML";
	all->count = 2;
	all->items[0] = (struct device){
		.vendor = "nvidia",
		.model = "A\tB\nC",
		.uuid = "GPU-a",
		.memory_bytes = 5,
		.memory_used_bytes = 3,
		.use_percent = -1,
		.temperature_c = 40,
		.holder_count = 1,
		.holders = { { .pid = 7, .program = "python3" } },
	};
	all->items[1] = (struct device){ .vendor = "nvidia",
					 .index = 1,
					 .slice = true,
					 .run = "a.1",
					 .run_user = "ada",
					 .run_since_ms = 12 };
	devices_write(all, &out);
	read = devices_read(buf_text(&out), mem);
	assert_non_null(read);
	assert_int_equal(read->count, 2);
	assert_string_equal(read->source, "NVML");
	assert_string_equal(read->items[0].model, "A B C");
	assert_null(read->items[0].bus);
	assert_null(read->items[0].run);
	assert_int_equal(read->items[0].use_percent, -1);
	assert_int_equal(read->items[0].holders[0].pid, 7);
	assert_null(read->items[0].holders[0].user);
	assert_true(read->items[1].slice);
	assert_string_equal(read->items[1].run_user, "ada");
	assert_int_equal(read->items[1].run_since_ms, 12);
	assert_null(devices_read("gpu\tnvidia\n", mem));
	read = devices_read("devices\nprocess\t1\nlease\ta\ngpu\n\t\n"
			    "gpu\tamd\n",
			    mem);
	assert_int_equal(read->count, 1);
	assert_int_equal(read->items[0].holder_count, 0);
	buf_done(&out);
	arena_free(mem);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_machine_without_has_none),
		TEST(the_kernel_tells_of_nvidia),
		TEST(the_kernel_tells_of_amd),
		TEST(amd_smi_tells_what_the_kernel_does_not),
		TEST(amd_smi_tells_of_partitions),
		TEST(the_order_is_that_of_rocm),
		TEST(partitions_are_in_the_order_of_rocm),
		TEST(without_amd_smi_the_kernel_is_enough),
		TEST(lines_tell_all_that_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
