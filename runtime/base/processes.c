/* processes.c: see processes.h. What always holds: nothing is taken from the heap but what opendir takes; a
 * process that ends meanwhile is as one that is not there. */
#include "base/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file of /proc as a text; its length, 0: there is none. */
static size_t read_text(const char *path, char *text, size_t room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
  if (fd >= 0) close(fd);
  text[n > 0 ? n : 0] = '\0';
  return n > 0 ? (size_t)n : 0;
}

char fl_process_state(int64_t pid, uint64_t *begun) {
  enum { FROM_STATE_TO_BEGIN = 19 }; /* words, as proc(5) counts them */
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
  const char *at = read_text(path, text, sizeof text) ? strrchr(text, ')') : NULL; /* behind the name */
  if (!at || at[1] != ' ') return '\0';
  char state = at[2];
  at++;
  for (int k = 0; k < FROM_STATE_TO_BEGIN && at; k++) at = strchr(at + 1, ' ');
  if (begun) *begun = at ? strtoull(at + 1, NULL, 10) : 0;
  return state;
}

/* Each thread of a process has started some. */
int fl_process_children(int64_t pid, int64_t *children, int most) {
  char path[128], text[1 << 14];
  int n = 0;
  snprintf(path, sizeof path, "/proc/%lld/task", (long long)pid);
  DIR *threads = opendir(path);
  for (struct dirent *e; threads && (e = readdir(threads));) {
    if (e->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%lld/task/%.32s/children", (long long)pid, e->d_name);
    read_text(path, text, sizeof text);
    char *end;
    for (char *at = text; *at && n < most; at = end) {
      long child = strtol(at, &end, 10);
      if (end == at) break;
      children[n++] = child;
    }
  }
  if (threads) closedir(threads);
  return n;
}
