/* trust.c: whose store a folder is.
 *
 * What is in a store is believed: a value in it becomes the result of a stage. A folder that came with a
 * repository, an archive or another person must not speak so. Owner and mode do not tell, since whoever
 * unpacks becomes the owner, and nothing that lies in the folder can, since it comes along. So a user's list
 * outside of all stores says which folders this user made on this machine, by inode and time of birth, which
 * nobody chooses:
 *
 *   $XDG_STATE_HOME/flow/stores, else ~/.local/state/flow/stores
 *   line := kind inode birth-seconds birth-nanoseconds path
 *   kind := made | accepted
 *
 * What always holds: a folder is only believed when it is in the list, or holds nothing yet and is ours; it
 * is private when we made it, it and the folders in it are ours, and nobody else may write to them. The path
 * is only for cleaning up. */
#include "memo/memo_internal.h"
#include "base/state_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FL_LIST_LONG = 1 << 16 }; /* from this size on, what is gone is removed from the list */

typedef struct Birth {
  unsigned long long inode;
  long long seconds;
  unsigned nanoseconds;
} Birth;

static bool birth_of(const char *dir, Birth *out) {
  struct statx s;
  if (statx(AT_FDCWD, dir, 0, STATX_INO | STATX_BTIME, &s) != 0) return false;
  *out = (Birth){s.stx_ino, s.stx_btime.tv_sec, s.stx_btime.tv_nsec};
  return true;
}

static bool same_birth(Birth a, Birth b) {
  return a.inode == b.inode && a.seconds == b.seconds && a.nanoseconds == b.nanoseconds;
}

/* Ours, and nobody else's to write. */
static bool is_ours(const struct stat *s) { return s->st_uid == geteuid() && (s->st_mode & 022) == 0; }

/* The list, open and locked; -1: there is none that could be believed. */
static int list_open(bool make) {
  char path[PATH_MAX];
  struct stat s;
  if (!fl_state_path("stores", path, make)) return -1;
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (make ? O_CREAT : 0), 0600);
  if (fd < 0) return -1;
  if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && is_ours(&s) && flock(fd, LOCK_EX) == 0) return fd;
  close(fd);
  return -1;
}

/* A line; false: none. `path` is where its path begins. Every run reads all of them: no sscanf. */
static bool read_line(const char *line, bool *made, Birth *b, const char **path) {
  static const char *const kinds[] = {"accepted ", "made "};
  char *at = NULL, *from = NULL;
  for (int k = 0; k < 2 && !from; k++)
    if (strncmp(line, kinds[k], strlen(kinds[k])) == 0) {
      *made = k == 1;
      from = (char *)(uintptr_t)line + strlen(kinds[k]);
    }
  if (!from) return false;
  b->inode = strtoull(from, &at, 10);
  if (at == from || *at != ' ') return false;
  b->seconds = strtoll(from = at, &at, 10);
  if (at == from || *at != ' ') return false;
  b->nanoseconds = (unsigned)strtoul(from = at, &at, 10);
  if (at == from || *at != ' ') return false;
  *path = at + 1;
  return true;
}

static bool find(const char *dir, bool *made) {
  Birth wanted, b;
  int fd = birth_of(dir, &wanted) ? list_open(false) : -1;
  FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
  if (!f && fd >= 0) close(fd);
  char *line = NULL;
  size_t room = 0;
  bool found = false;
  for (const char *path; f && !found && getline(&line, &room, f) > 0;)
    found = read_line(line, made, &b, &path) && same_birth(b, wanted);
  free(line);
  if (f) fclose(f);
  return found;
}

/* Leaves the lines of folders that are still there. */
static void shorten(int fd) {
  char *text = NULL, *kept = NULL, *line = NULL;
  size_t size = 0, room = 0;
  FILE *out = open_memstream(&text, &size), *in = fdopen(dup(fd), "r");
  bool made;
  Birth b, now;
  if (in) rewind(in);
  for (const char *path; in && out && getline(&line, &room, in) > 0;) {
    kept = strdup(line);
    if (kept) kept[strcspn(kept, "\n")] = '\0';
    if (kept && read_line(kept, &made, &b, &path) && birth_of(path, &now) && same_birth(b, now))
      fputs(line, out);
    free(kept);
  }
  if (in) fclose(in);
  if (out && fclose(out) == 0 && ftruncate(fd, 0) == 0 && pwrite(fd, text, size, 0) < 0)
    (void)!ftruncate(fd, 0);
  free(text);
  free(line);
}

static bool add(const char *dir, bool made) {
  Birth b;
  char *real = realpath(dir, NULL), *line = NULL;
  int fd = real && birth_of(dir, &b) ? list_open(true) : -1;
  bool ok = fd >= 0 && asprintf(&line, "%s %llu %lld %u %s\n", made ? "made" : "accepted", b.inode, b.seconds,
                                b.nanoseconds, real) >= 0;
  if (ok && strchr(line, '\n')[1]) strcpy(strchr(line, '\n') + 1, ""); /* a path of two lines is cut */
  if (ok && lseek(fd, 0, SEEK_END) > FL_LIST_LONG) shorten(fd);
  ok = ok && lseek(fd, 0, SEEK_END) >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line);
  free(line);
  free(real);
  if (fd >= 0) close(fd);
  return ok;
}

bool fl_trust_made(const char *dir) { return add(dir, true); }

/* Does it hold nothing that is believed for its sake? The code of scripts beside results is looked after by
 * who puts it there (compiler/code_cache.c), often before there is a result. */
static bool is_empty(const char *dir) {
  DIR *d = opendir(dir);
  bool empty = d != NULL;
  for (struct dirent *e; empty && (e = readdir(d));)
    empty = e->d_name[0] == '.' || strcmp(e->d_name, "CACHEDIR.TAG") == 0 || strcmp(e->d_name, "code") == 0;
  if (d) closedir(d);
  return empty;
}

/* The folder and those in it that hold what is believed. */
static bool is_private(const char *dir) {
  static const char *const inner[] = {"", "/objects", "/records"};
  for (int k = 0; k < 3; k++) {
    char path[PATH_MAX];
    struct stat s;
    int n = snprintf(path, sizeof path, "%s%s", dir, inner[k]);
    if (n >= PATH_MAX) return false;
    if ((k ? lstat(path, &s) : stat(path, &s)) != 0) {
      if (k && errno == ENOENT) continue;
      return false;
    }
    if (!S_ISDIR(s.st_mode) || !is_ours(&s)) return false;
  }
  return true;
}

FlMemoTrust fl_trust_of(const char *dir, bool look) {
  struct stat s;
  bool made = false;
  if (stat(dir, &s) != 0) return FL_TRUST_PRIVATE; /* what is not there can only become ours */
  /* Whoever makes the folder notes it before anything is put there: so what is in it is looked at before the
   * list. */
  bool empty = is_empty(dir);
  if (find(dir, &made)) return made && is_private(dir) ? FL_TRUST_PRIVATE : FL_TRUST_CHECKED;
  if (look) return FL_TRUST_FOREIGN;
  if (empty && s.st_uid == geteuid())
    return fl_trust_made(dir) && is_private(dir) ? FL_TRUST_PRIVATE : FL_TRUST_CHECKED;
  int list = list_open(true);
  if (list < 0 && is_private(dir))
    return FL_TRUST_CHECKED; /* nothing can be noted here: then everything is looked at */
  if (list >= 0) close(list);
  return FL_TRUST_FOREIGN;
}

bool fl_memo_trust(const char *dir) {
  struct stat s;
  bool made;
  return stat(dir, &s) == 0 && S_ISDIR(s.st_mode) && (find(dir, &made) || add(dir, false));
}
