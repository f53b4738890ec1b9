/* store.c: opening a store, getting and putting entries and records. See memo.h. */
#include "memo/memo_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const int64_t default_limit = (int64_t)8 << 30;

void fl_memo_warn(FlMemo *m, const char *fmt, ...) {
  if (!m->warn) return;
  char text[PATH_MAX + 512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  m->warn(m->warn_arg, text);
}

FlMemo *fl_memo_open(const FlMemoOptions *options) {
  FlMemo *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  if (options->dir && options->dir[0] && !(m->dir = strdup(options->dir))) {
    free(m);
    return NULL;
  }
  for (size_t n = m->dir ? strlen(m->dir) : 0; n > 1 && m->dir[n - 1] == '/';) m->dir[--n] = '\0';
  m->limit = options->limit_bytes > 0 ? options->limit_bytes : default_limit;
  m->warn = options->warn;
  m->warn_arg = options->warn_arg;
  m->lend = options->lend;
  m->unlend = options->unlend;
  m->breathe = options->breathe;
  m->lend_arg = options->lend_arg;
  m->stored_bytes = -1;
  pthread_mutex_init(&m->lock, NULL);
  FlMemoTrust trust = m->dir ? fl_trust_of(m->dir, options->look) : FL_TRUST_PRIVATE;
  m->is_private = trust == FL_TRUST_PRIVATE;
  if (trust == FL_TRUST_FOREIGN && !options->foreign) {
    fl_memo_warn(m,
                 "the remembered results in %s were not made by you on this machine: nothing is taken from "
                 "there; accept them by "
                 "`flowc cache trust %s`, or remove the folder",
                 m->dir, m->dir);
    free(m->dir);
    m->dir = NULL;
  }
  m->look = options->look;
  if (!m->look) fl_folder_clean(m);
  return m;
}

bool fl_memo_is_private(const FlMemo *m) { return m->is_private; }

void fl_memo_close(FlMemo *m) {
  if (!m) return;
  pthread_mutex_destroy(&m->lock);
  free(m->dir);
  free(m);
}

void fl_memo_unmap(FlMemoEntry *entry) {
  if (!entry) return;
  if (entry->lent) entry->unlend(entry->lent);
  munmap(entry->map, (size_t)entry->map_bytes);
  free(entry);
}

static FlMemoEntry *get(FlMemo *m, FlMemoFolder folder, FlMemoKey key, bool warn) {
  char path[PATH_MAX];
  if (!m->dir || !fl_folder_path(m, folder, fl_memo_digest(key.bytes, key.len), path)) return NULL;
  FlEntryHeader header;
  const char *why;
  bool use = !m->look && folder == FL_FOLDER_OBJECTS; /* who reads a note puts it again, or only looks */
  FlMemoEntry *entry = fl_file_map(m, path, key.bytes, key.len, use, &header, &why);
  if (why && warn)
    fl_memo_warn(m, "the remembered %s of `%s` in %s cannot be used: %s; going on without it",
                 folder == FL_FOLDER_RECORDS ? "note" : "result", key.label ? key.label : "?", path, why);
  return entry;
}

/* Each reason not to store is worth one warning a run, not one a result. */
static void warn_not_stored(FlMemo *m, FlMemoStatus status, int error) {
  pthread_mutex_lock(&m->lock);
  bool *warned = status == FL_MEMO_FULL ? &m->warned_full : &m->warned_off;
  bool already = *warned;
  *warned = true;
  pthread_mutex_unlock(&m->lock);
  if (already) return;
  if (status == FL_MEMO_FULL)
    fl_memo_warn(m, "no space left in %s: results of this run are not remembered", m->dir);
  else
    fl_memo_warn(m, "cannot write to %s (%s): results of this run are not remembered", m->dir,
                 strerror(error));
}

static FlMemoStatus put(FlMemo *m, FlMemoFolder folder, FlEntryKind kind, FlMemoKey key,
                        const struct iovec *pieces, int n_pieces, FlDigest *checksum_out) {
  FlEntryHeader h = {.kind = kind, .key_bytes = key.len, .created = (int64_t)time(NULL)};
  h.payload = fl_memo_digest_pieces(m, pieces, n_pieces);
  if (checksum_out) *checksum_out = h.payload;
  if (!m->dir || m->look) return FL_MEMO_OFF;
  if (key.label) h.label_bytes = (int64_t)strnlen(key.label, FL_ENTRY_LABEL);
  for (int i = 0; i < n_pieces; i++) h.payload_bytes += (int64_t)pieces[i].iov_len;
  int64_t offset = fl_entry_payload_offset(&h), file_bytes = offset + h.payload_bytes;
  if (file_bytes > m->limit) return FL_MEMO_TOO_BIG;

  unsigned char *head = calloc(1, (size_t)offset);
  struct iovec *all = malloc(((size_t)n_pieces + 1) * sizeof *all);
  FlMemoStatus status = FL_MEMO_FAILED;
  char path[PATH_MAX];
  bool known, replaces = false; /* a note that there is already makes the store no larger: no scan */
  errno = ENOMEM;
  if (head && all) {
    unsigned char *meta = head + FL_ENTRY_HEADER;
    if (h.label_bytes) memcpy(meta, key.label, (size_t)h.label_bytes);
    if (key.len) memcpy(meta + h.label_bytes, key.bytes, (size_t)key.len);
    h.key = fl_memo_digest(key.bytes, key.len);
    h.meta = fl_memo_digest(meta, offset - FL_ENTRY_HEADER);
    fl_entry_write_header(&h, head);
    all[0] = (struct iovec){head, (size_t)offset};
    for (int i = 0; i < n_pieces; i++) all[i + 1] = pieces[i];
    errno = ENAMETOOLONG;
    known = fl_folder_path(m, folder, h.key, path);
    replaces = known && kind == FL_ENTRY_RECORD && access(path, F_OK) == 0;
    if (known) status = fl_file_write(m, path, all, n_pieces + 1, kind == FL_ENTRY_RESULT);
  }
  int error = errno;
  free(all);
  free(head);
  if (status == FL_MEMO_OK && !replaces) fl_memo_grown(m, path, file_bytes);
  else if (kind == FL_ENTRY_RESULT) warn_not_stored(m, status, error);
  return status;
}

FlMemoEntry *fl_memo_look(FlMemo *m, FlMemoKey key, bool warn) {
  return get(m, FL_FOLDER_OBJECTS, key, warn);
}

FlMemoEntry *fl_memo_get(FlMemo *m, FlMemoKey key) { return get(m, FL_FOLDER_OBJECTS, key, true); }

FlMemoStatus fl_memo_put(FlMemo *m, FlMemoKey key, const struct iovec *pieces, int n_pieces,
                         FlDigest *checksum_out) {
  return put(m, FL_FOLDER_OBJECTS, FL_ENTRY_RESULT, key, pieces, n_pieces, checksum_out);
}

static FlMemoKey record_key(const char *name) { return (FlMemoKey){name, (int64_t)strlen(name), name}; }

FlMemoEntry *fl_memo_record_get(FlMemo *m, const char *name) {
  return get(m, FL_FOLDER_RECORDS, record_key(name), true);
}

FlMemoStatus fl_memo_record_put(FlMemo *m, const char *name, const void *bytes, int64_t len) {
  struct iovec piece = {(void *)(uintptr_t)bytes, (size_t)len};
  return put(m, FL_FOLDER_RECORDS, FL_ENTRY_RECORD, record_key(name), &piece, 1, NULL);
}
