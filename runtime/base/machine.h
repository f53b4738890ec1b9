/* machine.h: how much memory this process may have, how much of it is free, how much it uses. All sizes in
 * bytes. */
#ifndef FL_BASE_MACHINE_H
#define FL_BASE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/* What the machine has, or the least limit of the control groups that this process is in. */
int64_t fl_machine_memory(void);
/* What the machine can still give without taking from others (MemAvailable), and the
 * control groups allow. INT64_MAX: not known. */
int64_t fl_machine_available(void);

/* Pages of this process that are in memory now. `own` are those that are nowhere else: no pages of files. */
typedef struct FlResident {
  int64_t all, own;
} FlResident;
/* Opens what fl_machine_resident reads; -1: not known here. The caller closes it. */
int fl_machine_resident_open(void);
bool fl_machine_resident(int fd, FlResident *out);
/* `own` by a walk over all pages, where the system's count may lag behind; -1: not known. */
int64_t fl_machine_own_counted(void);

/* Gives the system all that the C library keeps. Any thread. */
void fl_machine_trim(void);

#endif
