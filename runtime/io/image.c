/* image.c: the operators read_image and write_image: PNG and JPEG files as arrays u8[height, width,
 * channels], several of one size as u8[n, height, width, channels]; see image.h.
 *
 * What always holds: what a file is its first bytes say; several are decoded in parallel, and the first that
 * cannot be read is the one that is reported. */
#include "io/image.h"
#include "io/many.h"
#include "data/data.h"
#include "exec/exec.h"

#include <stdlib.h>
#include <string.h>

bool fl_image_bad(const char *label, const char *what, FlIoError *e) {
  fl_io_error(e, FL_E_IMAGE, "`%s` is no image that can be read: %.200s", label, what);
  size_t n = strlen(e->message);
  for (size_t good; (good = (size_t)fl_utf8_check(e->message, (int64_t)n)) < n;) e->message[good] = '?';
  return false;
}

bool fl_image_plausible(const FlInput *in, const char *label, FlImageSize size, int64_t ratio, FlIoError *e) {
  int64_t bytes = size.height * size.width; /* both fit 32 bits */
  return (size.height > 0 && size.width > 0 && bytes <= in->size * ratio / size.channels + (1 << 16)) ||
         fl_image_bad(label, "its size is not explained by the file's", e);
}

static FlImageReader *reader_of(const FlInput *in) {
  if (in->size >= 8 && memcmp(in->data, "\x89PNG\r\n\x1a\n", 8) == 0) return fl_png_read;
  return in->size >= 3 && memcmp(in->data, "\xff\xd8\xff", 3) == 0 ? fl_jpeg_read : NULL;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

typedef struct Reading {
  FlSources from;
  FlImageSize size; /* of the first, and then of all */
  uint8_t *to;
  FlIoError *errors; /* one a file */
} Reading;

/* One file: its size into *size when `to` is NULL, else its bytes. */
static bool read_one(FlCtx *ctx, FlText file, FlImageSize *size, uint8_t *to, FlIoError *e) {
  FlInput in;
  char *path = fl_input_path(file, e);
  if (!path || !fl_input_open(ctx, path, &in, e)) {
    free(path);
    return false;
  }
  FlImageReader *read = reader_of(&in);
  FlImageSize has;
  bool ok = in.size > 0 || fl_io_error(e, FL_E_EMPTY, "`%s` is empty", path);
  ok = ok && (read || fl_image_bad(path, "it is neither PNG nor JPEG", e)) && read(&in, path, &has, NULL, e);
  if (ok && to && memcmp(&has, size, sizeof has) != 0)
    ok =
        fl_io_error(e, FL_E_IMAGE,
                    "`%s` is %lld x %lld with %lld channels, but the images before are %lld x %lld with %lld",
                    path, (long long)has.height, (long long)has.width, (long long)has.channels,
                    (long long)size->height, (long long)size->width, (long long)size->channels);
  if (ok && !to) *size = has;
  if (ok && to) ok = read(&in, path, size, to, e);
  ok = ok && fl_input_check(&in, path, e);
  fl_input_close(&in);
  free(path);
  return ok;
}

static void read_files(void *env, int64_t begin, int64_t end, int worker) {
  Reading *r = env;
  (void)worker;
  int64_t bytes = r->size.height * r->size.width * r->size.channels;
  for (int64_t k = begin; k < end; k++)
    (void)read_one(NULL, r->from.paths[k], &r->size, r->to + k * bytes, &r->errors[k]);
}

static FlStatus read_all(FlCtx *ctx, int32_t site, Reading *r, bool many, FlArray **out) {
  FlIoError e = {0};
  FlStatus status = 0;
  for (int64_t k = 0; !status && k < r->from.n; k++)
    status = fl_ctx_claim_input(ctx, site, r->from.paths[k].ptr, r->from.paths[k].len);
  if (status) return status;
  if (r->from.n && !read_one(ctx, r->from.paths[0], &r->size, NULL, &e))
    return fl_io_fail(ctx, site, &e, r->from.paths[0].ptr, r->from.paths[0].len);
  int64_t dims[4] = {r->from.n, r->size.height, r->size.width, r->size.channels};
  *out = fl_array_new(ctx, FL_U8, many ? 4 : 3, many ? dims : dims + 1);
  r->errors = calloc((size_t)r->from.n + 1, sizeof *r->errors);
  if (!*out || !r->errors)
    return fl_fail_text(ctx, site, FL_FAULT_MEMORY, "out of memory while reading images");
  r->to = (*out)->data;
  fl_parallel_for(ctx, r->from.n, 1, read_files, r);
  for (int64_t k = 0; k < r->from.n; k++)
    if (r->errors[k].code)
      return fl_io_fail(ctx, site, &r->errors[k], r->from.paths[k].ptr, r->from.paths[k].len);
  return 0;
}

FlStatus fl_rt_read_image(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  Reading r = {.from = fl_sources_of(desc, args)};
  results[0].a = NULL;
  FlStatus status = read_all(ctx, desc->site, &r, desc->result_types[0].rank == 4, &results[0].a);
  if (status) fl_array_unref(results[0].a);
  free(r.errors);
  return status;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

/* An FlPutFn of an array. */
static bool put_image(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e) {
  const FlArray *a = what;
  FlImageSize size = {a->dims[0], a->dims[1], a->rank == 3 ? a->dims[2] : 1};
  const char *end = strrchr(out->path, '.');
  (void)ctx;
  if (end && (strcasecmp(end, ".jpg") == 0 || strcasecmp(end, ".jpeg") == 0)) {
    fl_io_error(e, FL_E_WRITE, "cannot write `%s`: images are written as PNG, without loss", out->path);
    fl_io_help(e, "call it .png");
    return false;
  }
  if (size.height < 1 || size.width < 1 || size.height > 1000000 || size.width > 1000000)
    return fl_io_error(
        e, FL_E_WRITE,
        "cannot write `%s`: a PNG image is 1 to 1,000,000 wide and high, and this is %lld x %lld", out->path,
        (long long)size.height, (long long)size.width);
  if (size.channels < 1 || size.channels > 4)
    return fl_io_error(e, FL_E_WRITE, "cannot write `%s`: an image has 1 to 4 channels, and this has %lld",
                       out->path, (long long)size.channels);
  return fl_png_write(out, a->data, size, e);
}

FlStatus fl_rt_write_image(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  return fl_io_write_file(ctx, desc, args[0].t, put_image, args[1].a);
}
