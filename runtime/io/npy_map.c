/* npy_map.c: an array of an NPY file that does not fit in memory, used where it lies.
 *
 * In: a file and its header. Out: an array over a mapping of the file: nothing is copied, what nobody looks
 * at is not read, and pages that were read may leave memory again. What always holds: the elements lie in the
 * file as in an array, aligned as arrays are; the array keeps the mapping, and so what watches the file. An
 * array that fits is read instead: it may be written in place, and large pages are faster to go through. */
#include "data/data.h"
#include "exec/exec.h"
#include "io/npy.h"

enum { LEAST = 4 << 20 }; /* bytes: fewer are never worth a mapping */

static bool lies_as_array(const FlNpy *h, FlType1 want) {
  return want.rank > 0 && h->rank == want.rank && fl_npy_is_plain(h, (FlDtype)want.dtype) &&
         h->data % FL_ALIGN == 0;
}

static bool fits(FlCtx *ctx, int64_t bytes) { return fl_pool_room(fl_ctx_pool(ctx), bytes) >= bytes; }

FlArray *fl_npy_mapped(FlCtx *ctx, const char *path, const struct stat *found, const FlNpy *h, FlType1 want,
                       FlIoError *e) {
  int64_t bytes = h->count * h->size;
  if (bytes <= LEAST || !S_ISREG(found->st_mode) || !lies_as_array(h, want) || fits(ctx, bytes)) return NULL;
  FlInput in;
  if (!fl_input_open(ctx, path, &in, e)) return NULL;
  FlArray *a = NULL;
  if (!fl_input_same(found, &in.found))
    fl_io_error(e, FL_E_CHANGED, "`%s` changed while it was being read", path);
  else a = fl_array_over(ctx, in.buffer, in.data + h->data, want.dtype, want.rank, h->dims);
  if (!a && !e->code) fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", path);
  if (a) fl_buffer_keep_file(in.buffer, in.fd);
  fl_input_close(&in);
  return a;
}
