/* recall.c: the results of a stage call, remembered or computed.
 *
 * In: a stage call. Out: its results, whoever computed them and when. What always holds: the key says
 * everything that the results depend on; errors are never stored; results are the same whether they were
 * remembered or not; of many calls with one key, in this process and in others, one computes.
 *
 * key := "flow.stage" version:u32 abi:u32 n_args:u32 code:digest machine:digest arg*
 *        machine: zero unless results depend on it         arg := dtype:u8 rank:u8 depth:u8 0:u8 digest
 *
 * Which results are stored (FlStage.memo): 1 all, -1 none, 0 all but those that are large and were made
 * faster than they can be read back. */
#include "exec/exec_internal.h"
#include "exec/ranks.h"
#include "data/codec.h"
#include "io/value_check.h"

#include <stdlib.h>
#include <string.h>

enum { FL_KEY_VERSION = 3, FL_LARGE = 16 << 20, FL_WAIT_MS = 100 };
/* A stored result is read, checked and mapped at about this rate: what is made faster is not worth its place.
 */
static const double BYTES_PER_NS = 2.0;

/* Errors here are of the call, which is their place. */

static bool is_files(FlType1 t) { return t.dtype == FL_FILE && t.depth == 0; }

static FlStatus file_digest(FlCtx *ctx, FlText path, bool again, FlDigest *out) {
  if (!again) return fl_file_digest(ctx, -1, path, out);
  return fl_file_digest_again(ctx, path, out) ? 0 : 1;
}

/* The identity of files is their content. `again`: fl_file_digest_again, which records no error. */
static FlStatus files_digest(FlCtx *ctx, FlType1 t, FlSlot value, bool again, FlDigest *out) {
  if (t.rank == 0) return file_digest(ctx, value.t, again, out);
  const FlText *paths = value.a->data;
  int64_t n = fl_array_count(value.a);
  FlDigest *each = malloc((size_t)(n ? n : 1) * sizeof *each);
  if (!each) return again ? 1 : fl_fail_text(ctx, -1, FL_FAULT_MEMORY, "out of memory");
  FlStatus s = 0;
  for (int64_t i = 0; i < n && !s; i++) s = file_digest(ctx, paths[i], again, &each[i]);
  if (!s) *out = fl_memo_digest(each, n * (int64_t)sizeof *each);
  free(each);
  return s;
}

static FlStatus arg_digest(FlCtx *ctx, FlType1 t, FlSlot value, FlDigest *out) {
  if (is_files(t)) return files_digest(ctx, t, value, false, out);
  *out = t.rank > 0 || t.depth > 0 ? fl_ctx_array_digest(ctx, value.a) : fl_scalar_digest(t.dtype, value);
  return 0;
}

/* After the stage was computed: whether what it read of its files is what its key was made of. */
static bool files_kept(FlFuture *call, const FlStageKey *key) {
  const FlStage *stage = call->stage;
  bool kept = fl_files_stay(&call->ctx, &(FlIoError){0});
  for (int32_t i = 0; kept && i < stage->n_args; i++) {
    FlDigest now;
    kept = !is_files(stage->arg_types[i]) ||
           (files_digest(&call->ctx, stage->arg_types[i], call->args[i], true, &now) == 0 &&
            fl_memo_digest_same(now, key->args[i]));
  }
  if (!kept)
    fl_run_warn(call->run,
                "a file that stage `%s` reads changed during this run: its result is not remembered",
                stage->name);
  return kept;
}

FlStatus fl_stage_key(FlCtx *ctx, FlFuture *call, FlStageKey *out) {
  static const char magic[12] = "flow.stage";
  const FlStage *stage = call->stage;
  uint32_t head[3] = {FL_KEY_VERSION, FL_ABI_VERSION, (uint32_t)stage->n_args};
  FlDigest code[2] = {stage->code, stage->machine ? stage->machine() : (FlDigest){0, 0}};
  int64_t n = stage->n_args, fixed = (int64_t)(sizeof magic + sizeof head + sizeof code);
  out->len = fixed + n * (int64_t)(4 + sizeof(FlDigest));
  out->bytes = malloc((size_t)out->len + (size_t)n * sizeof(FlDigest) + alignof(FlDigest));
  if (!out->bytes) return fl_fail_text(ctx, -1, FL_FAULT_MEMORY, "out of memory");
  out->args = (FlDigest *)(out->bytes + (out->len + 7) / 8 * 8);
  char *at = out->bytes;
  memcpy(at, magic, sizeof magic);
  memcpy(at += sizeof magic, head, sizeof head);
  memcpy(at += sizeof head, code, sizeof code);
  at += sizeof code;
  for (int64_t i = 0; i < n; i++) {
    FlType1 t = stage->arg_types[i];
    FlStatus s = arg_digest(ctx, t, call->args[i], &out->args[i]);
    if (s) {
      free(out->bytes);
      out->bytes = NULL;
      return s;
    }
    memcpy(at, &t, 4);
    memcpy(at + 4, &out->args[i], sizeof out->args[i]);
    at += 4 + sizeof out->args[i];
  }
  out->digest = fl_memo_digest(out->bytes, out->len);
  return 0;
}

/* ---- the payload: the results, then a text with the notes ------------------------------------------ */

static FlType1 *payload_types(const FlStage *stage) {
  FlType1 *types = malloc((size_t)(stage->n_results + 1) * sizeof *types);
  if (!types) return NULL;
  if (stage->n_results) memcpy(types, stage->result_types, (size_t)stage->n_results * sizeof *types);
  types[stage->n_results] = (FlType1){.dtype = FL_TEXT};
  return types;
}

static void release_entry(void *entry) { fl_memo_unmap(entry); }

/* Results and notes out of an entry, which is consumed. */
static bool decode(FlFuture *call, FlMemoEntry *entry) {
  const FlStage *stage = call->stage;
  int32_t n = stage->n_results;
  FlType1 *types = payload_types(stage);
  FlSlot *values = malloc((size_t)(n + 1) * sizeof *values);
  FlBuffer *keep = NULL;
  bool ok = types && values;
  if (!ok) fl_memo_unmap(entry);
  ok = ok && fl_codec_decode(entry->payload, entry->bytes, release_entry, entry, types, n + 1, values, &keep);
  if (ok) {
    FlNotes notes = {0};
    /* What others may have written is looked at before compiled code relies on it. */
    bool good =
        fl_memo_is_private(call->run->memo) || fl_value_check_parts(stage->result_type, types, n, values);
    if (good && fl_notes_decode(values[n].t, &notes)) {
      fl_notes_show(&notes, call->run->report, call->ctx.event);
      fl_notes_move(&call->ctx.notes, &notes);
      /* Copies the texts, which would go with the mapping. */
      fl_slots_copy(fl_ctx_heap(&call->ctx), call->results, values, types, n);
    } else {
      ok = false;
    }
    fl_notes_reset(&notes);
    fl_slots_release(values, types, n);
  }
  fl_buffer_unref(keep);
  free(types);
  free(values);
  return ok;
}

/* Says what became of the result, and how many bytes it has. */
static FlStageKept store(FlFuture *call, FlMemoKey key, int64_t took, int64_t *bytes) {
  FlStageKept kept = FL_KEPT_LOST;
  const FlStage *stage = call->stage;
  int32_t n = stage->n_results;
  FlType1 *types = payload_types(stage);
  FlSlot *values = malloc((size_t)(n + 1) * sizeof *values);
  FlEncoded encoded = {0};
  FlText notes = {0};
  if (types && values && fl_notes_encode(&call->ctx.notes, &notes)) {
    if (n) memcpy(values, call->results, (size_t)n * sizeof *values);
    values[n].t = notes;
    /* So that they travel along, and whoever loads the result need not read it all. */
    for (int32_t i = 0; i < n; i++)
      if ((types[i].rank || types[i].depth) && values[i].a) fl_ctx_array_digest(&call->ctx, values[i].a);
    if (fl_codec_encode(&call->ctx, values, types, n + 1, &encoded)) {
      bool cheap = encoded.bytes >= FL_LARGE && (double)took * BYTES_PER_NS < (double)encoded.bytes;
      *bytes = encoded.bytes;
      if (stage->memo <= 0 && cheap) kept = FL_KEPT_CHEAP;
      else if (call->run->tried_until)
        kept = fl_run_wait_to_store(call->run, key, &encoded) ? FL_KEPT_YES : FL_KEPT_LOST;
      else if (fl_memo_put(call->run->memo, key, encoded.pieces, encoded.n_pieces, NULL) == FL_MEMO_OK)
        kept = FL_KEPT_YES;
      fl_codec_reset(&encoded);
    } else if (call->ctx.error) { /* the result is there, only not remembered */
      fl_run_warn(call->run, "the result of stage `%s` is not remembered: %s", stage->name,
                  call->ctx.error->message);
      fl_error_free(call->ctx.error);
      call->ctx.error = NULL;
    }
  }
  free((char *)notes.ptr);
  free(types);
  free(values);
  return kept;
}

/* ---- looking up and computing ---------------------------------------------------------------------- */

/* The right to compute, waiting while another process does; or its result. */
static FlMemoClaimed claim(FlFuture *call, FlMemoKey key, FlMemoEntry **entry, FlMemoClaim **mine) {
  FlMemo *memo = call->run->memo;
  FlMemoClaimed c = fl_memo_claim(memo, key, 0, entry, mine);
  while (c == FL_MEMO_BUSY && !fl_ctx_is_stopped(&call->ctx))
    c = fl_memo_claim(memo, key, FL_WAIT_MS, entry, mine);
  return c;
}

/* What rank 0 found, or that it failed, to all ranks that make the call. */
static FlStatus look_together(FlFuture *call, FlStatus status, bool *found) {
  const FlStage *stage = call->stage;
  int32_t n = stage->n_results;
  FlType1 *types = payload_types(stage);
  FlSlot *values = calloc((size_t)n + 1, sizeof *values);
  FlText notes = {0};
  FlBuffer *keep = NULL;
  bool first = call->ctx.ranks->here == 0, had = *found;
  bool ok = types && values && (!had || fl_notes_encode(&call->ctx.notes, &notes));
  if (ok && had && n) memcpy(values, call->results, (size_t)n * sizeof *values);
  if (ok) values[n].t = notes;
  FlStatus s =
      ok ? fl_ranks_look(call, values, types, n + 1, status, found, &keep)
         : fl_ranks_together(&call->ctx, &(FlRankSlot){.step = FL_RANKS_LOOK, .failed = FL_STATUS_MEMORY});
  if (!s && *found && !first) {
    if (!fl_notes_decode(values[n].t, &call->ctx.notes))
      s = fl_fail_text(&call->ctx, -1, FL_FAULT_MEMORY, "out of memory");
    else fl_slots_copy(fl_ctx_heap(&call->ctx), call->results, values, types, n);
    fl_slots_release(values, types, n);
  }
  if (s && had) fl_slots_release(call->results, stage->result_types, n);
  fl_buffer_unref(keep);
  free((char *)notes.ptr);
  free(types);
  free(values);
  return s;
}

FlStatus fl_stage_follow(FlFuture *call) {
  bool found = false;
  FlStatus s = look_together(call, 0, &found);
  return s || found ? s : fl_stage_compute(call);
}

/* As the leader of this process. */
static FlStatus compute_or_load(FlFuture *call, const FlStageKey *key, FlStageHow *how, FlStageKept *kept,
                                int64_t *bytes) {
  FlMemoKey k = {key->bytes, key->len, call->stage->name};
  FlMemoEntry *entry = NULL;
  FlMemoClaim *mine = NULL;
  if (fl_run_waits_to_store(call->run, k)) return fl_ctx_act(&call->ctx); /* it would be read back */
  FlMemoClaimed c = claim(call, k, &entry, &mine);
  int64_t its = c == FL_MEMO_HIT ? entry->bytes : 0;
  bool found = c == FL_MEMO_HIT && decode(call, entry);
  FlStatus status = call->ctx.ranks ? look_together(call, 0, &found) : 0;
  if (found) {
    *how = FL_STAGE_CACHED;
    *kept = FL_KEPT_YES;
    *bytes = its;
  }
  if (status || found) {
    fl_memo_release(call->run->memo, mine);
    return status;
  }
  if (c == FL_MEMO_HIT) {
    fl_run_warn(call->run, "a remembered result of stage `%s` is damaged and is computed again",
                call->stage->name);
  }
  int64_t begin = fl_report_now(call->run->report);
  status = fl_ctx_is_stopped(&call->ctx) ? fl_fail_stopped(&call->ctx) : fl_stage_compute(call);
  int64_t took = fl_report_now(call->run->report) - begin;
  *kept = status ? FL_KEPT_FAILED : FL_KEPT_CHANGED;
  if (!status && files_kept(call, key)) *kept = store(call, k, took, bytes);
  fl_memo_release(call->run->memo, mine);
  *how = !status ? FL_STAGE_RUN : fl_ctx_asks_elsewhere(&call->ctx) ? FL_STAGE_ELSEWHERE : FL_STAGE_FAILED;
  return status;
}

FlStatus fl_stage_recall(FlFuture *call) {
  FlRun *run = call->run;
  FlStageHow how = FL_STAGE_FAILED;
  FlStageKept kept = FL_KEPT_FAILED;
  FlStageKey key = {0};
  int64_t bytes = 0;
  char *text = NULL;
  FlStatus status = fl_fill_all(&call->ctx, call->stage->n_args, call->stage->arg_types, call->args);
  if (!status) status = fl_stage_key(&call->ctx, call, &key);
  if (status && call->ctx.ranks) look_together(call, status, &(bool){false});
  if (!status) {
    FlFlightEntry *other = fl_flight_join(run->flight, &key);
    if (other) {
      status = fl_flight_follow(call, other);
      how = !status                             ? FL_STAGE_CACHED
            : fl_ctx_asks_elsewhere(&call->ctx) ? FL_STAGE_ELSEWHERE
                                                : FL_STAGE_FAILED;
      if (!status) kept = FL_KEPT_YES;
    } else {
      status = compute_or_load(call, &key, &how, &kept, &bytes);
      fl_flight_land(call, &key, status);
    }
    text = fl_stage_key_text(call->stage, &key, call->args);
  }
  call->status = status;
  FlStageEnd end = fl_stage_end(call, how, kept);
  end.bytes = bytes;
  end.key = text;
  fl_report_stage_end(run->report, call->ctx.event, end);
  free(key.bytes);
  return status;
}
