/* flight.c: single flight within a process: of calls with one key at the same time, one computes.
 *
 * In: keys of stage calls. Out: for each key one leader; the others follow and get what it got. What always
 * holds: a follower waits only for a leader that is running (it entered when its job had begun), so the rule
 * of job.c applies: the leader has nothing on top of it but what it needs itself. */
#include "exec/exec_internal.h"

#include <stdlib.h>
#include <string.h>

struct FlFlightEntry {
  FlFlightEntry *next;
  FlStageKey key; /* the leader's; valid while `landed` is 0 */
  int refs;       /* under the lock: the leader and the followers */
  _Atomic int landed;
  FlStatus status;
  const FlStage *stage;
  FlSlot *results; /* owned copies, only when somebody follows; */
  FlHeap *texts;   /* the bytes of their texts */
  FlError *error;
  FlNotes notes;
};

struct FlFlight {
  pthread_mutex_t lock;
  FlFlightEntry *first;
};

FlFlight *fl_flight_new(void) {
  FlFlight *f = calloc(1, sizeof *f);
  if (f) pthread_mutex_init(&f->lock, NULL);
  return f;
}

void fl_flight_free(FlFlight *f) {
  if (!f) return;
  pthread_mutex_destroy(&f->lock);
  free(f);
}

/* Under the lock. */
static FlFlightEntry **find(FlFlight *f, const FlStageKey *key) {
  FlFlightEntry **at = &f->first;
  while (*at && ((*at)->key.len != key->len || memcmp((*at)->key.bytes, key->bytes, (size_t)key->len)))
    at = &(*at)->next;
  return at;
}

FlFlightEntry *fl_flight_join(FlFlight *f, const FlStageKey *key) {
  pthread_mutex_lock(&f->lock);
  FlFlightEntry **at = find(f, key), *entry = *at;
  if (entry) {
    entry->refs++;
  } else if ((*at = calloc(1, sizeof **at))) {
    (*at)->key = *key;
    (*at)->refs = 1;
  }
  pthread_mutex_unlock(&f->lock);
  return entry;
}

static void unref(FlFlight *f, FlFlightEntry *e) {
  pthread_mutex_lock(&f->lock);
  bool last = --e->refs == 0;
  pthread_mutex_unlock(&f->lock);
  if (!last) return;
  if (e->results) fl_slots_release(e->results, e->stage->result_types, e->stage->n_results);
  free(e->results);
  fl_heap_unref(e->texts);
  fl_error_free(e->error);
  fl_notes_reset(&e->notes);
  free(e);
}

void fl_flight_land(FlFuture *call, const FlStageKey *key, FlStatus status) {
  FlFlight *f = call->run->flight;
  const FlStage *stage = call->stage;
  pthread_mutex_lock(&f->lock);
  FlFlightEntry **at = find(f, key), *e = *at;
  bool followed = e && e->refs > 1;
  if (e) *at = e->next; /* whoever comes now finds the stored result, or computes */
  pthread_mutex_unlock(&f->lock);
  if (!e) return; /* there was no memory for an entry */
  if (followed) {
    e->stage = stage;
    e->status = status;
    e->results = status ? NULL : malloc((size_t)(stage->n_results + 1) * sizeof *e->results);
    if (e->results) {
      if (fl_slots_have_text(stage->result_types, stage->n_results)) e->texts = fl_heap_new(&call->ctx);
      fl_slots_copy(e->texts, e->results, call->results, stage->result_types, stage->n_results);
    } else if (!status) {
      e->status = 4;
    }
    if (call->ctx.error) e->error = fl_error_copy(call->ctx.error);
    fl_notes_copy(&e->notes, &call->ctx.notes);
    /* The followers read the above after they loaded this. seq_cst: before the signal looks who sleeps. */
    atomic_store_explicit(&e->landed, 1, memory_order_seq_cst);
    fl_sched_signal(call->run->sched);
  }
  unref(f, e);
}

static bool has_landed(void *entry) {
  /* seq_cst: who looks once more before it sleeps is the partner of the store above and of the signal. */
  return atomic_load_explicit(&((FlFlightEntry *)entry)->landed, memory_order_seq_cst) != 0;
}

FlStatus fl_flight_follow(FlFuture *call, FlFlightEntry *e) {
  FlRun *run = call->run;
  fl_sched_wait(run->sched, &call->stage_scope, has_landed, e);
  FlStatus status = e->status;
  if (!status) {
    fl_slots_copy(fl_ctx_heap(&call->ctx), call->results, e->results, call->stage->result_types,
                  call->stage->n_results);
    fl_notes_copy(&call->ctx.notes, &e->notes);
    fl_notes_show(&call->ctx.notes, run->report, call->ctx.event);
  } else if (e->error) {
    call->ctx.error = fl_error_copy(e->error);
  } else {
    fl_fail_text(&call->ctx, -1, FL_FAULT_MEMORY, "out of memory");
  }
  unref(run->flight, e);
  return status;
}
