/* ranks.c: what a run does together with other ranks (ranks/ranks.h): the one place of exec/ where they meet,
 * but for loops (ranks_tasks.c).
 *
 * In: steps of a context whose ranks all do the same: the script's own, and those of stages that it calls.
 * Out: the same steps, with effects by rank 0 alone, and what lies outside as rank 0 found it. What always
 * holds: what one rank finds out by itself, an error of its machine above all, changes what it does only
 * after all have met. */
#include "exec/ranks.h"
#include "base/features.h"
#include "data/spill.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- meetings ------------------------------------------------------------------------------------------ */

static FlStatus fail_lost(FlCtx *ctx) {
  return fl_fail_text(ctx, -1, FL_CODE_RESOURCE, "rank %d has ended before the others", ctx->ranks->lost - 1);
}

/* What came of a meeting in which this rank said `mine`. */
static FlStatus judge(FlCtx *ctx, FlMeeting met, const FlRankSlot *mine) {
  const FlRanks *r = ctx->ranks;
  switch (met) {
  case FL_MET: return 0;
  case FL_MET_FAILED: return mine->failed;
  case FL_MET_ELSEWHERE:
    return fl_fail_text(ctx, mine->site, FL_CODE_INTERNAL, "bug in flow: the ranks are at different steps");
  case FL_MET_OVER: break;
  }
  fl_run_stop(ctx->run, -1);
  if (mine->failed) return mine->failed;
  if (!r->lost) return fl_fail_stopped(ctx);
  return fail_lost(ctx);
}

FlStatus fl_ranks_together(FlCtx *ctx, FlRankSlot *mine) {
  if (!mine->failed && ctx->error) mine->failed = ctx->error->status;
  return judge(ctx, fl_ranks_meet(ctx->ranks, mine), mine);
}

/* ---- parcels: values as the bytes that are sent -------------------------------------------------------- */

bool fl_parcel_pack(FlCtx *ctx, const FlSlot *values, const FlType1 *types, int32_t n, FlParcel *out) {
  FlEncoded e = {0};
  *out = (FlParcel){0};
  if (!fl_codec_encode(ctx, values, types, n, &e)) return false;
  out->buffer = fl_buffer_new(ctx, e.bytes);
  char *to = out->buffer ? out->buffer->data : NULL;
  for (int32_t k = 0; to && k < e.n_pieces; to += e.pieces[k++].iov_len)
    memcpy(to, e.pieces[k].iov_base, e.pieces[k].iov_len);
  out->bytes = e.bytes;
  fl_codec_reset(&e);
  return out->buffer != NULL;
}

void fl_parcel_reset(FlParcel *p) {
  fl_buffer_unref(p->buffer);
  *p = (FlParcel){0};
}

FlStatus fl_parcel_send(FlCtx *ctx, int32_t from, FlParcel *p) {
  FlRanks *r = ctx->ranks;
  if (from != r->here) {
    p->bytes = r->slots[from].bytes;
    p->buffer =
        fl_buffer_new(ctx, p->bytes); /* without room it takes part, and says so when they meet next */
  }
  bool sent = fl_ranks_send(r, from, p->buffer ? p->buffer->data : NULL, p->bytes);
  if (sent && p->buffer) return 0;
  fl_parcel_reset(p);
  return sent ? FL_FAULT_MEMORY : fl_ranks_together(ctx, &(FlRankSlot){.step = FL_RANKS_END, .site = -1});
}

static void release_buffer(void *buffer) { fl_buffer_unref(buffer); }

FlStatus fl_parcel_open(FlCtx *ctx, FlParcel *p, const FlType1 *types, int32_t n, FlSlot *values,
                        FlBuffer **keep) {
  FlParcel whole = *p;
  *p = (FlParcel){0};
  if (fl_codec_decode(whole.buffer->data, whole.bytes, release_buffer, whole.buffer, types, n, values, keep))
    return 0;
  return fl_fail_text(ctx, -1, FL_FAULT_MEMORY, "out of memory for what another rank sent");
}

/* ---- errors as texts ----------------------------------------------------------------------------------- */

const FlType1 fl_error_types[FL_ERROR_TEXTS] = {{.dtype = FL_TEXT}, {.dtype = FL_TEXT}, {.dtype = FL_TEXT},
                                                {.dtype = FL_TEXT}, {.dtype = FL_TEXT}, {.dtype = FL_TEXT},
                                                {.dtype = FL_TEXT}};

static FlSlot text_slot(const char *z) { return (FlSlot){.t = {z ? z : "", z ? (int64_t)strlen(z) : 0}}; }

void fl_error_put(const FlError *e, FlSlot out[FL_ERROR_TEXTS]) {
  out[0].t = (FlText){(const char *)e, sizeof *e};
  out[1] = text_slot(e->message);
  out[2] = text_slot(e->help);
  for (int k = 0; k < FL_MAX_NOTES; k++) out[3 + k] = text_slot(k < e->n_notes ? e->notes[k] : NULL);
}

FlError *fl_error_take(const FlSlot in[FL_ERROR_TEXTS]) {
  FlError e = {0};
  if (in[0].t.len != sizeof e) return NULL;
  memcpy(&e, in[0].t.ptr, sizeof e);
  char *texts[FL_ERROR_TEXTS] = {NULL};
  for (int k = 1; k < FL_ERROR_TEXTS; k++)
    texts[k] = strndup(in[k].t.len ? in[k].t.ptr : "", (size_t)in[k].t.len);
  e.message = texts[1] ? texts[1] : (char *)(uintptr_t)"out of memory";
  e.help = in[2].t.len ? texts[2] : NULL;
  memcpy(e.notes, texts + 3, sizeof e.notes);
  FlError *copy = fl_error_copy(&e);
  for (int k = 1; k < FL_ERROR_TEXTS; k++) free(texts[k]);
  return copy;
}

/* ---- what rank 0 knows --------------------------------------------------------------------------------- */

/* What rank 0 has to say: nothing, values, or the error of its context. At other ranks all but `types` is
 * filled in. */
typedef enum AnswerKind { ANSWER_NONE, ANSWER_VALUES, ANSWER_ERROR } AnswerKind;
typedef struct Answer {
  AnswerKind kind;
  const FlType1 *types;
  int32_t n;
  FlSlot *values;
  FlBuffer *keep; /* the bytes of texts among them */
} Answer;

static bool pack_answer(FlCtx *ctx, const Answer *a, FlParcel *parcel) {
  FlSlot error[FL_ERROR_TEXTS];
  if (a->kind == ANSWER_NONE) return true;
  if (a->kind == ANSWER_VALUES) return fl_parcel_pack(ctx, a->values, a->types, a->n, parcel);
  fl_error_put(ctx->error, error);
  return fl_parcel_pack(ctx, error, fl_error_types, FL_ERROR_TEXTS, parcel);
}

FlStatus fl_error_open(FlCtx *ctx, FlParcel *parcel) {
  FlSlot texts[FL_ERROR_TEXTS];
  FlBuffer *keep = NULL;
  FlStatus s = fl_parcel_open(ctx, parcel, fl_error_types, FL_ERROR_TEXTS, texts, &keep);
  if (s) return s;
  fl_error_free(ctx->error);
  ctx->error = fl_error_take(texts);
  fl_buffer_unref(keep);
  if (!ctx->error) return FL_STATUS_MEMORY;
  ctx->error->order = ctx->n_started;
  return 0;
}

/* Non-zero: the ranks could not agree. That rank 0 has an error is its answer, and no failure. */
static FlStatus answer(FlCtx *ctx, FlRankStep step, int32_t site, Answer *a) {
  FlRanks *r = ctx->ranks;
  FlParcel parcel = {0};
  FlRankSlot mine = {.step = step, .site = site};
  bool first = r->here == 0, lacks = first && !pack_answer(ctx, a, &parcel);
  FlError *held = first ? ctx->error : NULL;
  if (lacks) mine.failed = FL_STATUS_MEMORY;
  if (first) ctx->error = NULL; /* it is not of the meeting */
  mine.kind = first ? (int32_t)a->kind : 0;
  mine.bytes = parcel.bytes;
  FlStatus s = fl_ranks_together(ctx, &mine);
  a->kind = (AnswerKind)r->slots[0].kind;
  if (!s && a->kind != ANSWER_NONE) s = fl_parcel_send(ctx, 0, &parcel);
  if (!s && !first && a->kind == ANSWER_ERROR) s = fl_error_open(ctx, &parcel);
  if (!s && !first && a->kind == ANSWER_VALUES)
    s = fl_parcel_open(ctx, &parcel, a->types, a->n, a->values, &a->keep);
  fl_parcel_reset(&parcel);
  if (held) {
    fl_error_free(ctx->error);
    ctx->error = held;
  }
  return s;
}

/* ---- operators ----------------------------------------------------------------------------------------- */

FlStatus fl_ctx_ask(FlCtx *ctx) {
  FlRanks *r = ctx && ctx->run ? ctx->run->options.ranks : NULL;
  if (!r) return fl_ctx_act(ctx);
  if (r->here == 0 && !ctx->alike) {
    ctx->asked = true;
    return 0;
  }
  return fl_fail_text(ctx, -1, FL_CODE_ELSEWHERE, "asked of rank 0");
}

/* What rank 0 was told, to all. */
static FlStatus share(FlCtx *ctx, const FlOpDesc *desc, FlStatus status, FlSlot *results) {
  bool first = ctx->ranks->here == 0;
  FlSlot *values = first ? results : calloc((size_t)desc->n_results + 1, sizeof *values);
  Answer a = {.kind = status ? ANSWER_ERROR : ANSWER_VALUES,
              .types = desc->result_types,
              .n = desc->n_results,
              .values = values};
  if (!first) fl_fail_forget(ctx);
  FlStatus s = answer(ctx, FL_RANKS_SHARE, desc->site, &a);
  if (first) {
    if (s && !status) fl_slots_release(results, desc->result_types, desc->n_results);
    return s ? s : status;
  }
  if (!s && a.kind == ANSWER_ERROR) s = ctx->error->status;
  if (!s && values) {
    fl_slots_copy(fl_ctx_heap(ctx), results, values, desc->result_types, desc->n_results);
    fl_slots_release(values, desc->result_types, desc->n_results);
  }
  fl_buffer_unref(a.keep);
  free(values);
  return s;
}

FlStatus fl_ranks_op_whole(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  bool first = ctx->ranks->here == 0;
  if (desc->acts) {
    FlStatus s = fl_ranks_together(ctx, &(FlRankSlot){.step = FL_RANKS_ACT, .site = desc->site});
    return s || !first ? s : desc->run(ctx, desc, args, results);
  }
  ctx->asked = false;
  FlStatus s = desc->run(ctx, desc, args, results);
  bool asks = first ? ctx->asked : fl_ctx_asks_elsewhere(ctx);
  return asks ? share(ctx, desc, s, results) : s;
}

FlStatus fl_ctx_agree(FlCtx *ctx, int32_t site, int64_t mine, int64_t *least, int64_t *most) {
  FlRanks *r = ctx ? ctx->ranks : NULL;
  *least = *most = mine;
  if (!r) return 0;
  FlStatus s = fl_ranks_together(ctx, &(FlRankSlot){.step = FL_RANKS_AGREE, .site = site, .values = {mine}});
  for (int32_t k = 0; k < r->n && !s; k++) {
    int64_t its = r->slots[k].values[0];
    if (its < *least) *least = its;
    if (its > *most) *most = its;
  }
  return s;
}

/* ---- stages
 * ------------------------------------------------------------------------------------------------- */

FlStatus fl_ranks_look(FlFuture *call, FlSlot *values, const FlType1 *types, int32_t n, FlStatus status,
                       bool *found, FlBuffer **keep) {
  FlCtx *ctx = &call->ctx;
  Answer a = {.kind = status   ? ANSWER_ERROR
                      : *found ? ANSWER_VALUES
                               : ANSWER_NONE,
              .types = types,
              .n = n,
              .values = values};
  FlStatus s = answer(ctx, FL_RANKS_LOOK, call->site, &a);
  *found = a.kind == ANSWER_VALUES;
  *keep = a.keep;
  return s ? s : a.kind == ANSWER_ERROR ? ctx->error->status : 0;
}

FlStatus fl_ranks_stage_end(FlFuture *call, FlStatus status) {
  FlStatus s = fl_ranks_together(&call->ctx,
                                 &(FlRankSlot){.step = FL_RANKS_STAGE, .site = call->site, .failed = status});
  if (s && !status) fl_slots_release(call->results, call->stage->result_types, call->stage->n_results);
  return s;
}

/* ---- standard input
 * ------------------------------------------------------------------------------------------ */

bool fl_ctx_reads_input(const FlCtx *ctx) {
  const FlRanks *r = ctx && ctx->run ? ctx->run->options.ranks : NULL;
  return !r || (r->here == 0 && !ctx->alike);
}

/* The file's bytes, through a mapping of each rank's own. */
static FlStatus pass_bytes(FlCtx *ctx, int fd) {
  int64_t n = ctx->ranks->slots[0].bytes;
  bool first = ctx->ranks->here == 0;
  if (ctx->ranks->engine->one_process || !n) return 0;
  if (!first && fd >= 0 && ftruncate(fd, n) != 0) fd = -1;
  void *at = fd < 0 ? MAP_FAILED
                    : mmap(NULL, (size_t)n, first ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  bool there = at != MAP_FAILED;
  if (!fl_ranks_send(ctx->ranks, 0, there ? at : NULL, n)) there = false;
  if (at != MAP_FAILED) munmap(at, (size_t)n);
  return there ? 0 : fl_fail_text(ctx, -1, FL_CODE_RESOURCE, "no room for what comes on standard input");
}

bool fl_ctx_is_alone(const FlCtx *ctx) { return !ctx || !ctx->run || !ctx->run->options.ranks; }

bool fl_ctx_pass_input(FlCtx *ctx, bool there, int *copy) {
  *copy = -1;
  if (fl_ctx_is_alone(ctx)) return there;
  FlRanks *r = ctx->ranks;
  if (!r) return fl_ctx_ask(ctx) == 0 && there;
  struct stat found = {0};
  if (r->here == 0 && there && fstat(STDIN_FILENO, &found) != 0) there = false;
  FlRankSlot mine = {.step = FL_RANKS_INPUT, .site = -1, .kind = there, .bytes = found.st_size};
  if (fl_ranks_together(ctx, &mine) || !r->slots[0].kind) return false;
  int fd = r->here == 0 ? STDIN_FILENO : r->engine->one_process ? -1 : fl_spill_open();
  FlStatus s = pass_bytes(ctx, fd);
  if (s && r->here != 0 && fd >= 0) close(fd);
  else if (r->here != 0) *copy = fd;
  return !s;
}

/* ---- the beginning and the end
 * --------------------------------------------------------------------------------- */

/* What ranks must have in common, since bits hang on it: the program, and the kind of processor. */
static void identify(const FlRun *run, FlRankSlot *slot) {
  const char *about = run->program->about ? run->program->about : run->program->name;
  FlDigest d = fl_memo_digest(about, (int64_t)strlen(about));
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  __get_cpuid(1, &eax, &ebx, &ecx, &edx);
  slot->values[2] = (int64_t)d.lo;
  slot->values[3] = (int64_t)fl_features_here();
  slot->values[4] = (int64_t)(eax & 0x0fff0ff0); /* family and model */
}

/* So that what is decided by it is decided alike. */
static FlStatus measure(FlCtx *ctx) {
  FlMeeting met = fl_ranks_measure(ctx->ranks, ctx->run->program->n_sites);
  FlRankSlot mine = {.step = FL_RANKS_BEGIN, .site = -1, .failed = ctx->ranks->loops ? 0 : FL_STATUS_MEMORY};
  return judge(ctx, met, &mine);
}

FlStatus fl_ranks_begin(FlCtx *ctx) {
  FlRun *run = ctx->run;
  FlRanks *r = ctx->ranks;
  FlRankSlot mine = {.step = FL_RANKS_BEGIN, .site = -1, .values = {run->start, run->memo != NULL}};
  identify(run, &mine);
  FlStatus s = fl_ranks_together(ctx, &mine);
  if (s) return s;
  run->start = r->slots[0].values[0];
  r->remembers = r->slots[0].values[1] != 0;
  for (int32_t k = 1; k < r->n && !s; k++) {
    const int64_t *zero = r->slots[0].values, *its = r->slots[k].values;
    if (zero[2] != its[2]) {
      s = fl_fail_text(ctx, -1, FL_CODE_RESOURCE, "rank %d runs another program than rank 0", k);
      fl_fail_help(ctx, "all ranks must be started with the same file, made by the same flow");
    } else if (zero[3] != its[3] || zero[4] != its[4]) {
      s = fl_fail_text(ctx, -1, FL_CODE_RESOURCE, "rank %d has another kind of processor than rank 0", k);
      fl_fail_help(ctx,
                   "products of matrices would have other bits there: start ranks on machines of one kind");
    }
  }
  if (!s) s = measure(ctx);
  if (!s) fl_ranks_watch(run);
  return s;
}

/* Whose error is told: rank 0's, else that of the first that has one; -1: nobody's. */
static int32_t whose_error(const FlRanks *r) {
  for (int32_t k = 0; k < r->n; k++)
    if (r->slots[k].failed && r->slots[k].kind) return k;
  return -1;
}

/* Their numbers differ when one sent while another met: that was a bug, and they have to end all the same. */
static bool all_at_end(const FlRanks *r) {
  for (int32_t k = 0; k < r->n; k++)
    if (r->slots[k].step != FL_RANKS_END) return false;
  return true;
}

/* What the others ran counts as if it had been run here, and what ended them ends this one. */
static void add_up(FlRun *run, const FlRanks *r) {
  for (int32_t k = 1; k < r->n; k++) {
    const int64_t *v = r->slots[k].values;
    fl_report_add_stages(run->report, (int32_t)v[0], (int32_t)v[1], (int32_t)v[2]);
    if (v[3] > 0 && !fl_run_signal(run)) fl_run_stop(run, (int)v[3]);
  }
}

FlStatus fl_ranks_end(FlCtx *ctx, FlStatus status) {
  FlRun *run = ctx->run;
  FlRanks *r = ctx->ranks;
  FlSlot texts[FL_ERROR_TEXTS];
  FlParcel parcel = {0};
  bool real = status && ctx->error && ctx->error->number != FL_CODE_STOPPED - FL_CODE(0);
  FlRankSlot mine = {.step = FL_RANKS_END, .site = -1, .failed = status, .kind = real};
  int32_t counts[3];
  fl_ranks_settle(r);
  fl_report_stages(run->report, counts);
  for (int k = 0; k < 3; k++) mine.values[k] = counts[k];
  mine.values[3] = fl_run_signal(run);
  fl_ranks_watched(run, &mine);
  if (real && r->here) {
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    if (!r->engine->one_process)
      fl_fail_note(ctx, "at rank %d, process %ld on %s", r->here, (long)getpid(), host);
    fl_error_put(ctx->error, texts);
    if (!fl_parcel_pack(ctx, texts, fl_error_types, FL_ERROR_TEXTS, &parcel)) mine.kind = 0;
    mine.bytes = parcel.bytes;
  }
  do { fl_ranks_meet(r, &mine); } while (!r->lost && !all_at_end(r));
  int32_t whose = r->lost ? -1 : whose_error(r);
  if (r->lost && !real) {
    fl_fail_forget(ctx);
    status = fail_lost(ctx);
  }
  if (whose > 0 && fl_parcel_send(ctx, whose, &parcel) == 0 && r->here != whose) {
    fl_fail_forget(ctx);
    FlStatus s = fl_error_open(ctx, &parcel);
    status = s ? s : ctx->error->status;
  }
  if (whose >= 0) status = r->slots[whose].failed;
  else if (!r->lost && !status)
    for (int32_t k = 0; k < r->n && !status; k++) status = r->slots[k].failed;
  fl_parcel_reset(&parcel);
  if (r->lost) return status;
  if (r->here == 0) add_up(run, r);
  fl_ranks_watch_end(run);
  return r->lost && !status ? fail_lost(ctx) : status;
}
