/* write_behind.h: files of blocks that are written to the disk behind those who fill them, so that a control
 * group, whose limit counts pages of files too, always has pages that it can give back at once.
 *
 * What always holds: writing changes no value; it may happen under readers and writers alike. */
#ifndef FL_DATA_WRITE_BEHIND_H
#define FL_DATA_WRITE_BEHIND_H

#include <stddef.h>
#include <stdint.h>

typedef struct FlWriter FlWriter;
typedef struct FlWritten FlWritten;

/* Starts the thread that writes; at most about `most` bytes then wait to be written. NULL: not possible here.
 */
FlWriter *fl_writer_new(int64_t most);
/* Ends the thread: from now on nothing is written early. NULL is allowed; once. */
void fl_writer_stop(FlWriter *w);
/* After fl_writer_stop, when no file is left. NULL is allowed. */
void fl_writer_free(FlWriter *w);

/* The file is written from now on, until fl_writer_remove, which closes it. NULL: it is closed at once, and
 * the system writes it; also where w is NULL or fd is none. Any thread. */
FlWritten *fl_writer_add(FlWriter *w, int fd, size_t bytes);
void fl_writer_remove(FlWriter *w, FlWritten *file); /* NULL is allowed */

/* So many bytes are about to be written past the page cache: none of them waits to be written. */
void fl_writer_past_cache(FlWriter *w, int64_t bytes);

/* For workers, between pieces of work: waits while more than `most` bytes are to be written. */
void fl_writer_breathe(FlWriter *w);

#endif
