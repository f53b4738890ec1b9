/* whole_file.c: see whole_file.h.
 *
 * Names: `<target>.<16 hexadecimal digits>.flow-tmp`; of a target whose name is too long for that, only its
 * start. Who makes a temporary file locks it and then looks whether it is still linked; who removes a
 * leftover locks it first. So a file is never removed under its writer, also not in the moment between its
 * making and its lock. */
#include "base/whole_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { DIGITS = 16, RIGHTS = 0777 };
static const char ending[] = ".flow-tmp";
enum { TAIL = 1 + DIGITS + sizeof ending - 1 }; /* of `.0123456789abcdef.flow-tmp` */

static bool fail(int why) {
  errno = why;
  return false;
}

/* ---- names --------------------------------------------------------------------------------------------- */

static bool is_temporary(const char *name) {
  size_t len = strlen(name);
  if (len < TAIL || strcmp(name + len - (sizeof ending - 1), ending) != 0) return false;
  const char *digits = name + len - (TAIL - 1);
  return digits[-1] == '.' && strspn(digits, "0123456789abcdef") == DIGITS;
}

/* `prefix`, its last part cut so that the name is none too long, and a tail that nobody else has. */
static char *temporary_name(const char *prefix) {
  uint64_t random;
  char *name = NULL;
  if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) return NULL;
  const char *slash = strrchr(prefix, '/'), *last = slash ? slash + 1 : prefix;
  size_t len = strlen(last);
  if (len > NAME_MAX - TAIL) len = NAME_MAX - TAIL;
  if (asprintf(&name, "%.*s%.*s.%016llx%s", (int)(last - prefix), prefix, (int)len, last,
               (unsigned long long)random, ending) < 0)
    return NULL;
  return name;
}

/* The folder of a file, to be freed. */
static char *folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
}

/* N of a path that names descriptor N of this process; -1: it does not. */
static int descriptor_of(const char *path) {
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
    size_t len = strlen(folders[k]);
    if (strncmp(path, folders[k], len) != 0 || path[len] < '0' || path[len] > '9') continue;
    char *end;
    long n = strtol(path + len, &end, 10);
    if (*end == 0 && n <= INT_MAX) return (int)n;
  }
  return -1;
}

/* What a path names once the links at its end are followed, there or not; the caller frees it. Stops at the
 * name of a descriptor: the link behind that is no path. NULL, and errno: a circle, or no memory. */
static char *follow_links(const char *path) {
  enum { MOST = 40 }; /* as the kernel */
  char *at = strdup(path);
  for (int hops = 0; at && hops < MOST; hops++) {
    char to[PATH_MAX];
    ssize_t len = descriptor_of(at) >= 0 ? -1 : readlink(at, to, sizeof to);
    if (len < 0) return at;
    const char *slash = strrchr(at, '/');
    int folder = to[0] == '/' || !slash ? 0 : (int)(slash + 1 - at);
    char *next = NULL;
    if (asprintf(&next, "%.*s%.*s", folder, at, (int)len, to) < 0) next = NULL;
    free(at);
    at = next;
  }
  if (at) errno = ELOOP;
  free(at);
  return NULL;
}

/* Makes the folders above the file, as far as they are missing. */
static bool make_parents(const char *path) {
  char *part = strdup(path);
  bool ok = part != NULL;
  for (char *at = part ? part + (*part != 0) : NULL; ok && *at; at++) {
    if (*at != '/') continue;
    *at = 0;
    ok = mkdir(part, RIGHTS) == 0 || errno == EEXIST;
    *at = '/';
  }
  free(part);
  return ok;
}

/* ---- temporary files ----------------------------------------------------------------------------------- */

/* 1: locked and linked; 0: another has it, or it is gone; a file system without locks is no failure. */
static bool keep(int fd) {
  int r;
  struct stat st;
  do r = flock(fd, LOCK_EX | LOCK_NB);
  while (r != 0 && errno == EINTR);
  return (r == 0 || errno != EWOULDBLOCK) && fstat(fd, &st) == 0 && st.st_nlink > 0;
}

int fl_whole_temporary(const char *prefix, mode_t mode, char **path) {
  for (int attempt = 0; attempt < 100; attempt++) {
    *path = temporary_name(prefix);
    if (!*path) return -1;
    int fd = open(*path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0 && keep(fd)) return fd;
    int why = errno;
    if (fd >= 0) close(fd); /* it was taken for a leftover */
    free(*path);
    *path = NULL;
    errno = why;
    if (fd < 0 && why != EEXIST) return -1;
  }
  errno = EBUSY;
  return -1;
}

static void remove_files(int folder) {
  int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
  DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
  if (!dir && copy >= 0) close(copy);
  if (!dir) return;
  rewinddir(dir);
  for (struct dirent *e; (e = readdir(dir));)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) unlinkat(folder, e->d_name, 0);
  closedir(dir);
}

/* A lock that is really there says that nobody else has the file; a file system without locks says nothing.
 */
static void clean_one(int folder, const char *name) {
  int flags = O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, fd = openat(folder, name, O_RDWR | flags);
  struct stat found, named;
  if (fd < 0 && errno == EISDIR) fd = openat(folder, name, O_RDONLY | O_DIRECTORY | flags);
  if (fd < 0) return;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &found) == 0 && found.st_uid == geteuid() &&
      fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && found.st_dev == named.st_dev &&
      found.st_ino == named.st_ino) {
    if (S_ISREG(found.st_mode)) {
      unlinkat(folder, name, 0);
    } else if (S_ISDIR(found.st_mode)) {
      remove_files(fd);
      unlinkat(folder, name, AT_REMOVEDIR);
    }
  }
  close(fd);
}

void fl_whole_clean(const char *path) {
  char *folder = folder_of(path);
  DIR *dir = folder ? opendir(folder) : NULL;
  free(folder);
  if (!dir) return;
  for (struct dirent *e; (e = readdir(dir));)
    if (is_temporary(e->d_name)) clean_one(dirfd(dir), e->d_name);
  closedir(dir);
}

int fl_whole_folder(const char *path, char **folder) {
  *folder = NULL;
  char *target = make_parents(path) ? follow_links(path) : NULL;
  for (int attempt = 0; target && attempt < 100; attempt++) {
    char *name = temporary_name(target);
    if (!name) break;
    if (mkdir(name, 0700) != 0) {
      int why = errno;
      free(name);
      errno = why;
      if (why == EEXIST) continue;
      break;
    }
    int fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && keep(fd)) {
      *folder = name;
      free(target);
      return fd;
    }
    if (fd >= 0) close(fd);
    rmdir(name);
    free(name);
  }
  int why = errno;
  free(target);
  errno = why;
  return -1;
}

void fl_whole_folder_remove(int fd, char *folder) {
  remove_files(fd);
  rmdir(folder);
  close(fd);
  free(folder);
}

/* ---- one file ------------------------------------------------------------------------------------------ */

bool fl_whole_write(int fd, const void *bytes, size_t n) {
  for (const char *at = bytes; n;) {
    ssize_t done = write(fd, at, n);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    at += done;
    n -= (size_t)done;
  }
  return true;
}

static bool forget(FlWholeFile *f) {
  int why = errno;
  free(f->target);
  free(f->temporary);
  free(f->list);
  *f = (FlWholeFile){.fd = -1};
  return fail(why);
}

static const char access_list[] = "system.posix_acl_access";

/* false: out of memory. A file system without lists has none. */
static bool note_list(FlWholeFile *f) {
  ssize_t size = getxattr(f->target, access_list, NULL, 0);
  if (size <= 0) return true;
  f->list = malloc((size_t)size);
  if (!f->list) return false;
  size = getxattr(f->target, access_list, f->list, (size_t)size);
  if (size > 0) f->n_list = (size_t)size;
  return size > 0;
}

static bool note_rights(FlWholeFile *f, const struct stat *there) {
  f->replaces = true;
  f->mode = there->st_mode & RIGHTS; /* new content does not run with somebody else's rights */
  f->owner = there->st_uid;
  f->group = there->st_gid;
  return faccessat(AT_FDCWD, f->target, W_OK, AT_EACCESS) == 0 && note_list(f);
}

bool fl_whole_open(const char *path, mode_t mode, FlWholeFile *out) {
  *out = (FlWholeFile){.fd = -1, .mode = mode};
  struct stat there;
  bool exists = stat(path, &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) return fail(EISDIR);
  if (!make_parents(path) || !(out->target = follow_links(path))) return forget(out);
  int same = descriptor_of(out->target);
  if (same >= 0 || (exists && !S_ISREG(there.st_mode))) {
    fflush(stdout); /* what was printed before stands before it */
    out->fd = same >= 0 ? fcntl(same, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_CLOEXEC);
  } else if (!exists || note_rights(out, &there)) {
    /* Nobody who may not read the file that is there reads what will be in it. */
    out->fd = fl_whole_temporary(out->target, exists ? 0600 : mode, &out->temporary);
  }
  return out->fd >= 0 || forget(out);
}

FILE *fl_whole_stream(const FlWholeFile *f) {
  int copy = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
  FILE *stream = copy >= 0 ? fdopen(copy, "w") : NULL;
  if (!stream && copy >= 0) close(copy);
  return stream;
}

/* The rights that all have who do not own the file: its group, the others, and those in its list. */
static mode_t rights_of_all(const FlWholeFile *f) {
  enum {
    HEAD = 4,
    ENTRY = 8,
    OWNER = 0x01,
    MASK = 0x10
  }; /* entry := tag:u16 rights:u16 id:u32, little endian */
  unsigned all = f->mode & f->mode >> 3 & 7;
  for (size_t at = HEAD; at + ENTRY <= f->n_list; at += ENTRY)
    if (f->list[at] != OWNER && f->list[at] != MASK) all &= f->list[at + 2];
  return (mode_t)all;
}

/* The rights of the file that is replaced. Where it cannot have the same group or list, group and others have
 * those that all had: nobody gets a right by it. */
static bool give_rights(const FlWholeFile *f) {
  struct stat own;
  mode_t mode = f->mode;
  if (!f->replaces) return true;
  if (fstat(f->fd, &own) != 0) return false;
  if (own.st_uid != f->owner && fchown(f->fd, f->owner, (gid_t)-1) != 0 && errno != EPERM && errno != EINVAL)
    return false;
  bool same = own.st_gid == f->group || fchown(f->fd, (uid_t)-1, f->group) == 0;
  if (same && f->list && fsetxattr(f->fd, access_list, f->list, f->n_list, 0) == 0)
    return true;                    /* and the mode */
  fremovexattr(f->fd, access_list); /* of the folder, which gives its new files one */
  if (!same || f->list) mode = (mode & 0700) | rights_of_all(f) * 0011;
  return fchmod(f->fd, mode) == 0 || errno == EPERM; /* of a file system that has no rights */
}

/* The rename itself is on disk once the folder is. */
static void sync_folder(const char *path) {
  char *folder = folder_of(path);
  int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (fd >= 0) {
    fsync(fd);
    close(fd);
  }
  free(folder);
}

bool fl_whole_commit(FlWholeFile *f) {
  bool ok = !f->temporary || give_rights(f);
  if (ok && !f->again && fsync(f->fd) != 0) ok = errno == EINVAL || errno == EROFS; /* of a device */
  /* The lock goes with the descriptor: it is closed once nobody takes the file for a leftover any more. */
  if (ok && f->temporary) ok = rename(f->temporary, f->target) == 0;
  int why = errno;
  if (close(f->fd) != 0 && ok && errno != EINTR) {
    ok = false;
    why = errno;
  } else if (!ok && f->temporary) {
    unlink(f->temporary);
  }
  if (ok && f->temporary && !f->again) sync_folder(f->target);
  errno = why;
  forget(f);
  return ok;
}

void fl_whole_abandon(FlWholeFile *f) {
  int why = errno;
  if (f->temporary) unlink(f->temporary);
  if (f->fd >= 0) close(f->fd);
  errno = why;
  forget(f);
}

bool fl_whole_put(const char *path, const void *bytes, size_t n) {
  FlWholeFile file;
  if (!fl_whole_open(path, 0666, &file)) return false;
  if (file.temporary) fl_whole_clean(file.target);
  if (fl_whole_write(file.fd, bytes, n)) return fl_whole_commit(&file);
  fl_whole_abandon(&file);
  return false;
}
