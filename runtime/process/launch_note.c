/* launch_note.c: see launch_note.h. In: the path of the note, from the environment (FLOW_RANKS_STATUS). What
 * always holds: a field is written at once, so that who reads sees it or does not, whenever the writer is
 * killed; who started the ranks has ended when its descriptor is not there any more. */
#include "process/launch_note.h"
#include "base/processes.h"
#include "process/launch.h"
#include "ranks/ranks.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- who started the ranks ----------------------------------------------------------------------------- */

int fl_launch_note_new(char *path, size_t room) {
  const char *folder = getenv("TMPDIR");
  snprintf(path, room, "%s/flow-ranks-XXXXXX", folder && *folder ? folder : "/tmp");
  int fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0) unlink(path);
  if (fd >= 0)
    snprintf(path, room, "%llx:/proc/%ld/fd/%d", (unsigned long long)fl_ranks_machine(), (long)getpid(), fd);
  return fd;
}

FlLaunchNote fl_launch_note_read(int fd) {
  FlLaunchNote note = {0};
  ssize_t n = pread(fd, &note, sizeof note, 0); /* what lies behind the end of the file is zero */
  (void)n;
  return note;
}

void fl_launch_note_asked(int fd, int signal) {
  int32_t word = signal;
  ssize_t n = pwrite(fd, &word, sizeof word, offsetof(FlLaunchNote, asked));
  (void)n; /* it is passed on as well */
}

bool fl_launch_note_seat(int fd, int k, FlLaunchSeat *out) {
  off_t at = (off_t)(sizeof(FlLaunchNote) + (size_t)k * sizeof *out);
  uint64_t begun = 0;
  if (pread(fd, out, sizeof *out, at) != sizeof *out || !out->pid) return false;
  return !fl_process_is_over(fl_process_state(out->pid, &begun)) && begun == out->begun;
}

/* ---- ranks --------------------------------------------------------------------------------------------- */

bool fl_launch_is_ours(void) { return getenv("FLOW_RANKS_STATUS") != NULL; }

/* The variable names the machine as well: the same path is another file on another one. */
static int open_note(int how) {
  const char *where = getenv("FLOW_RANKS_STATUS");
  unsigned long long machine = 0;
  int at = 0;
  if (!where || sscanf(where, "%llx:%n", &machine, &at) != 1 || !at) return -1;
  return machine == fl_ranks_machine() ? open(where + at, how | O_CLOEXEC) : -1;
}

static bool put(size_t at, const void *what, size_t n) {
  int fd = open_note(O_WRONLY);
  bool well = fd >= 0 && pwrite(fd, what, n, (off_t)at) == (ssize_t)n;
  if (fd >= 0) close(fd);
  return well;
}

bool fl_launch_sit(int rank) {
  FlLaunchSeat seat = {.pid = getpid()};
  fl_process_state(seat.pid, &seat.begun);
  return put(sizeof(FlLaunchNote) + (size_t)rank * sizeof seat, &seat, sizeof seat);
}

void fl_launch_met(void) { put(offsetof(FlLaunchNote, met), &(int32_t){1}, sizeof(int32_t)); }

bool fl_launch_say(const char *text) {
  char said[FL_LAUNCH_SAID] = "";
  snprintf(said, sizeof said, "%s", text);
  return put(offsetof(FlLaunchNote, said), said, sizeof said);
}

bool fl_launch_leave_status(int status, bool lost) {
  FlLaunchEnd end = {1 + status, lost};
  return put(offsetof(FlLaunchNote, end), &end, sizeof end);
}

static FlLaunchNote now(bool *there) {
  int fd = open_note(O_RDONLY);
  FlLaunchNote note = {0};
  *there = fd >= 0;
  if (*there) {
    note = fl_launch_note_read(fd);
    close(fd);
  }
  return note;
}

bool fl_launch_status_left(void) {
  bool there;
  return now(&there).end.left != 0;
}

int fl_launch_wants(void) {
  bool there;
  int asked = now(&there).asked;
  return there ? asked : SIGTERM;
}
