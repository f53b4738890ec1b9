/* spill.h: memory whose place is a file without a name, so that its pages may leave memory. */
#ifndef FL_DATA_SPILL_H
#define FL_DATA_SPILL_H

#include <stddef.h>
#include <stdint.h>

/* Why there is none. */
typedef enum FlSpillStatus {
  FL_SPILL_OK,
  FL_SPILL_NO_FOLDER, /* no folder on a disk may be written */
  FL_SPILL_NO_ROOM,   /* no disk has so much room */
  FL_SPILL_NO_MAP     /* the system maps no more */
} FlSpillStatus;

/* Maps `bytes` (whole pages), all zero, to a new file in `folder`, or where that is NULL, not writable or
 * full in TMPDIR, /var/tmp or /tmp; folders in memory do not count. The room on disk is taken at once, so no
 * later access fails. munmap gives memory and room back. fd: NULL, or gets the file, for the caller to close;
 * -1: it is not worth a number. */
FlSpillStatus fl_spill_map(const char *folder, size_t bytes, void **out, int *fd);

/* A new file without a name in the same folders, with its room taken; the caller closes it. */
FlSpillStatus fl_spill_file(const char *folder, size_t bytes, int *fd);

/* A new file without a name, in TMPDIR, /var/tmp or /tmp, of these first one that is on a disk, for the
 * caller to close; -1: in none of them. */
int fl_spill_open(void);
/* Bytes by which such a file may grow: a twentieth of what the disk has free is left to others, and half of
 * the memory where the folder is in memory. */
int64_t fl_spill_room(int fd);

#endif
