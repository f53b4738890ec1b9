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

/* A runtime operator: effects by rank 0, what it is told by the world to all. */
FlRuntimeOp fl_ranks_op;

/* Within fl_stage_recall: rank 0 says what it found of a call's results, or that its key failed (`status`);
 * others are told. `values` are the results and the text of the notes; *keep has the bytes of texts among
 * them. */
FlStatus fl_ranks_look(FlFuture *call, FlSlot *values, const FlType1 *types, int32_t n, FlStatus status,
                       bool *found, FlBuffer **keep);
/* The stage has run on all ranks: with the status of its own at each. */
FlStatus fl_ranks_stage_end(FlFuture *call, FlStatus status);

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

/* An error as texts, which point into it, and back (NULL: no memory). */
enum { FL_ERROR_TEXTS = 3 + FL_MAX_NOTES };
extern const FlType1 fl_error_types[FL_ERROR_TEXTS];
void fl_error_put(const FlError *error, FlSlot out[FL_ERROR_TEXTS]);
FlError *fl_error_take(const FlSlot in[FL_ERROR_TEXTS]);

#endif
