/* scratch.h: bytes that are written once, piece by piece in any place, and then read: in a file without a
 * name, through calls and not through memory, so that a piece costs what it holds and not the pages that it
 * touches. */
#ifndef FL_DATA_SCRATCH_H
#define FL_DATA_SCRATCH_H

#include "data/data.h"

typedef struct FlScratch FlScratch;

/* NULL: error recorded (no disk has the room). */
FlScratch *fl_scratch_new(FlCtx *ctx, int64_t bytes);
void fl_scratch_free(FlScratch *s); /* NULL is allowed */

/* Any thread, with places that nobody else writes. false: the disk fails; fl_scratch_why tells. */
bool fl_scratch_write(FlScratch *s, const void *from, int64_t bytes, int64_t at);
/* After all is written; what follows there is read soon, too. */
bool fl_scratch_read(FlScratch *s, void *to, int64_t bytes, int64_t at);
/* The same of what fl_scratch_soon was told of: nothing more is asked for. */
bool fl_scratch_fetch(FlScratch *s, void *to, int64_t bytes, int64_t at);
/* It will be read soon: the disk may begin. */
void fl_scratch_soon(FlScratch *s, int64_t bytes, int64_t at);

/* errno of a call that failed; 0: none did. `folder` gets where the file lies, where room > 0. */
int fl_scratch_why(const FlScratch *s, char *folder, size_t room);

#endif
