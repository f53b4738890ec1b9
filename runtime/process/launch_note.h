/* launch_note.h: what who started ranks and those of its machine tell each other, through a file that both
 * have open. Each field has one writer. */
#ifndef FL_LAUNCH_NOTE_H
#define FL_LAUNCH_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct FlLaunchEnd {
  int32_t left; /* 1 + an exit status; 0: none yet */
  int32_t lost; /* since a rank is lost, so that others will not end by themselves */
} FlLaunchEnd;

/* A process, and when it began. */
typedef struct FlLaunchSeat {
  int64_t pid;
  uint64_t begun;
} FlLaunchSeat;

enum { FL_LAUNCH_SAID = 512 };
/* Behind it in the file are the seats by rank; those of other machines are empty. */
typedef struct FlLaunchNote {
  int32_t asked;             /* the first signal that reached who started the ranks; 0: none */
  int32_t met;               /* the ranks have met */
  FlLaunchEnd end;           /* by the rank that speaks */
  char said[FL_LAUNCH_SAID]; /* by it, before that: sentences for standard error; empty: none */
} FlLaunchNote;

/* A note that others find as `path` while this process lives; its file, -1: there is none. Nothing of it
 * stays behind, however this process ends. */
int fl_launch_note_new(char *path, size_t room);
/* As it is now, without its seats. */
FlLaunchNote fl_launch_note_read(int fd);
void fl_launch_note_asked(int fd, int signal);
/* Who sits at rank k; false: nobody of this machine, or no more. */
bool fl_launch_note_seat(int fd, int k, FlLaunchSeat *out);

#endif
