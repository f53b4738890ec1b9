/* ranks.h: runs of several ranks, as the files of this room see them: ranks.c, ranks_tasks.c. A context has
 * `ranks` where all of them do the same; those of tasks have none. */
#ifndef FL_EXEC_RANKS_H
#define FL_EXEC_RANKS_H

#include "data/codec.h"
#include "exec/exec_internal.h"
#include "ranks/ranks.h"

/* All ranks meet; `failed` is that of the context where it is not set. Non-zero: all have failed, each by
 * itself, or one has, and the run is over; recorded. */
FlStatus fl_ranks_together(FlCtx *ctx, FlRankSlot *mine);

/* Before the program runs; after it, with its status: gives that of the first error of all, which rank 0 then
 * has. */
FlStatus fl_ranks_begin(FlCtx *ctx);
FlStatus fl_ranks_end(FlCtx *ctx, FlStatus status);

/* Watching over ranks (ranks_watch.c). The program begins. */
void fl_ranks_watch(FlRun *run);
/* What this rank says of itself in the last meeting: values[4 .. 6] and the rest of its slot. */
void fl_ranks_watched(const FlRun *run, FlRankSlot *slot);
/* All have met at the end, and none is lost: rank 0's report learns what each did. They meet once more where
 * it has a timeline. */
void fl_ranks_watch_end(FlRun *run);

/* A runtime operator: effects by rank 0, what it is told by the world to all; on rows in parts where it has
 * such a form (ranks_ops.c), else on whole arrays. */
FlRuntimeOp fl_ranks_op;
/* Within it: on whole arrays. */
FlRuntimeOp fl_ranks_op_whole;
/* Within it: GROUP_ROWS, or an AGGREGATE of all rows, of arrays of which each rank has the rows of the cut,
 * or all: whole results at all; *done false: nothing is made. */
FlStatus fl_ranks_groups(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, const FlSlot *args,
                         FlSlot *results, bool *done);

/* Within fl_stage_recall: rank 0 says what it found of a call's results, or that its key failed (`status`);
 * others are told. `values` are the results and the text of the notes; *keep has the bytes of texts among
 * them. */
FlStatus fl_ranks_look(FlFuture *call, FlSlot *values, const FlType1 *types, int32_t n, FlStatus status,
                       bool *found, FlBuffer **keep);
/* The stage has run on all ranks: with the status of its own at each. */
FlStatus fl_ranks_stage_end(FlFuture *call, FlStatus status);

/* Within it: an operator on arrays of which each rank has some rows, or that ranks share. *done false:
 * neither; all arrays are whole then. */
typedef FlStatus FlRanksOp(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results, bool *done);
FlRanksOp fl_ranks_product; /* ranks_products.c */
FlRanksOp fl_ranks_sweep;   /* ranks_sweeps.c */
FlRanksOp fl_ranks_sort;    /* ranks_sorts.c */
FlRanksOp fl_ranks_take;    /* ranks_take.c */
FlRanksOp fl_ranks_join;    /* ranks_joins.c */
FlRanksOp fl_ranks_read;    /* ranks_reads.c */
FlRanksOp fl_ranks_slice;   /* ranks_reads.c */
/* How many arguments the first columns of an operator are: keys, and which of them are null. */
int32_t fl_key_args(const FlOpDesc *desc, int32_t n_columns);
/* Within that: of arrays of which each rank has the rows of the cut, or all. ranks_orders.c */
FlStatus fl_ranks_order(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, const FlSlot *args,
                        FlSlot *results);

/* Values as bytes on their way between ranks. */
typedef struct FlParcel {
  FlBuffer *buffer;
  int64_t bytes;
} FlParcel;
bool fl_parcel_pack(FlCtx *ctx, const FlSlot *values, const FlType1 *types, int32_t n, FlParcel *out);
void fl_parcel_reset(FlParcel *parcel);
/* After a meeting in which rank `from` said its size: its parcel to all. */
FlStatus fl_parcel_send(FlCtx *ctx, int32_t from, FlParcel *parcel);
/* Consumes the parcel. */
FlStatus fl_parcel_open(FlCtx *ctx, FlParcel *parcel, const FlType1 *types, int32_t n, FlSlot *values,
                        FlBuffer **keep);

/* ---- rows in parts: ranks_rows.c ------------------------------------------------------------------- */

/* An array that is here in part becomes whole: all ranks send what they have to all. Nothing where it is. */
FlStatus fl_rows_gather(FlCtx *ctx, int32_t site, FlArray *a);
/* How so many rows, of `each` elements, are laid in parts when an array is made in parts: whole blocks of
 * elements, where there are enough. NULL: out of memory, recorded. */
const FlCut *fl_rows_cut(FlCtx *ctx, int64_t rows, int64_t each);
/* Whether arrays of so many elements stay in parts: there are enough, and a rank's share is small against
 * --memory, since rows in parts have no place on disk. */
bool fl_rows_are_many(const FlCtx *ctx, int64_t n);
/* The same of arrays whose rows are elsewhere already: they stay so from fewer on. */
bool fl_rows_lie_apart(const FlCtx *ctx, int64_t n);
/* Elements [from, to) of `a`, which has memory there, of rank k to all. Not of texts. false: a rank is lost.
 */
bool fl_rows_send(FlCtx *ctx, int32_t k, FlArray *a, int64_t from, int64_t to);
/* The cut in which each rank has as many rows as it said in the last meeting as value `value`. NULL: out of
 * memory, recorded. */
const FlCut *fl_rows_cut_by(FlCtx *ctx, int value);
/* An operator's results, which are of the rows of the cut that are here, as arrays in parts; whole where they
 * must be, or are few. Consumes them where it fails. */
FlStatus fl_rows_place(FlCtx *ctx, const FlOpDesc *desc, const FlCut *cut, FlSlot *results);
/* The ranks meet: `own` is how it went here. */
FlStatus fl_rows_meet(FlCtx *ctx, int32_t site, FlStatus own);
/* After a meeting in which a rank was lost. */
FlStatus fl_rows_lost(FlCtx *ctx);
/* What came of a step at each rank's rows, of which some may have failed: `failed` is this rank's own fault,
 * which its context has recorded, and `rank` and `pos` where in the program and at which element that was:
 * the first of all is everybody's then. values[3..] of the slot are the caller's. */
typedef struct FlRowsFault {
  bool failed;
  int64_t rank, pos;
} FlRowsFault;
FlStatus fl_rows_agree(FlCtx *ctx, FlRankSlot *mine, const FlRowsFault *fault);

/* An error as texts, which point into it, and back (NULL: no memory). */
enum { FL_ERROR_TEXTS = 3 + FL_MAX_NOTES };
extern const FlType1 fl_error_types[FL_ERROR_TEXTS];
void fl_error_put(const FlError *error, FlSlot out[FL_ERROR_TEXTS]);
FlError *fl_error_take(const FlSlot in[FL_ERROR_TEXTS]);
/* The error that another rank sent becomes that of the context. Consumes the parcel. */
FlStatus fl_error_open(FlCtx *ctx, FlParcel *parcel);

#endif
