/* order_trade.h: rows that several have in parts, and put in order together (order_trade.c): each learns
 * which of its rows goes to whom. */
#ifndef FL_PART_ORDER_TRADE_H
#define FL_PART_ORDER_TRADE_H

#include "flow/abi.h"

/* The rows of one of them. */
typedef struct FlOrderTrade FlOrderTrade;

/* Of an operator with keys that are no texts (numbers may stand for these), whose `args` are the rows of the
 * cut that are here. Each of those who have rows gets 2^bits pieces of the order, one behind the other; all
 * of them have at most FL_ORDER_PIECES. `together`: equal keys are of one piece; else pieces are about as
 * large. NULL: an error is recorded. The arguments outlive it. */
enum { FL_ORDER_PIECES = 1 << 16 };
FlOrderTrade *fl_order_trade_new(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, const FlCut *cut,
                                 int bits, bool together);
void fl_order_trade_free(FlOrderTrade *t); /* NULL is allowed */
/* Of all rows some are looked at, the same whoever asks: how many of each part, [cut->n]; and which of the
 * rows that are here, counted from the first one. */
void fl_order_sampled(const FlCut *cut, int bits, int64_t *n);
void fl_order_sampled_rows(const FlCut *cut, int bits, int64_t *rows);
/* How many words stand for a row; and those of n rows, one behind the other. */
int64_t fl_order_trade_width(const FlOrderTrade *t);
void fl_order_trade_sample(const FlOrderTrade *t, const int64_t *rows, int64_t n, uint64_t *out);
/* Given the words of all, which are put in order: which of the rows here go to whom. Non-zero: recorded. */
FlStatus fl_order_trade_find(FlOrderTrade *t, uint64_t *sample);
/* Instead: rows go by a hash of their keys, so that equal ones come to one piece, whoever's rows they are,
 * where the keys of both are of the same types; rows with a null key stay where they are. */
FlStatus fl_order_trade_hash(FlOrderTrade *t);
/* How many of the rows here go to piece k of all. */
int64_t fl_order_trade_rows(const FlOrderTrade *t, int64_t k);
/* Of `n` arrays, whose rows are here, those of piece `piece` of each: the rows of arrays[i] for part k go to
 * to[i * cut->n + k], one behind the other as they stand. */
void fl_order_trade_pack(const FlOrderTrade *t, int64_t piece, const FlSlot *arrays, int32_t n,
                         char *const *to);

#endif
