/* arrow_map.c: a column whose batches lie in a mapped file, page by page, as one array: the pages are mapped
 * once more, one batch behind the other, and nothing is copied. write_arrow writes large files so.
 *
 * What always holds: the array's bytes are the file's; it keeps the file's own mapping, and so what watches
 * the file. How many mappings there are is bounded (fl_file_watch_maps): a process may have some ten
 * thousand. */
#include "io/arrow.h"
#include "data/data.h"

#include <sys/mman.h>
#include <unistd.h>

enum { LEAST = 1 << 18 }; /* bytes of a batch: smaller ones cost less to copy than to map */

/* Whether every span but the last is whole pages, and all begin with one. */
static bool are_pages(const FlInput *in, const FlArrowBytes *spans, int32_t n, int64_t page) {
  for (int32_t k = 0; k < n; k++) {
    int64_t at = (const char *)spans[k].at - in->data;
    if (at < 0 || spans[k].n > in->size - at || at % page != 0) return false;
    if (k + 1 < n && (spans[k].n < LEAST || spans[k].n % page != 0)) return false;
  }
  return true;
}

FlArray *fl_arrow_map(FlCtx *ctx, const FlInput *in, const FlArrowBytes *spans, int32_t n, FlDtype dtype,
                      int32_t rank, const int64_t *dims) {
  int64_t page = sysconf(_SC_PAGESIZE), bytes = 0;
  if (in->fd < 0 || in->buffer->kind != FL_BUFFER_MAPPED || !are_pages(in, spans, n, page)) return NULL;
  for (int32_t k = 0; k < n; k++) bytes += spans[k].n;
  if (!fl_file_watch_maps(in, n)) return NULL;
  int64_t whole = (bytes + page - 1) / page * page;
  char *base = mmap(NULL, (size_t)whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *to = base;
  if (base == MAP_FAILED) return NULL;
  bool ok = true;
  for (int32_t k = 0; ok && k < n; to += spans[k++].n)
    ok = mmap(to, (size_t)spans[k].n, PROT_READ, MAP_PRIVATE | MAP_FIXED, in->fd,
              (const char *)spans[k].at - in->data) != MAP_FAILED;
  FlBuffer *b = ok ? fl_buffer_of_map(ctx, base, whole, whole) : NULL;
  if (!b) {
    munmap(base, (size_t)whole);
    return NULL;
  }
  FlArray *a = fl_buffer_keep(b, in->buffer) ? fl_array_over(ctx, b, base, (int32_t)dtype, rank, dims) : NULL;
  fl_buffer_unref(b);
  return a;
}
