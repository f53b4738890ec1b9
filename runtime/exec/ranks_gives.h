/* ranks_gives.h: so many things of each rank for each other one, which these learn first: ranks_gives.c, as
 * ranks_take.c and ranks_pairs.c see them. */
#ifndef FL_EXEC_RANKS_GIVES_H
#define FL_EXEC_RANKS_GIVES_H

#include "exec/ranks.h"

typedef struct FlGives {
  FlRanks *ranks;
  int64_t *gives, *takes; /* [ranks] things */
  FlRankTrade *with;      /* [ranks] */
} FlGives;

/* false: no memory, and fl_gives_reset is still to be called. */
bool fl_gives_init(FlGives *g, FlRanks *ranks);
void fl_gives_reset(FlGives *g);
/* All tell each other what they give. false: a rank is lost. */
bool fl_gives_tell(FlGives *g);
int64_t fl_gives_taken(const FlGives *g); /* things, of all */
/* Behind a meeting in which nobody failed: those of each rank, `size` bytes each, one rank's behind the
 * other's in `from`, come to `to` likewise. false: a rank is lost. */
bool fl_gives_trade(FlGives *g, const void *from, void *to, int64_t size);
/* The other way: what was taken goes back to who gave it. */
bool fl_gives_return(FlGives *g, const void *from, void *to, int64_t size);
/* The same of arrays of texts, whose bytes `to` keeps: all ranks do this, and how it went is the same at all.
 */
FlStatus fl_gives_return_texts(FlCtx *ctx, int32_t site, const FlGives *rows, const FlArray *from,
                               FlArray *to);

#endif
