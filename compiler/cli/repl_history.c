/* repl_history.c: see repl_history.h. What always holds: the file is the user's alone and regular, or not
 * touched; an entry is there whole or not at all; one that is too long, or that cannot be written, is not
 * kept, and nobody hears of it. */
#include "cli/repl_history.h"

#include "base/state_path.h"
#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONG = 1 << 18 }; /* bytes from which on it is made shorter */

/* -1: there is none that is ours alone. */
static int open_file(const char *path, int flags) {
  struct stat st;
  int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077))
    return fd;
  if (fd >= 0) close(fd);
  return -1;
}

/* "a\\nb" as the two lines it stands for, in place. */
static void unescape(char *line) {
  char *to = line;
  for (const char *at = line; *at; at++) {
    if (*at == '\\' && at[1]) {
      *to++ = at[1] == 'n' ? '\n' : at[1];
      at++;
    } else {
      *to++ = *at;
    }
  }
  *to = '\0';
}

/* The file's entries as they stand there, the last FL_HISTORY_MOST; *n: how many bytes all of it has. */
static char *last_lines(const char *path, size_t *n) {
  int fd = open_file(path, O_RDONLY);
  FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
  if (!f && fd >= 0) close(fd);
  *n = 0;
  if (!f) return NULL;
  char *text = NULL;
  size_t room = 0;
  ssize_t got = getdelim(&text, &room, '\0', f); /* an entry has no zero */
  fclose(f);
  if (got < 0) return free(text), NULL;
  *n = (size_t)got;
  int lines = 0;
  const char *from = text + got;
  while (from > text && (from[-1] != '\n' || from == text + got || ++lines < FL_HISTORY_MOST)) from--;
  memmove(text, from, (size_t)(text + got - from) + 1);
  return text;
}

void fl_history_read(void *env, void (*tell)(void *env, const char *text)) {
  char path[PATH_MAX];
  size_t n;
  char *text = fl_state_path("history", path, false) ? last_lines(path, &n) : NULL, *rest = text;
  for (char *line; rest && (line = strsep(&rest, "\n"));) {
    unescape(line);
    if (*line) tell(env, line);
  }
  free(text);
}

/* Leaves the last entries, by a file that takes its place. */
static void shorten(const char *path) {
  size_t n;
  char *text = last_lines(path, &n);
  FlWholeFile file;
  if (text && fl_whole_open(path, 0600, &file)) {
    if (fl_whole_write(file.fd, text, strlen(text))) fl_whole_commit(&file);
    else fl_whole_abandon(&file);
  }
  free(text);
}

void fl_history_add(const char *text) {
  char path[PATH_MAX];
  size_t len = strlen(text);
  while (len && strchr(" \t\n", text[len - 1])) len--;
  if (!len || len > FL_HISTORY_ENTRY || !fl_state_path("history", path, true)) return;
  FlText1 line = {0};
  for (size_t k = 0; k < len; k++) {
    if (text[k] == '\n' || text[k] == '\\') fl_text_addc(&line, '\\');
    fl_text_addc(&line, text[k] == '\n' ? 'n' : text[k]);
  }
  fl_text_addc(&line, '\n');
  struct stat st;
  int fd = open_file(path, O_WRONLY | O_CREAT | O_APPEND);
  if (fd >= 0 && flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 &&
      write(fd, line.s, line.len) != (ssize_t)line.len)
    (void)!ftruncate(fd, st.st_size); /* the disk is full */
  if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > LONG) shorten(path);
  if (fd >= 0) close(fd);
  fl_text_reset(&line);
}
