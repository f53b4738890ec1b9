/* ranks_trade.h: rows that are in parts between ranks and go to other ranks by their keys, for operators that
 * then work on those that came: ranks_trade.c, as ranks_orders.c and ranks_groups_keys.c see it. */
#ifndef FL_EXEC_RANKS_TRADE_H
#define FL_EXEC_RANKS_TRADE_H

#include "exec/ranks.h"
#include "part/order_trade.h"

typedef struct FlTrade {
  FlCtx *ctx;
  const FlOpDesc *keys; /* whose columns are the keys, which stand first among the arrays */
  const FlCut *cut;     /* how the rows are laid */
  bool together;        /* rows of equal keys go to one piece; else pieces are about as large */
  bool hashed;          /* by a hash of the keys, and not by their order; `bits` is given */
  bool numbered;        /* the numbers of the rows go with them, behind the arrays */
  int32_t n_arrays;
  /* Made by fl_trade_begin. Each rank gets 2^bits pieces of the order of keys, one behind the other. */
  int bits;
  int32_t n;      /* different arrays, and the numbers */
  int32_t *which; /* [n_arrays] which of those it is */
  FlSlot *here;   /* [n] the own rows of them */
  FlSlot *came;   /* [n] room for those of a piece; of texts, those that came */
  FlSlot *given;  /* [n] of texts: room for those that go out, a rank's behind the other's */
  FlSlot *stands; /* [n] of keys that are texts: i64, numbers of own rows that stand for them */
  FlOrderTrade *trade;
  FlArray *packed; /* what goes to others of a piece */
  /* Of the own pieces, or of one for another rank: [ranks << bits] by rank and piece. */
  int64_t *gives, *takes;
  char **to;          /* [n * ranks] where rows of a piece are packed */
  FlRankTrade *with;  /* [n * ranks] of a piece */
  int64_t rows, most; /* that come in all, and of the largest piece */
} FlTrade;

/* Afterwards all know what goes where, and have room for it; the last meeting has the rows that come to each
 * as value 3. fl_trade_end in any case. */
FlStatus fl_trade_begin(FlTrade *t, const FlSlot *arrays);
void fl_trade_end(FlTrade *t);
/* The ranks meet: `own` is how it went here. */
FlStatus fl_trade_meet(const FlTrade *t, FlStatus own);

/* How many pieces each rank gets of so many rows; `together`: of whole groups. */
int fl_trade_bits(const FlRanks *r, int64_t rows, bool together);
/* The rows of the piece come to each; *rows: how many to this one. How it went is the same at all ranks. */
FlStatus fl_trade_bring(const FlTrade *t, int64_t piece, int64_t *rows);
/* Those that came, of each array, and their numbers. NULL: no memory, recorded. */
FlSlot *fl_trade_came(const FlTrade *t, int64_t rows);
void fl_trade_let_go(const FlTrade *t, FlSlot *came); /* NULL is allowed */

/* The rows of a piece: `at` of those that come are before them. */
typedef FlStatus FlTradePiece(void *env, const FlSlot *arrays, int64_t rows, int64_t at);
/* All pieces, one after the other. Who fails goes on giving others their rows; how it went is the rank's own
 * matter, unless *lost: then it is the same at all. */
FlStatus fl_trade_pieces(const FlTrade *t, FlTradePiece *piece, void *env, bool *lost);

/* Numbers that stand for texts of own rows, by which rows go to others: ranks_texts.c. Those of `rows`, which
 * all look at, `n` of each rank, are exact: one of another text is below, above or the same as the texts are.
 * All ranks do this; how it went is the same at all. */
FlStatus fl_texts_in_order(FlCtx *ctx, int32_t site, FlArray *texts, const int64_t *rows, const int64_t *n,
                           FlArray **numbers);
/* Or the same where the texts are, whoever's rows these are. NULL: out of memory, recorded. */
FlArray *fl_texts_hashed(FlCtx *ctx, const FlArray *texts);

#endif
