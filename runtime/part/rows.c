/* rows.c: keeping rows by a mask.
 *
 * Comes in: a mask, arrays of any type and rank. Goes out: new arrays of the rows that are kept, in order;
 * the arrays themselves where all are kept; where most are, arrays that are written when somebody needs the
 * rows together (data/unwritten.h), and rows of what such were taken from. Always holds: rows of texts keep
 * the bytes of their source alive, and its codes when it has any (data/text_codes.h); rows of lists hold
 * their own references. */
#include "part/fill.h"
#include "part/selection.h"

bool fl_part_goes_by_codes(const FlArray *a, int64_t n) {
  const bool many = n >= FL_PART_FEW_ROWS || n >= fl_unwritten_from();
  return a->dtype == FL_TEXT && a->rank == 1 && (many || fl_array_is_coded(a));
}

FlArray *fl_part_new_rows(FlCtx *ctx, FlArray *like, int64_t m) {
  int64_t dims[FL_MAX_RANK];
  memcpy(dims, like->dims, sizeof dims);
  dims[0] = m;
  FlArray *a = fl_array_new(ctx, like->dtype, like->rank, dims);
  if (a != NULL && fl_dtype_is_text(a->dtype) && fl_array_keep(ctx, a, NULL, &like, 1) != 0) {
    fl_array_unref(a);
    return NULL;
  }
  return a;
}

/* A filter, and what the last column was selected from. */
typedef struct Filter {
  FlPartMem *m;
  const FlOpDesc *desc;
  FlSelection *s; /* the rows that it keeps */
  const FlSelection *of;
  int64_t of_first, from, to;
  FlSelection *both; /* rows [from, to) of a column of which `of` are selected; NULL: none was so far */
} Filter;

/* The kept rows' codes of texts. NULL: out of memory, recorded. */
static FlBuffer *compress_codes(const Filter *f, const FlTextCodes *known, const void *codes) {
  FlBuffer *to = fl_buffer_new(f->m->ctx, f->s->kept * known->width);
  if (to == NULL) return NULL;
  if (fl_part_keep_rows(f->m->ctx, f->s, codes, (size_t)known->width, false, to->data) == 0) return to;
  fl_buffer_unref(to);
  return NULL;
}

/* Texts by their codes. */
typedef struct Expand {
  const FlTextCodes *known;
  const void *codes;
  FlText *to;
} Expand;

static int32_t expand_body(FlCtx *ctx, const void *env, int64_t begin, int64_t end) {
  const Expand *x = env;
  (void)ctx;
  fl_texts_of_codes(x->known, (const char *)x->codes + begin * x->known->width, end - begin, x->to + begin);
  return 0;
}

/* The kept rows of texts that have codes; *done: they are written, or need not be, as codes are enough. They
 * are written by their codes, where these are of so few texts that a cache holds them, as a row is then a
 * byte or two to read in place of a text's sixteen, and where there is nothing else. */
static FlStatus compress_coded(const Filter *f, FlArray *from, FlArray **to, bool *done) {
  enum { CACHED = 1 << 11 };
  const void *codes;
  const int64_t kept = f->s->kept;
  const FlTextCodes *known = fl_part_goes_by_codes(from, kept) ? fl_text_codes(from, &codes) : NULL;
  if (known == NULL) return 0;
  FlBuffer *to_codes = compress_codes(f, known, codes);
  if (to_codes == NULL) return 1;
  if (kept >= fl_unwritten_from() && fl_part_gives_codes(f->m->ctx, f->desc))
    *to = fl_array_new_coded(f->m->ctx, kept, from, known, to_codes);
  *done = *to != NULL;
  if (!*done) *to = fl_part_new_rows(f->m->ctx, from, kept);
  FlStatus status = *to == NULL;
  if (status == 0 && !*done && (known->dictionary->n <= CACHED || fl_array_is_coded(from))) {
    Expand x = {.known = known, .codes = to_codes->data, .to = (*to)->data};
    status = fl_part_for(f->m->ctx, expand_body, &x, kept, 0.5);
    *done = true;
  }
  if (status == 0 && !fl_array_is_coded(*to)) {
    (void)fl_text_codes_attach(*to, fl_dictionary_ref(known->dictionary), to_codes, known->width);
    return 0;
  }
  fl_buffer_unref(to_codes);
  return status;
}

/* Whether rows that stay of a column are worth keeping as such until somebody needs them together. */
static bool worth_apart(const Filter *f, const FlArray *from, const FlSelection *s, int32_t of) {
  enum { SHARE = 2 };
  return fl_part_gives_apart(f->m->ctx, f->desc, of) && from->rank == 1 &&
         fl_dtype_info[from->dtype].kind != FL_KIND_REF && s->kept >= fl_unwritten_from() &&
         s->kept >= s->n / SHARE && s->n < UINT32_MAX;
}

/* The rows that `s` keeps, result `of`; *to may be made already. */
static FlStatus compress_rows(const Filter *f, FlArray *from, FlSelection *s, int32_t of, FlArray **to) {
  if (*to == NULL && worth_apart(f, from, s, of)) *to = fl_array_new_selected(f->m->ctx, from, s);
  if (*to != NULL && fl_array_is_unwritten(*to)) return 0;
  if (*to == NULL) *to = fl_part_new_rows(f->m->ctx, from, s->kept);
  if (*to == NULL) return 1;
  size_t row_bytes = (size_t)fl_array_row_count(from) * (size_t)fl_dtype_info[from->dtype].bytes;
  return fl_part_keep_rows(f->m->ctx, s, from->data, row_bytes, from->dtype == FL_LIST, (*to)->data);
}

/* Rows of a column that are selected from another one are rows of that. */
static FlStatus compress_selected(Filter *f, const FlSelected *s, int32_t of, FlArray **to) {
  if (f->both == NULL || f->of != s->selection || f->of_first != s->first) {
    fl_selection_unref(f->both);
    f->both = fl_part_selection_of(f->m->ctx, s, f->s, &f->from, &f->to);
    if (f->both == NULL) return 1;
    f->of = s->selection;
    f->of_first = s->first;
  }
  FlArray *from = fl_array_view_rows(f->m->ctx, s->from, f->from, f->to);
  FlStatus status = from == NULL ? 1 : compress_rows(f, from, f->both, of, to);
  fl_array_unref(from);
  return status;
}

static FlStatus compress_one(Filter *f, FlArray *from, int32_t of, FlArray **out) {
  bool done = false;
  if (from->dims[0] != f->s->n) return fl_part_fail_shape(f->m->ctx, f->desc, f->s->n, from->dims[0]);
  if (f->s->kept == f->s->n) {
    *out = fl_array_ref(from);
    return 0;
  }
  if (compress_coded(f, from, out, &done) != 0) return 1;
  if (done) return 0;
  FlSelected selected = *out == NULL ? fl_selected_borrow(from) : (FlSelected){0};
  FlStatus status = selected.from != NULL ? compress_selected(f, &selected, of, out)
                                          : compress_rows(f, from, f->s, of, out);
  fl_selected_return(selected);
  return status;
}

FlStatus fl_rt_compress(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  FlPartMem mem = {.ctx = ctx};
  int32_t n_arrays = desc->n_args - 1;
  FlStatus status = fl_part_fill(ctx, args[0].a);
  Filter f = {.m = &mem, .desc = desc, .s = status == 0 ? fl_part_selection(ctx, args[0].a) : NULL};
  if (f.s == NULL) return 1;
  for (int32_t k = 0; k < n_arrays; k++) results[1 + k].a = NULL;
  for (int32_t k = 0; k < n_arrays && status == 0; k++)
    status = compress_one(&f, args[1 + k].a, 1 + k, &results[1 + k].a);
  results[0].i = f.s->kept;
  for (int32_t k = 0; k < n_arrays && status != 0; k++) fl_array_unref(results[1 + k].a);
  fl_selection_unref(f.both);
  fl_selection_unref(f.s);
  fl_part_mem_reset(&mem);
  return status;
}
