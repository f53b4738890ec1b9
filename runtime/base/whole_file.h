/* whole_file.h: files that appear whole or not at all: outputs of scripts, reports, binaries, formatted
 * scripts, and the entries of stores.
 *
 * In: paths as a person gives them. A symbolic link is followed: what it points to is replaced, and it stays.
 * What cannot be replaced, a device or a pipe, is written into as it stands, and so are `/dev/stdout` and the
 * other names of open descriptors, behind what has been printed. Out: the old file or the new one, never a
 * part of one.
 *
 * What always holds: until the rename only a file of our own is written, made with a name that nobody else
 * has (O_EXCL, 64 random bits), which this process keeps locked (flock) while it lives. So any number of
 * processes, also such as have the same process number in different containers, may write one output, and the
 * last one wins; and a temporary file whose lock can be had belongs to nobody and is removed by the next one
 * that writes beside it. All functions: false or -1 and errno. */
#ifndef FL_WHOLE_FILE_H
#define FL_WHOLE_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct FlWholeFile {
  int fd;          /* to write to */
  char *target;    /* with the links at its end followed: what is replaced */
  char *temporary; /* NULL: written as it stands */
  bool again;      /* the caller's to set: it can be made again, so nobody waits until it is on disk */
  bool replaces;   /* there is a file already: it has these rights */
  mode_t mode;
  uid_t owner;
  gid_t group;
  unsigned char *list; /* and this POSIX access list, as the system keeps it; NULL: none */
  size_t n_list;
} FlWholeFile;

/* Makes the folders above the file, as far as they are missing, and opens it under a temporary name. mode: of
 * a file that is new, before the umask. Errors: EISDIR; EACCES also where the file that is there may not be
 * written. */
bool fl_whole_open(const char *path, mode_t mode, FlWholeFile *out);
/* Puts the file that was written under the temporary name in its place, on disk unless it is `again`, with
 * the rights of the one that it replaces. Closes; on failure the old file is as it was. */
bool fl_whole_commit(FlWholeFile *f);
/* Closes and removes the temporary file. */
void fl_whole_abandon(FlWholeFile *f);
/* A stream that writes to the file; closed by the caller before the commit. NULL: errno. */
FILE *fl_whole_stream(const FlWholeFile *f);

/* Removes what writers that are no more have left in the folder of the file `path`. */
void fl_whole_clean(const char *path);

/* A new file `prefix` + 16 hexadecimal digits + ".flow-tmp", open for reading and writing, locked as said
 * above. *path: its name, to be freed. */
int fl_whole_temporary(const char *prefix, mode_t mode, char **path);
/* Likewise a new folder, for programs that make files themselves; the descriptor holds its lock. Its files go
 * with it. */
int fl_whole_folder(const char *path, char **folder);
void fl_whole_folder_remove(int fd, char *folder);

/* Writes all bytes. */
bool fl_whole_write(int fd, const void *bytes, size_t n);
/* All of that at once: a file of these bytes. Leftovers beside it go. */
bool fl_whole_put(const char *path, const void *bytes, size_t n);

#endif
