/* diff_table.c: two tables by key; see diff.h. */
#include "cli/diff.h"

#include "base/width.h"

#include <stdlib.h>

enum { MOST_ROWS = 20, MOST_KEYS = 50 };

/* A column that both tables have. */
typedef struct Shared {
  int was, is;
  bool may_be_key;
} Shared;

typedef struct Side {
  const FlShown *t;
  int64_t *order; /* of rows, by key */
} Side;

typedef struct Diff {
  FlArena *arena;
  FlText1 *out;
  Side was, is;
  FlVec(Shared) shared;
  FlVec(int) key;   /* of shared columns */
  int64_t *partner; /* of each row of `is` the row of `was`, -1: none */
  bool *found;      /* rows of `was` that have one */
} Diff;

static const char *cell(const FlShown *t, int64_t row, int column) {
  return t->cells[row * t->n_columns + column];
}

static int compare_cells(const char *a, const char *b) {
  if (!a || !b) return (a != NULL) - (b != NULL);
  return strcmp(a, b);
}

/* ---- columns ---- */

/* The column of the other table that is the same, of several of one name the same one of them. */
static int column_like(const FlShown *t, const FlShown *other, int column) {
  int nth = 0;
  for (int k = 0; k < column; k++) nth += strcmp(t->names[k], t->names[column]) == 0;
  for (int k = 0; k < other->n_columns; k++)
    if (strcmp(other->names[k], t->names[column]) == 0 && nth-- == 0) return k;
  return -1;
}

static bool may_be_key(const char *type) { return type[0] != 'f' && !strpbrk(type, "[("); }

static void share_columns(Diff *d) {
  for (int k = 0; k < d->is.t->n_columns; k++) {
    int was = column_like(d->is.t, d->was.t, k);
    if (was < 0) continue;
    Shared s = {was, k, may_be_key(d->is.t->types[k]) && may_be_key(d->was.t->types[was])};
    fl_vec_push(d->arena, &d->shared, s);
  }
}

static bool say_columns(Diff *d) {
  size_t before = d->out->len;
  const FlShown *was = d->was.t, *is = d->is.t;
  for (int k = 0; k < was->n_columns; k++)
    if (column_like(was, is, k) < 0)
      fl_text_addf(d->out, "  - column %s: %s\n", was->names[k], was->types[k]);
  for (int k = 0; k < is->n_columns; k++)
    if (column_like(is, was, k) < 0) fl_text_addf(d->out, "  + column %s: %s\n", is->names[k], is->types[k]);
  for (int k = 0; k < d->shared.n; k++) {
    const char *a = was->types[d->shared.at[k].was], *b = is->types[d->shared.at[k].is];
    if (strcmp(a, b) != 0)
      fl_text_addf(d->out, "  ~ column %s: %s -> %s\n", is->names[d->shared.at[k].is], a, b);
  }
  bool moved = false;
  for (int k = 1; k < d->shared.n; k++) moved |= d->shared.at[k].was < d->shared.at[k - 1].was;
  if (moved) fl_text_addz(d->out, "  ~ the order of the columns\n");
  return d->out->len > before;
}

/* ---- keys ---- */

typedef struct Sorting {
  const Diff *d;
  const Side *side;
  bool is_now;
} Sorting;

static int column_of(const Diff *d, int shared, bool is_now) {
  return is_now ? d->shared.at[shared].is : d->shared.at[shared].was;
}

static int compare_rows(const Diff *d, const Side *a, bool a_now, int64_t x, const Side *b, bool b_now,
                        int64_t y) {
  for (int k = 0; k < d->key.n; k++) {
    int c = compare_cells(cell(a->t, x, column_of(d, d->key.at[k], a_now)),
                          cell(b->t, y, column_of(d, d->key.at[k], b_now)));
    if (c) return c;
  }
  return 0;
}

static int by_key(const void *x, const void *y, void *env) {
  const Sorting *s = env;
  int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  int c = compare_rows(s->d, s->side, s->is_now, a, s->side, s->is_now, b);
  return c ? c : (a > b) - (a < b);
}

static void sort_side(const Diff *d, Side *side, bool is_now) {
  if (!side->order) side->order = FL_NEW_ARRAY(d->arena, int64_t, side->t->rows + 1);
  for (int64_t i = 0; i < side->t->rows; i++) side->order[i] = i;
  Sorting s = {d, side, is_now};
  qsort_r(side->order, (size_t)side->t->rows, sizeof *side->order, by_key, &s);
}

static bool is_distinct(const Diff *d, const Side *side, bool is_now) {
  for (int64_t i = 1; i < side->t->rows; i++)
    if (compare_rows(d, side, is_now, side->order[i - 1], side, is_now, side->order[i]) == 0) return false;
  return true;
}

/* Pairs rows with equal keys, one with one; how many. */
static int64_t pair_rows(Diff *d) {
  int64_t n = 0;
  for (int64_t i = 0; i < d->is.t->rows; i++) d->partner[i] = -1;
  memset(d->found, 0, (size_t)d->was.t->rows * sizeof *d->found);
  for (int64_t i = 0, k = 0; i < d->is.t->rows && k < d->was.t->rows;) {
    int c = compare_rows(d, &d->is, true, d->is.order[i], &d->was, false, d->was.order[k]);
    if (c == 0) {
      d->partner[d->is.order[i]] = d->was.order[k];
      d->found[d->was.order[k]] = true;
      n++;
    }
    i += c <= 0;
    k += c >= 0;
  }
  return n;
}

/* How many rows are found again by the key; -1: it is none. */
static int64_t try_key(Diff *d) {
  sort_side(d, &d->was, false);
  sort_side(d, &d->is, true);
  return is_distinct(d, &d->was, false) && is_distinct(d, &d->is, true) ? pair_rows(d) : -1;
}

static void set_key(Diff *d, const int *columns, int n) {
  d->key.n = 0;
  for (int k = 0; k < n; k++) fl_vec_push(d->arena, &d->key, columns[k]);
}

/* false: the tables have no such columns. */
static bool given_key(Diff *d, const char *key) {
  d->key.n = 0;
  while (true) {
    size_t n = strcspn(key, ",");
    int found = -1;
    for (int k = 0; k < d->shared.n && found < 0; k++) {
      const char *name = d->is.t->names[d->shared.at[k].is];
      if (strlen(name) == n && strncmp(name, key, n) == 0) found = k;
    }
    if (found < 0) return false;
    fl_vec_push(d->arena, &d->key, found);
    if (!key[n]) return true;
    key += n + 1;
  }
}

/* Leaves the best key, and the rows paired by it; false: there is none. */
static bool find_key(Diff *d) {
  int able[MOST_KEYS], n = 0, best_n = 0, best[MOST_KEYS] = {0};
  int64_t most = -1;
  for (int k = 0; k < d->shared.n && n < MOST_KEYS; k++)
    if (d->shared.at[k].may_be_key) able[n++] = k;
  for (int from = 0, len = 1; len <= n;) { /* each alone, then the first two, three .. */
    set_key(d, able + from, len);
    int64_t found = try_key(d);
    if (found > most) {
      most = found;
      best_n = len;
      memcpy(best, able + from, (size_t)len * sizeof *best);
    }
    if (len > 1 && found >= 0) break; /* more columns find no more rows */
    if (len == 1 && from + 1 < n) from++;
    else from = 0, len++;
  }
  set_key(d, best, best_n);
  return most >= 0 && try_key(d) >= 0;
}

/* All that both have. */
static void pair_whole(Diff *d) {
  d->key.n = 0;
  for (int k = 0; k < d->shared.n; k++) fl_vec_push(d->arena, &d->key, k);
  sort_side(d, &d->was, false);
  sort_side(d, &d->is, true);
  pair_rows(d);
}

/* ---- what differs ---- */

/* Of columns of two types numbers are compared as such. */
static bool same_cell(const char *a, const char *b, bool same_type) {
  if (compare_cells(a, b) == 0) return true;
  if (!a || !b || same_type) return false;
  char *a_end, *b_end;
  double x = strtod(a, &a_end), y = strtod(b, &b_end);
  return *a && *b && !*a_end && !*b_end && x == y;
}

static bool differs_in(const Diff *d, int64_t row, int shared) {
  const Shared *s = &d->shared.at[shared];
  bool same_type = strcmp(d->was.t->types[s->was], d->is.t->types[s->is]) == 0;
  return !same_cell(cell(d->was.t, d->partner[row], s->was), cell(d->is.t, row, s->is), same_type);
}

static bool is_changed(const Diff *d, int64_t row) {
  for (int k = 0; k < d->shared.n; k++)
    if (d->partner[row] >= 0 && differs_in(d, row, k)) return true;
  return false;
}

static void put_value(FlText1 *out, const char *value) { fl_diff_value(out, value ? value : "null"); }

static const char *shown_value(const Diff *d, const char *value) {
  FlText1 t = {0};
  put_value(&t, value);
  const char *kept = fl_arena_strndup(d->arena, t.s ? t.s : "", t.len);
  fl_text_reset(&t);
  return kept;
}

/* The rows of one table that `pick` names, with the names of the columns above. */
static void put_rows(const Diff *d, const FlShown *t, char mark, const int64_t *rows, int64_t n) {
  int64_t shown = n < MOST_ROWS ? n : MOST_ROWS;
  const char **texts = FL_NEW_ARRAY(d->arena, const char *, (shown + 1) * t->n_columns + 1);
  int *width = FL_NEW_ARRAY(d->arena, int, t->n_columns + 1);
  for (int64_t i = 0; i <= shown; i++) {
    for (int c = 0; c < t->n_columns; c++) {
      const char *s = shown_value(d, i ? cell(t, rows[i - 1], c) : t->names[c]);
      int w = fl_width_text(s, strlen(s));
      texts[i * t->n_columns + c] = s;
      if (w > width[c]) width[c] = w;
    }
  }
  for (int64_t i = 0; n && i <= shown; i++) {
    fl_text_addf(d->out, "  %c", i ? mark : ' ');
    for (int c = 0; c < t->n_columns; c++) {
      const char *s = texts[i * t->n_columns + c];
      bool last = c + 1 == t->n_columns;
      fl_text_addf(d->out, "%s%s%*s", c ? "  " : " ", s, last ? 0 : width[c] - fl_width_text(s, strlen(s)),
                   "");
    }
    fl_text_addc(d->out, '\n');
  }
  if (n > shown) fl_text_addf(d->out, "  %c ... and %lld more\n", mark, (long long)(n - shown));
}

static void put_changed(const Diff *d, const int64_t *rows, int64_t n) {
  for (int64_t i = 0; i < n && i < MOST_ROWS; i++) {
    fl_text_addz(d->out, "  ~ ");
    for (int k = 0; k < d->key.n; k++) {
      if (k) fl_text_addz(d->out, ", ");
      put_value(d->out, cell(d->is.t, rows[i], d->shared.at[d->key.at[k]].is));
    }
    const char *joint = ": ";
    for (int k = 0; k < d->shared.n; k++) {
      if (!differs_in(d, rows[i], k)) continue;
      fl_text_addf(d->out, "%s%s ", joint, d->is.t->names[d->shared.at[k].is]);
      put_value(d->out, cell(d->was.t, d->partner[rows[i]], d->shared.at[k].was));
      fl_text_addz(d->out, " -> ");
      put_value(d->out, cell(d->is.t, rows[i], d->shared.at[k].is));
      joint = ", ";
    }
    fl_text_addc(d->out, '\n');
  }
  if (n > MOST_ROWS) fl_text_addf(d->out, "  ~ ... and %lld more\n", (long long)(n - MOST_ROWS));
}

/* The first row of `is` that stands before one that it stood behind; -1: none. */
static int64_t first_moved(const Diff *d) {
  int64_t last = -1;
  for (int64_t i = 0; i < d->is.t->rows; i++) {
    if (d->partner[i] < 0) continue;
    if (d->partner[i] < last) return i;
    last = d->partner[i];
  }
  return -1;
}

static void put_head(const Diff *d, const char *place) {
  fl_text_addf(d->out, "\n%s: ", place);
  if (d->was.t->rows == d->is.t->rows) fl_text_addf(d->out, "%lld rows", (long long)d->is.t->rows);
  else fl_text_addf(d->out, "%lld -> %lld rows", (long long)d->was.t->rows, (long long)d->is.t->rows);
}

static void put_key(const Diff *d, bool has_key) {
  if (!has_key) {
    fl_text_addz(d->out, ", whole rows, as no columns say which is which");
    return;
  }
  for (int k = 0; k < d->key.n; k++)
    fl_text_addf(d->out, "%s%s", k ? ", " : ", by ", d->is.t->names[d->shared.at[d->key.at[k]].is]);
}

static bool diff_rows(Diff *d, const char *key, const char *place) {
  FlText1 *out = d->out;
  size_t before = out->len;
  bool has_key = key && given_key(d, key) ? try_key(d) >= 0 : find_key(d);
  if (!has_key) pair_whole(d);
  int64_t *lists = FL_NEW_ARRAY(d->arena, int64_t, d->was.t->rows + 2 * d->is.t->rows + 1);
  int64_t *gone = lists, *come = gone + d->was.t->rows, *changed = come + d->is.t->rows;
  int64_t n_gone = 0, n_come = 0, n_changed = 0, moved = first_moved(d);
  for (int64_t i = 0; i < d->was.t->rows; i++)
    if (!d->found[i]) gone[n_gone++] = i;
  for (int64_t i = 0; i < d->is.t->rows; i++) {
    if (d->partner[i] < 0) come[n_come++] = i;
    else if (is_changed(d, i)) changed[n_changed++] = i;
  }
  put_head(d, place);
  put_key(d, has_key);
  fl_text_addf(out, ": %lld removed, %lld added, %lld changed\n", (long long)n_gone, (long long)n_come,
               (long long)n_changed);
  bool differs = say_columns(d) || n_gone || n_come || n_changed || moved >= 0;
  put_rows(d, d->was.t, '-', gone, n_gone);
  put_rows(d, d->is.t, '+', come, n_come);
  put_changed(d, changed, n_changed);
  if (moved >= 0) fl_text_addf(out, "  ~ the order of the rows, from row %lld on\n", (long long)moved + 1);
  if (!differs) out->s[out->len = before] = '\0';
  return differs;
}

bool fl_diff_table(FlArena *arena, FlText1 *out, const FlShown *was, const FlShown *is, const char *key,
                   const char *place) {
  Diff d = {.arena = arena, .out = out, .was = {.t = was}, .is = {.t = is}};
  share_columns(&d);
  if (!was->kept || !is->kept) {
    put_head(&d, place);
    fl_text_addf(out, "; they are not compared: a record keeps up to %d values of a table, 2 MiB in all\n",
                 FL_SHOWN_TABLE_CELLS);
    (void)say_columns(&d);
    return true;
  }
  d.partner = FL_NEW_ARRAY(arena, int64_t, is->rows + 1);
  d.found = FL_NEW_ARRAY(arena, bool, was->rows + 1);
  return diff_rows(&d, key, place);
}
