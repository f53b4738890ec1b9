/* npz.c: several arrays from and to an NPZ file: a ZIP archive with a member `name.npy` for each.
 *
 * What always holds: only the members that are asked for are unpacked; an array is no larger than its member;
 * pickled objects are never read. */
#include "io/arrays.h"
#include "io/npy.h"
#include "io/zip.h"
#include "data/data.h"
#include "exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char suffix[] = ".npy";

static bool is_called(const FlZipMember *m, const char *name) {
  size_t n = strlen(name);
  return strncmp(m->name, name, n) == 0 && strcmp(m->name + n, suffix) == 0;
}

static bool is_array(const FlZipMember *m) {
  size_t n = strlen(m->name), end = sizeof suffix - 1;
  return n >= end && strcmp(m->name + n - end, suffix) == 0;
}

/* The array's name, on the heap; NULL: out of memory. */
static char *name_of(const FlZipMember *m) { return strndup(m->name, strlen(m->name) - (sizeof suffix - 1)); }

/* How messages call a member: by its file too. */
typedef struct Label {
  char text[512];
} Label;

static Label label_of(const FlZip *zip, const FlZipMember *m) {
  Label l;
  snprintf(l.text, sizeof l.text, "%s: %s", zip->label, m->name);
  return l;
}

/* ---- types -------------------------------------------------------------------------------------------- */

/* What a member's header says, from its first `room` bytes, all that is unpacked of a deflated one; and
 * whether a time is missing among what is there. */
static bool look(const FlZip *zip, const FlZipMember *m, int64_t room, FlNpy *h, bool *nat, FlIoError *e) {
  FlNpySource from = {.bytes = zip->in->data + m->at, .size = m->size};
  char *head = NULL;
  if (m->deflated) {
    from.bytes = head = calloc(1, (size_t)room);
    if (!head) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", zip->label);
  }
  bool ok =
      (!head || fl_zip_begin(zip, m, head, room, e)) && fl_npy_header(label_of(zip, m).text, &from, h, e);
  if (ok && head && from.size > room) from.size = room; /* the header was checked against all of it */
  *nat = ok && fl_npy_has_nat(&from, h);
  free(head);
  return ok;
}

static bool read_head(const FlZip *zip, const FlZipMember *m, FlNpy *h, bool *nat, FlIoError *e) {
  if (!look(zip, m, FL_NPY_HEAD, h, nat, e)) return false;
  int64_t room = m->size < FL_NPY_HEAD + FL_NPY_LOOK ? m->size : FL_NPY_HEAD + FL_NPY_LOOK;
  bool more = fl_dtype_info[h->dtype].kind == FL_KIND_TIME && m->deflated && room > FL_NPY_HEAD && !*nat;
  return !more || look(zip, m, room, h, nat, e);
}

static bool add_member(const FlZip *zip, const FlZipMember *m, FlIoArrays *out, FlIoError *e) {
  FlNpy h = {.dtype = FL_N_DTYPES};
  FlIoError why = {0};
  char *name = name_of(m);
  bool nat = false, known = name && read_head(zip, m, &h, &nat, &why);
  bool ok = name && why.code != FL_E_MEMORY &&
            fl_io_arrays_add(out, name, known ? h.dtype : FL_N_DTYPES, known ? h.rank : 0, h.dims,
                             known ? NULL : why.message);
  if (ok) out->at[out->n - 1].nullable = nat;
  free(name);
  return ok || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", zip->label);
}

bool fl_io_npz_arrays(const char *path, FlIoArrays *out, FlIoError *e) {
  FlInput in;
  FlZip zip;
  memset(e, 0, sizeof *e);
  *out = (FlIoArrays){0};
  if (!fl_input_open(NULL, path, &in, e)) return false;
  bool ok = fl_zip_open(&in, path, &zip, e);
  for (int32_t k = 0; ok && k < zip.n; k++)
    if (is_array(&zip.members[k])) ok = add_member(&zip, &zip.members[k], out, e);
  ok = ok && (out->n || fl_io_error(e, FL_E_EMPTY, "`%s` holds no arrays", path)) &&
       fl_input_check(&in, path, e);
  fl_zip_close(&zip);
  fl_input_close(&in);
  if (!ok) fl_io_arrays_reset(out);
  return ok;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

/* A member that is read. */
typedef struct Part {
  const FlZipMember *m;
  FlBuffer *buffer; /* of the unpacked bytes, which count against --memory; NULL: it is stored */
  char *bytes;      /* these; NULL: it is stored */
  FlIoError error;
} Part;

typedef struct Reading {
  const FlZip *zip;
  Part *parts;
} Reading;

static const FlZipMember *find(const FlZip *zip, const char *name, FlIoError *e) {
  for (int32_t k = 0; k < zip->n; k++)
    if (is_called(&zip->members[k], name)) return &zip->members[k];
  char **names = calloc((size_t)zip->n + 1, sizeof *names);
  int32_t n = 0;
  for (int32_t k = 0; names && k < zip->n; k++)
    if (is_array(&zip->members[k]) && (names[n] = name_of(&zip->members[k]))) n++;
  fl_io_no_array(zip->label, name, (const char *const *)names, n, e);
  for (int32_t k = 0; k < n; k++) free(names[k]);
  free(names);
  return NULL;
}

static void unpack_parts(void *env, int64_t begin, int64_t end, int worker) {
  Reading *r = env;
  (void)worker;
  for (int64_t k = begin; k < end; k++)
    if (r->parts[k].bytes) (void)fl_zip_inflate(r->zip, r->parts[k].m, r->parts[k].bytes, &r->parts[k].error);
}

static bool take(FlCtx *ctx, const FlZip *zip, const Part *p, const FlArraysWanted *w, int32_t k,
                 FlIoError *e) {
  FlType1 type = w->types[k];
  FlArray *valid = NULL;
  FlNpySource from = {.bytes = p->bytes ? p->bytes : zip->in->data + p->m->at, .size = p->m->size};
  FlNpy h;
  Label label = label_of(zip, p->m);
  if (p->error.code) {
    *e = p->error;
    return false;
  }
  if (!p->bytes && !fl_zip_check(ctx, zip, p->m, e)) return false;
  if (!fl_npy_header(label.text, &from, &h, e) ||
      !fl_io_array_fits(zip->label, w->names[k], h.dtype, h.rank, type, e))
    return false;
  FlArray *a = fl_npy_array(ctx, label.text, &from, &h, type, w->nullable[k] ? &valid : NULL, e);
  if (!a) return false;
  w->values[k] = fl_io_arrays_value(ctx, a, type);
  type.dtype = FL_BOOL;
  if (valid) w->valid[k] = fl_io_arrays_value(ctx, valid, type);
  return true;
}

static bool read_members(FlCtx *ctx, const FlZip *zip, const FlArraysWanted *w, FlIoError *e) {
  int32_t n = w->n;
  Reading r = {zip, calloc((size_t)n + 1, sizeof *r.parts)};
  bool ok = r.parts || fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", zip->label);
  for (int32_t k = 0; ok && k < n; k++) {
    r.parts[k].m = find(zip, w->names[k], e);
    ok = r.parts[k].m != NULL;
    if (!ok || !r.parts[k].m->deflated) continue;
    r.parts[k].buffer = fl_buffer_new(ctx, r.parts[k].m->size);
    if (r.parts[k].buffer) r.parts[k].bytes = r.parts[k].buffer->data;
    ok = r.parts[k].bytes || fl_io_error(e, FL_E_MEMORY, "out of memory while unpacking `%s` of `%s`",
                                         r.parts[k].m->name, zip->label);
  }
  if (ok) fl_parallel_for(ctx, n, 1, unpack_parts, &r);
  for (int32_t k = 0; r.parts && k < n; k++) {
    ok = ok && take(ctx, zip, &r.parts[k], w, k, e);
    fl_buffer_unref(r.parts[k].buffer); /* each as soon as its array is there */
  }
  free(r.parts);
  return ok;
}

static bool read_npz(FlCtx *ctx, const char *path, const FlArraysWanted *w, FlIoError *e) {
  FlInput in;
  FlZip zip;
  if (!fl_input_open(ctx, path, &in, e)) return false;
  bool ok = fl_zip_open(&in, path, &zip, e) && read_members(ctx, &zip, w, e) && fl_input_check(&in, path, e);
  fl_zip_close(&zip);
  fl_input_close(&in);
  return ok;
}

FlStatus fl_rt_read_npz(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_read_arrays(ctx, desc, args, results, read_npz);
}

/* ---- writing ------------------------------------------------------------------------------------------ */

typedef struct Values {
  const FlOpDesc *desc;
  const FlSlot *args; /* behind the path */
} Values;

static bool put_member(FlCtx *ctx, FlZipWriter *w, const Values *v, int32_t k, FlIoError *e) {
  FlType1 type = v->desc->arg_types[k + 1];
  FlArray *a = type.rank ? v->args[k].a : fl_array_of_scalar(ctx, (FlDtype)type.dtype, v->args[k]);
  FlBytes bytes = fl_output_bytes(w->out), name = {0};
  FlOutput out = {.ctx = ctx, .path = w->out->path, .memory = &bytes};
  fl_bytes_addf(&name, "%s%s", v->desc->list[k], suffix);
  fl_bytes_fill(&name, '\0', 1);
  bool ok = (a && !name.failed) || fl_io_error(e, FL_E_MEMORY, "out of memory while writing `%s`", out.path);
  ok = ok && fl_npy_put(&out, a, type.rank, e) &&
       fl_zip_add(w, name.at, bytes.at, bytes.len, v->desc->i != 0, e);
  if (!type.rank) fl_array_unref(a);
  fl_bytes_reset(&bytes);
  fl_bytes_reset(&name);
  return ok;
}

/* An FlPutFn of Values. */
static bool put_npz(FlCtx *ctx, FlOutput *out, void *what, FlIoError *e) {
  const Values *v = what;
  FlZipWriter w = {.out = out};
  bool ok = true;
  for (int32_t k = 0; ok && k < v->desc->n_list; k++) ok = put_member(ctx, &w, v, k, e);
  ok = ok && fl_zip_end(&w, e);
  fl_zip_writer_reset(&w);
  return ok;
}

FlStatus fl_rt_write_npz(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  (void)results;
  Values v = {desc, args + 1};
  return fl_io_write_file(ctx, desc, args[0].t, put_npz, &v);
}
