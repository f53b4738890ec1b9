/* printed.c: see printed.h. In: the stream of standard output. What always holds: the buffer is the stream's;
 * it is read beside it only when the process is about to end, while no other thread writes it, as far as that
 * can be had.
 *
 * A handler may not call fflush, which may wait for a lock that its own thread holds. The lock of a stream
 * may be taken again by its owner, and what the stream holds is then whole: bytes are counted once they stand
 * in the buffer. */
#include "process/printed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 500, NAP_MS = 10 };

/* Standard output is one for the process, and so is its buffer. */
static char printed[1 << 16];
static bool begun;

void fl_printed_begin(void) {
  for (int fd = 0; fd <= STDERR_FILENO; fd++) /* the lowest that is free is given */
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) _exit(4);
  if (!begun) begun = setvbuf(stdout, printed, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, sizeof printed) == 0;
}

/* A pipe that is full and that nobody reads is waited for once; PIPE_BUF always fits where there is room. */
static void write_out(int fd, const char *at, size_t n) {
  struct pollfd out = {fd, POLLOUT, 0};
  while (n && poll(&out, 1, WAIT_MS) > 0) {
    ssize_t done = write(fd, at, n < PIPE_BUF ? n : PIPE_BUF);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;
    at += done;
    n -= (size_t)done;
  }
}

void fl_printed_rescue(void) {
  const struct timespec nap = {.tv_nsec = NAP_MS * 1000 * 1000};
  bool held = false;
  if (!begun) return;
  for (int tries = 0; !held && tries < WAIT_MS / NAP_MS; tries++) { /* another thread is writing */
    held = ftrylockfile(stdout) == 0;
    if (!held) nanosleep(&nap, NULL);
  }
  size_t n = held ? __fpending(stdout) : 0;
  if (n <= sizeof printed) write_out(STDOUT_FILENO, printed, n);
}

void fl_printed_say(const char *text) { write_out(STDERR_FILENO, text, strlen(text)); }
