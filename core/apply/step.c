/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/step.h"

static const enum step noop[] = { STEP_NEEDS, STEP_END };
/* The resource exists, but its creator may have been killed before it was
 * ready. */
static const enum step ready[] = { STEP_NEEDS, STEP_WAIT, STEP_END };
static const enum step follow[] = { STEP_WATCH, STEP_WAIT, STEP_READ,
				    STEP_END };
static const enum step create[] = { STEP_NEEDS, STEP_CREATE, STEP_WAIT,
				    STEP_END };
static const enum step update[] = { STEP_NEEDS, STEP_UPDATE, STEP_WAIT,
				    STEP_END };
static const enum step replace[] = { STEP_FREE,  STEP_DELETE, STEP_GONE,
				     STEP_NEEDS, STEP_CREATE, STEP_WAIT,
				     STEP_END };
static const enum step delete[] = { STEP_NEEDS, STEP_DELETE, STEP_END };

static const enum step run[] = { STEP_NEEDS, STEP_CREATE, STEP_WATCH,
				 STEP_WAIT,  STEP_READ,   STEP_END };
static const enum step run_detached[] = { STEP_NEEDS, STEP_CREATE, STEP_END };
static const enum step rerun[] = {
	STEP_FREE,   STEP_CANCEL, STEP_WATCH, STEP_WAIT, STEP_GONE, STEP_NEEDS,
	STEP_CREATE, STEP_WATCH,  STEP_WAIT,  STEP_READ, STEP_END,
};
static const enum step rerun_detached[] = {
	STEP_FREE, STEP_CANCEL, STEP_WATCH,  STEP_WAIT,
	STEP_GONE, STEP_NEEDS,  STEP_CREATE, STEP_END,
};
static const enum step end_and_delete[] = {
	STEP_NEEDS, STEP_CANCEL, STEP_WATCH, STEP_WAIT, STEP_DELETE, STEP_END,
};

static const enum step *run_row(const struct action *action, bool detach)
{
	switch (action->type) {
	case ACTION_CREATE:
	case ACTION_RUN:
	case ACTION_UPDATE:
		return detach ? run_detached : run;
	case ACTION_REPLACE:
		return detach ? rerun_detached : rerun;
	case ACTION_DELETE:
		return run_state_is_final(action->have->run.state)
			       ? delete
			       : end_and_delete;
	default:
		return action->follow && !detach ? follow : noop;
	}
}

const enum step *step_row(const struct action *action, bool detach, bool starts,
			  bool self_made)
{
	const struct resource *it = action_resource(action);

	if (it->kind->flags & KIND_RUN)
		return run_row(action, detach);
	if (self_made && action->type != ACTION_DELETE)
		return noop;
	switch (action->type) {
	case ACTION_CREATE:
	case ACTION_RUN:
		return create;
	case ACTION_UPDATE:
		return update;
	case ACTION_REPLACE:
		return replace;
	case ACTION_DELETE:
		return delete;
	default:
		return starts && action->have ? ready : noop;
	}
}

bool step_follows(enum step step)
{
	return step == STEP_WATCH || step == STEP_WAIT || step == STEP_READ;
}

bool step_only_follows(const enum step *row)
{
	for (; *row != STEP_END; row++)
		if (!step_follows(*row))
			return false;
	return true;
}

bool step_changes(enum step step)
{
	return step == STEP_CREATE || step == STEP_UPDATE ||
	       step == STEP_DELETE || step == STEP_CANCEL;
}

const char *step_verb(enum step step, const struct kind *kind)
{
	switch (step) {
	case STEP_CREATE:
		return kind->flags & KIND_RUN ? "start" : "create";
	case STEP_UPDATE:
		return "update";
	case STEP_DELETE:
		return "delete";
	case STEP_CANCEL:
		return "cancel";
	case STEP_WATCH:
		return "watch";
	case STEP_WAIT:
		return "wait for";
	default:
		return "read";
	}
}

void call_make(struct call *call)
{
	const struct kind *kind = call->kind;
	const struct resource *subject = &call->subject;
	struct error *err = &call->err;

	switch (call->step) {
	case STEP_CREATE:
		call->ret = kind->create(call->ctx, subject, err);
		break;
	case STEP_UPDATE:
		call->ret = kind->update(call->ctx, subject, err);
		break;
	case STEP_DELETE:
		call->ret = kind->delete (call->ctx, subject, err);
		break;
	case STEP_CANCEL:
		call->ret = kind->cancel(call->ctx, subject, call->now, err);
		break;
	case STEP_WATCH:
		call->ret = kind->watch(call->ctx, subject, &call->fd, err);
		break;
	case STEP_WAIT:
		call->ret = kind->wait(call->ctx, subject, &call->state, err);
		break;
	default:
		call->ret = kind->read(call->ctx, subject, &call->found, err);
		break;
	}
}
