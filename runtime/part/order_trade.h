/* order_trade.h: rows that several have in parts, and put in order together (order_trade.c): each learns
 * which of its rows goes to whom. */
#ifndef FL_PART_ORDER_TRADE_H
#define FL_PART_ORDER_TRADE_H

#include "flow/abi.h"

/* The rows of one of them. */
typedef struct FlOrderTrade FlOrderTrade;

/* Of an operator that sorts rows by keys that are no texts, whose `args` are the rows of the cut that are
 * here. NULL: an error is recorded. The arguments outlive it. */
FlOrderTrade *fl_order_trade_new(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, const FlCut *cut);
void fl_order_trade_free(FlOrderTrade *t); /* NULL is allowed */
/* Of all rows some are looked at, the same whoever asks: how many of each part; [cut->n]. Returns the words
 * that stand for one. */
int64_t fl_order_trade_sampled(const FlOrderTrade *t, int64_t *n);
/* The words of those that are here, one behind the other. */
void fl_order_trade_sample(const FlOrderTrade *t, uint64_t *out);
/* Given the words of all, which are put in order: which of the rows here go to whom. Non-zero: recorded. */
FlStatus fl_order_trade_find(FlOrderTrade *t, uint64_t *sample);
/* How many of the rows here go to part k. */
int64_t fl_order_trade_rows(const FlOrderTrade *t, int32_t k);
/* Rows of `a`, all of which are here, go to to[k], one behind the other as they stand in `a`. */
void fl_order_trade_pack(const FlOrderTrade *t, const FlArray *a, char *const *to);

#endif
