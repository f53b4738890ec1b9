/* gc.c: what is in a store, how large it is, and what goes when it is too large.
 *
 * The time of a file's last use is its modification time, set at each load. Removing a file does not disturb
 * who has it mapped. Several processes may do this at once: each only ever removes whole files, and a file
 * that is already gone is no error. */
#include "memo/memo_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Item {
  char *path;
  FlMemoFolder folder;
  int64_t bytes;
  struct timespec used;
} Item;

typedef struct Items {
  Item *at;
  size_t n, cap;
  int64_t bytes;
} Items;

static bool add_item(void *arg, FlMemoFolder folder, const char *path) {
  Items *items = arg;
  struct stat st;
  if (lstat(path, &st) != 0 || S_ISDIR(st.st_mode)) return true;
  if (items->n == items->cap) {
    size_t cap = items->cap ? items->cap * 2 : 64;
    Item *grown = realloc(items->at, cap * sizeof *grown);
    if (!grown) return false;
    items->at = grown;
    items->cap = cap;
  }
  char *copy = strdup(path);
  if (!copy) return false;
  items->at[items->n++] = (Item){copy, folder, st.st_size, st.st_mtim};
  items->bytes += st.st_size;
  return true;
}

static int by_use(const void *a, const void *b) {
  const Item *x = a, *y = b;
  if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? 1 : -1;
  if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? 1 : -1;
  return strcmp(x->path, y->path);
}

/* Everything in the store, most recently used first. */
static Items scan(FlMemo *m) {
  Items items = {0};
  fl_folder_walk(m, add_item, &items);
  if (items.n) qsort(items.at, items.n, sizeof *items.at, by_use);
  return items;
}

static void items_reset(Items *items) {
  for (size_t i = 0; i < items->n; i++) free(items->at[i].path);
  free(items->at);
}

static void count(FlMemoTotals *t, const Item *item) {
  *(item->folder == FL_FOLDER_RECORDS ? &t->records : &t->entries) += 1;
  t->bytes += item->bytes;
}

static void drop(FlMemoTotals *t, const Item *item) {
  if (unlink(item->path) == 0) {
    t->removed++;
    t->removed_bytes += item->bytes;
  } else if (access(item->path, F_OK) == 0) {
    count(t, item); /* may not be removed: still there */
  }
}

static void note_bytes(FlMemo *m, int64_t bytes) {
  pthread_mutex_lock(&m->lock);
  m->stored_bytes = bytes;
  pthread_mutex_unlock(&m->lock);
}

/* Header and label of one file. */
static FlMemoInfo describe(const Item *item) {
  FlMemoInfo info = {.is_record = item->folder == FL_FOLDER_RECORDS,
                     .damaged = true,
                     .file_bytes = item->bytes,
                     .used = (int64_t)item->used.tv_sec};
  unsigned char head[FL_ENTRY_HEADER + FL_ENTRY_LABEL];
  int fd = open(item->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return info;
  ssize_t n = pread(fd, head, sizeof head, 0);
  close(fd);
  FlEntryHeader h;
  if (n < 0 || fl_entry_read_header(head, n, item->bytes, &h) || n < FL_ENTRY_HEADER + h.label_bytes)
    return info;
  info.damaged = false;
  info.key = h.key;
  info.payload_bytes = h.payload_bytes;
  info.created = h.created;
  memcpy(info.label, head + FL_ENTRY_HEADER, (size_t)h.label_bytes);
  return info;
}

FlMemoTotals fl_memo_list(FlMemo *m, void (*visit)(void *arg, const FlMemoInfo *info), void *arg) {
  FlMemoTotals totals = {0};
  Items items = scan(m);
  for (size_t i = 0; i < items.n; i++) {
    count(&totals, &items.at[i]);
    if (!visit) continue;
    FlMemoInfo info = describe(&items.at[i]);
    totals.damaged += info.damaged;
    visit(arg, &info);
  }
  items_reset(&items);
  return totals;
}

FlMemoTotals fl_memo_gc(FlMemo *m, int64_t limit_bytes) {
  if (limit_bytes < 0) limit_bytes = m->limit;
  fl_folder_clean(m);
  FlMemoTotals totals = {0};
  Items items = scan(m);
  for (size_t i = 0; i < items.n; i++) {
    bool damaged = describe(&items.at[i]).damaged;
    totals.damaged += damaged;
    if (damaged || totals.bytes + items.at[i].bytes > limit_bytes) drop(&totals, &items.at[i]);
    else count(&totals, &items.at[i]);
  }
  items_reset(&items);
  note_bytes(m, totals.bytes);
  return totals;
}

FlMemoTotals fl_memo_verify(FlMemo *m) {
  FlMemoTotals totals = {0};
  Items items = scan(m);
  for (size_t i = 0; i < items.n; i++) {
    FlEntryHeader h;
    const char *why;
    FlMemoEntry *entry = fl_file_map(m, items.at[i].path, NULL, 0, false, &h, &why);
    char expected[PATH_MAX];
    if (entry &&
        (!fl_folder_path(m, items.at[i].folder, h.key, expected) || strcmp(expected, items.at[i].path) != 0))
      why = "it belongs to another key";
    fl_memo_unmap(entry);
    if (why) {
      fl_memo_warn(m, "%s is removed: %s", items.at[i].path, why);
      totals.damaged++;
      drop(&totals, &items.at[i]);
    } else if (entry) {
      count(&totals, &items.at[i]);
    }
  }
  items_reset(&items);
  note_bytes(m, totals.bytes);
  return totals;
}

FlMemoTotals fl_memo_clear(FlMemo *m) {
  fl_folder_clean(m);
  FlMemoTotals totals = {0};
  Items items = scan(m);
  for (size_t i = 0; i < items.n; i++) drop(&totals, &items.at[i]);
  items_reset(&items);
  note_bytes(m, totals.bytes);
  return totals;
}

/* Eviction goes down to nine tenths of the limit, so that a full store is not scanned at every put. */
void fl_memo_grown(FlMemo *m, const char *path, int64_t bytes) {
  pthread_mutex_lock(&m->lock);
  bool known = m->stored_bytes >= 0;
  if (known) m->stored_bytes += bytes;
  bool fits = known && m->stored_bytes <= m->limit;
  pthread_mutex_unlock(&m->lock);
  if (fits) return;
  Items items = scan(m);
  FlMemoTotals totals = {.bytes = items.bytes};
  if (items.bytes > m->limit) {
    int64_t target = m->limit / 10 * 9;
    for (size_t i = items.n; i-- > 0 && totals.bytes > target;)
      if (strcmp(items.at[i].path, path) != 0 && unlink(items.at[i].path) == 0)
        totals.bytes -= items.at[i].bytes;
  }
  items_reset(&items);
  note_bytes(m, totals.bytes);
}
