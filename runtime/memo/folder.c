/* folder.c: the store's folders: names of files, making and cleaning folders, locks.
 *
 * A lock is flock on an open file, so it ends with the process that holds it, however that ends. Whoever
 * removes a file of temp or locks holds its lock while doing so; whoever just got a lock looks whether the
 * file is still linked, and starts again when it is not. So two holders of the same lock never exist, and a
 * file that is in use is never taken for a leftover. */
#include "memo/memo_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const folder_names[] = {
    [FL_FOLDER_OBJECTS] = "objects",
    [FL_FOLDER_RECORDS] = "records",
    [FL_FOLDER_TEMP] = "temp",
    [FL_FOLDER_LOCKS] = "locks",
};

static bool is_sharded(FlMemoFolder folder) {
  return folder == FL_FOLDER_OBJECTS || folder == FL_FOLDER_RECORDS;
}

bool fl_folder_path(const FlMemo *m, FlMemoFolder folder, FlDigest digest, char out[PATH_MAX]) {
  char hex[33];
  snprintf(hex, sizeof hex, "%016llx%016llx", (unsigned long long)digest.hi, (unsigned long long)digest.lo);
  int n = is_sharded(folder)
              ? snprintf(out, PATH_MAX, "%s/%s/%.2s/%s", m->dir, folder_names[folder], hex, hex)
              : snprintf(out, PATH_MAX, "%s/%s/%s", m->dir, folder_names[folder], hex);
  return n > 0 && n < PATH_MAX;
}

static void write_tag(const char *dir) {
  static const char text[] =
      "Signature: 8a477f597d28d172789f06886806bc55\n"
      "# Remembered results of flow. All of it can be computed again; remove it as you like.\n";
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/CACHEDIR.TAG", dir) >= PATH_MAX) return;
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return;
  if (write(fd, text, sizeof text - 1) < 0) unlink(path);
  close(fd);
}

bool fl_folder_make(FlMemo *m, const char *path) {
  char part[PATH_MAX];
  size_t len = strlen(path), own = strlen(m->dir);
  if (len >= sizeof part) return false;
  memcpy(part, path, len + 1);
  for (size_t i = 1; i < len; i++) {
    if (part[i] != '/') continue;
    part[i] = '\0';
    if (mkdir(part, i < own ? 0777 : 0700) == 0) {
      if (i == own) {
        fl_trust_made(m->dir);
        write_tag(m->dir);
      }
    } else if (errno != EEXIST && i >= own) {
      return false;
    } else if (i == own && m->is_private && fl_trust_of(m->dir, false) == FL_TRUST_FOREIGN) {
      return false; /* whoever made it meanwhile may not have noted it yet: it is, before we put anything
                       there */
    }
    part[i] = '/';
  }
  return true;
}

static int lock_now(int fd) {
  int r;
  do r = flock(fd, LOCK_EX | LOCK_NB);
  while (r != 0 && errno == EINTR);
  return r;
}

static bool is_linked(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

int fl_folder_lock(FlMemo *m, const char *path) {
  for (bool made = false;;) {
    int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 && errno == ENOENT && !made) {
      if (!fl_folder_make(m, path)) return -1;
      made = true;
      continue;
    }
    if (fd < 0) return -1;
    if (lock_now(fd) != 0) {
      int why = errno;
      close(fd);
      errno = why;
      return -1;
    }
    if (is_linked(fd)) return fd;
    close(fd); /* removed between open and lock */
  }
}

/* A folder of the store. A link in its place is none: what lies where it leads is not ours to remove. */
static DIR *open_folder(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
  if (fd >= 0 && !dir) close(fd);
  return dir;
}

static void clean(const FlMemo *m, FlMemoFolder folder) {
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s", m->dir, folder_names[folder]) >= PATH_MAX) return;
  DIR *dir = open_folder(path);
  if (!dir) return;
  for (struct dirent *e; (e = readdir(dir));) {
    if (e->d_name[0] == '.') continue;
    int fd = openat(dirfd(dir), e->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) continue;
    if (lock_now(fd) == 0 && is_linked(fd)) unlinkat(dirfd(dir), e->d_name, 0);
    close(fd);
  }
  closedir(dir);
}

void fl_folder_clean(FlMemo *m) {
  if (!m->dir) return;
  clean(m, FL_FOLDER_TEMP);
  clean(m, FL_FOLDER_LOCKS);
}

static bool walk_shard(const char *shard, FlMemoFolder folder,
                       bool (*visit)(void *arg, FlMemoFolder folder, const char *path), void *arg) {
  DIR *dir = open_folder(shard);
  if (!dir) return true;
  bool more = true;
  for (struct dirent *e; more && (e = readdir(dir));) {
    char path[PATH_MAX];
    if (e->d_name[0] == '.' || snprintf(path, sizeof path, "%s/%s", shard, e->d_name) >= PATH_MAX) continue;
    more = visit(arg, folder, path);
  }
  closedir(dir);
  return more;
}

void fl_folder_walk(FlMemo *m, bool (*visit)(void *arg, FlMemoFolder folder, const char *path), void *arg) {
  if (!m->dir) return;
  for (FlMemoFolder folder = FL_FOLDER_OBJECTS; folder <= FL_FOLDER_RECORDS; folder++) {
    char root[PATH_MAX], shard[PATH_MAX];
    if (snprintf(root, sizeof root, "%s/%s", m->dir, folder_names[folder]) >= PATH_MAX) continue;
    DIR *dir = open_folder(root);
    if (!dir) continue;
    bool more = true;
    for (struct dirent *e; more && (e = readdir(dir));)
      if (e->d_name[0] != '.' && snprintf(shard, sizeof shard, "%s/%s", root, e->d_name) < PATH_MAX)
        more = walk_shard(shard, folder, visit, arg);
    closedir(dir);
    if (!more) return;
  }
}
