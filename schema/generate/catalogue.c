/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs when jobrun is built: reads the files of schema/catalogue/ from
 * standard input and writes them as tables of C, so that they cost nothing
 * when jobrun starts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/file.h"
#include "schema/catalogue/catalogue_read.h"

#define SIZE_MAX_IN (1 << 20)

static void put_text(const char *text)
{
	if (!text) {
		fputs("0", stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

/* Writes .NAME = "text", */
static void put_member(const char *name, const char *text)
{
	if (!text)
		return;
	printf(" .%s = ", name);
	put_text(text);
	putchar(',');
}

static void put_number(const char *name, unsigned value)
{
	if (value)
		printf(" .%s = %u,", name, value);
}

/* Writes a table of strings with the name PREFIX_I, or PREFIX_I_J in two
 * levels. */
static void put_texts(const char *prefix, size_t i, size_t j,
		      const char *const *items, size_t count)
{
	size_t k;

	if (!count)
		return;
	printf("static const char *const %s_%zu_%zu[] = {", prefix, i, j);
	for (k = 0; k < count; k++) {
		put_text(items[k]);
		putchar(',');
	}
	puts("};");
}

static void put_list(const char *member, const char *counter,
		     const char *prefix, size_t i, size_t j, size_t count)
{
	if (count)
		printf(" .%s = %s_%zu_%zu, .%s = %zu,", member, prefix, i, j,
		       counter, count);
}

static void put_tiers(const struct catalogue *all)
{
	size_t i;

	puts("static const struct tier tiers[] = {");
	for (i = 0; i < all->tier_count; i++) {
		const struct tier *tier = &all->tiers[i];

		putchar('{');
		put_member("name", tier->name);
		put_member("master_type", tier->master_type);
		put_member("worker_type", tier->worker_type);
		put_number("worker_count", tier->worker_count);
		put_member("parameter_server_type",
			   tier->parameter_server_type);
		put_number("parameter_server_count",
			   tier->parameter_server_count);
		put_member("accelerator_type", tier->accelerator_type);
		put_number("accelerator_count", tier->accelerator_count);
		put_member("source", tier->source);
		puts("},");
	}
	puts("};");
}

static void put_machines(const struct machine_family *family, size_t i)
{
	size_t j;

	printf("static const struct machine machines_%zu_0[] = {\n", i);
	for (j = 0; j < family->machine_count; j++) {
		const struct machine *machine = &family->machines[j];

		putchar('{');
		put_member("name", machine->name);
		put_number("vcpus", machine->vcpus);
		printf(" .memory_gb = %.10g,", machine->memory_gb);
		put_member("accelerator_type", machine->accelerator_type);
		put_number("accelerator_count", machine->accelerator_count);
		put_member("like", machine->like);
		put_number("by_spot", machine->by_spot);
		put_number("by_flex_start", machine->by_flex_start);
		put_number("by_reservation", machine->by_reservation);
		put_number("not_at_vertex", machine->not_at_vertex);
		put_number("tpu_chips", machine->tpu_chips);
		put_member("tpu_type", machine->tpu_type);
		puts("},");
	}
	puts("};");
}

static void put_families(const struct catalogue *all)
{
	size_t i;

	for (i = 0; i < all->family_count; i++)
		put_machines(&all->families[i], i);
	puts("static const struct machine_family families[] = {");
	for (i = 0; i < all->family_count; i++) {
		const struct machine_family *family = &all->families[i];

		putchar('{');
		put_member("name", family->name);
		put_number("legacy", family->legacy);
		put_number("unlisted", family->unlisted);
		put_list("machines", "machine_count", "machines", i, 0,
			 family->machine_count);
		put_member("source", family->source);
		puts("},");
	}
	puts("};");
}

static void put_fits(const struct accelerator *accelerator, size_t i)
{
	size_t j, k;

	for (j = 0; j < accelerator->fit_count; j++) {
		const struct fit *fit = &accelerator->fits[j];

		put_texts("fit_machines", i, j, fit->machines,
			  fit->machine_count);
		printf("static const unsigned counts_%zu_%zu[] = {", i, j);
		for (k = 0; k < fit->count_count; k++)
			printf(" %u,", fit->counts[k]);
		puts("};");
	}
	if (!accelerator->fit_count)
		return;
	printf("static const struct fit fits_%zu_0[] = {\n", i);
	for (j = 0; j < accelerator->fit_count; j++) {
		const struct fit *fit = &accelerator->fits[j];

		putchar('{');
		put_list("machines", "machine_count", "fit_machines", i, j,
			 fit->machine_count);
		put_list("counts", "count_count", "counts", i, j,
			 fit->count_count);
		puts("},");
	}
	puts("};");
}

static void put_accelerators(const struct catalogue *all)
{
	size_t i;

	for (i = 0; i < all->accelerator_count; i++) {
		const struct accelerator *one = &all->accelerators[i];

		put_fits(one, i);
		put_texts("accelerator_regions", i, 0, one->regions,
			  one->region_count);
	}
	puts("static const struct accelerator accelerators[] = {");
	for (i = 0; i < all->accelerator_count; i++) {
		const struct accelerator *one = &all->accelerators[i];

		putchar('{');
		put_member("type", one->type);
		put_number("later", one->later);
		put_number("flex_start", one->flex_start);
		put_list("regions", "region_count", "accelerator_regions", i, 0,
			 one->region_count);
		put_list("fits", "fit_count", "fits", i, 0, one->fit_count);
		put_member("source", one->source);
		puts("},");
	}
	puts("};");
}

static void put_strategies(const struct catalogue *all)
{
	size_t i;

	puts("static const struct strategy strategies[] = {");
	for (i = 0; i < all->strategy_count; i++) {
		const struct strategy *one = &all->strategies[i];

		putchar('{');
		put_member("name", one->name);
		put_number("waits", one->waits);
		put_number("some_accelerators", one->some_accelerators);
		put_number("one_machine", one->one_machine);
		put_number("no_reservation", one->no_reservation);
		put_number("max_days", one->max_days);
		put_member("source", one->source);
		puts("},");
	}
	puts("};");
}

static void put_makers(const struct catalogue *all)
{
	size_t i;

	for (i = 0; i < all->maker_count; i++)
		put_texts("maker_lines", i, 0, all->makers[i].lines,
			  all->makers[i].line_count);
	puts("static const struct maker makers[] = {");
	for (i = 0; i < all->maker_count; i++) {
		const struct maker *one = &all->makers[i];

		putchar('{');
		put_member("name", one->name);
		put_member("resource", one->resource);
		put_number("gke", one->gke);
		put_list("lines", "line_count", "maker_lines", i, 0,
			 one->line_count);
		put_member("source", one->source);
		puts("},");
	}
	puts("};");
}

static void put_nodes(const struct catalogue *all)
{
	size_t i;

	puts("static const struct node_share nodes[] = {");
	for (i = 0; i < all->node_count; i++) {
		const struct node_share *one = &all->nodes[i];

		putchar('{');
		put_member("of", one->of);
		printf(" .from = %.10g, .until = %.10g, .share = %.10g,"
		       " .fixed = %.10g,",
		       one->from, one->until, one->share, one->fixed);
		put_member("source", one->source);
		puts("},");
	}
	puts("};");
}

static void put_slices(const struct tpu *tpu, size_t i)
{
	size_t j;

	printf("static const struct slice slices_%zu_0[] = {\n", i);
	for (j = 0; j < tpu->slice_count; j++) {
		const struct slice *slice = &tpu->slices[j];

		putchar('{');
		put_member("name", slice->name);
		put_number("count", slice->count);
		put_number("cores", slice->cores);
		put_number("chips", slice->chips);
		put_number("hosts", slice->hosts);
		put_member("topology", slice->topology);
		puts("},");
	}
	printf("};\nstatic const struct tpu_zone zones_%zu_0[] = {\n", i);
	for (j = 0; j < tpu->zone_count; j++) {
		putchar('{');
		put_member("name", tpu->zones[j].name);
		put_number("min", tpu->zones[j].min);
		put_number("max", tpu->zones[j].max);
		puts("},");
	}
	puts("};");
}

static void put_tpus(const struct catalogue *all)
{
	size_t i;

	for (i = 0; i < all->tpu_count; i++) {
		put_slices(&all->tpus[i], i);
		put_texts("tpu_regions", i, 0, all->tpus[i].regions,
			  all->tpus[i].region_count);
	}
	puts("static const struct tpu tpus[] = {");
	for (i = 0; i < all->tpu_count; i++) {
		const struct tpu *tpu = &all->tpus[i];

		putchar('{');
		put_member("type", tpu->type);
		put_member("pod_type", tpu->pod_type);
		put_member("generation", tpu->generation);
		put_number("devices_per_host", tpu->devices_per_host);
		put_member("api_type", tpu->api_type);
		put_member("vm_runtime", tpu->vm_runtime);
		put_member("gke_slice", tpu->gke_slice);
		put_member("gke_single", tpu->gke_single);
		put_number("flat", tpu->flat);
		put_number("cubes", tpu->cubes);
		put_member("vertex_machine", tpu->vertex_machine);
		put_member("vertex_type", tpu->vertex_type);
		put_list("regions", "region_count", "tpu_regions", i, 0,
			 tpu->region_count);
		put_list("zones", "zone_count", "zones", i, 0, tpu->zone_count);
		put_list("slices", "slice_count", "slices", i, 0,
			 tpu->slice_count);
		put_member("source", tpu->source);
		puts("},");
	}
	puts("};");
}

static void put_regions(const struct catalogue *all)
{
	size_t i, j;

	for (i = 0; i < all->region_group_count; i++) {
		const struct region_group *group = &all->region_groups[i];

		printf("static const struct region regions_%zu_0[] = {\n", i);
		for (j = 0; j < group->region_count; j++) {
			putchar('{');
			put_member("name", group->regions[j].name);
			put_member("zones", group->regions[j].zones);
			puts("},");
		}
		puts("};");
	}
	puts("static const struct region_group region_groups[] = {");
	for (i = 0; i < all->region_group_count; i++) {
		const struct region_group *group = &all->region_groups[i];

		putchar('{');
		put_number("training", group->training);
		put_list("regions", "region_count", "regions", i, 0,
			 group->region_count);
		put_member("source", group->source);
		puts("},");
	}
	puts("};");
}

static void put_runtimes(const struct catalogue *all)
{
	size_t i;

	for (i = 0; i < all->runtime_count; i++)
		put_texts("pythons", i, 0, all->runtimes[i].pythons,
			  all->runtimes[i].python_count);
	puts("static const struct runtime runtimes[] = {");
	for (i = 0; i < all->runtime_count; i++) {
		const struct runtime *runtime = &all->runtimes[i];

		putchar('{');
		put_member("version", runtime->version);
		put_member("released", runtime->released);
		put_list("pythons", "python_count", "pythons", i, 0,
			 runtime->python_count);
		put_number("open", runtime->open);
		put_number("tpu", runtime->tpu);
		put_number("retired", runtime->retired);
		put_member("source", runtime->source);
		puts("},");
	}
	puts("};");
}

static void put_containers(const struct catalogue *all)
{
	size_t i;

	puts("static const struct container containers[] = {");
	for (i = 0; i < all->container_count; i++) {
		const struct container *container = &all->containers[i];

		putchar('{');
		put_member("runtime", container->runtime);
		put_member("python", container->python);
		put_number("device", container->device);
		put_member("image", container->image);
		put_member("until", container->until);
		put_member("source", container->source);
		puts("},");
	}
	puts("};");
}

static void put_table(const char *table, const char *counter)
{
	printf("\t.%s = %s, .%s = sizeof(%s) / sizeof(*%s),\n", table, table,
	       counter, table, table);
}

int main(void)
{
	struct error err = { 0 };
	struct catalogue *all;
	char *text;
	size_t len;

	text = file_read_fd(STDIN_FILENO, "-", SIZE_MAX_IN, &len, &err);
	all = text ? catalogue_read(text, len, &err) : NULL;
	free(text);
	if (!all) {
		fprintf(stderr, "catalogue: %s\n", err.text);
		return 1;
	}
	puts("/* Made from schema/catalogue/: do not edit. */\n"
	     "#include \"schema/catalogue/catalogue_get.h\"");
	put_tiers(all);
	put_families(all);
	put_accelerators(all);
	put_strategies(all);
	put_makers(all);
	put_nodes(all);
	put_tpus(all);
	put_regions(all);
	put_runtimes(all);
	put_containers(all);
	puts("const struct catalogue catalogue_shipped = {");
	printf("\t");
	put_member("date", all->date);
	putchar('\n');
	put_table("tiers", "tier_count");
	put_table("families", "family_count");
	put_table("accelerators", "accelerator_count");
	put_table("strategies", "strategy_count");
	put_table("makers", "maker_count");
	put_table("nodes", "node_count");
	put_table("tpus", "tpu_count");
	put_table("region_groups", "region_group_count");
	put_table("runtimes", "runtime_count");
	put_table("containers", "container_count");
	puts("};");
	catalogue_free(all);
	return fflush(stdout) ? 1 : 0;
}
