/* profile.c: see profile.h. In: the record of a run, the text of its script. Out: a table. What always holds:
 * a number is that of the run; what stands at another line by now is shown there, and what is at none is left
 * out and counted. */
#include "cli/profile.h"

#include "driver.h"

#include <stdlib.h>

typedef struct Line {
  /* rows: that the operator got which took longest, in all its calls; held: the most while one ran */
  int64_t ns, rows, longest, held, moved, moving; /* moved: bytes, of operators that took `moving` */
  FlText1 ops;
} Line;

static void add_time(FlText1 *out, int64_t ns) {
  double s = (double)ns * 1e-9;
  if (s >= 1) fl_text_addf(out, "%8.2f s ", s);
  else fl_text_addf(out, "%8.2f ms", s * 1e3);
}

static void add_number(FlText1 *out, int64_t n) {
  char digits[32];
  int len = snprintf(digits, sizeof digits, "%lld", (long long)n);
  for (int i = 0; i < len; i++) fl_text_addf(out, "%s%c", i && (len - i) % 3 == 0 ? "," : "", digits[i]);
}

/* Nothing where the run held no large block, as what it held is not known then. */
static void add_held(FlText1 *out, int64_t bytes) {
  double mib = (double)bytes / (1 << 20);
  if (bytes > 0) fl_text_addf(out, mib < 100 ? "%8.1f MiB" : "%8.0f MiB", mib);
  else fl_text_addf(out, "%12s", "");
}

/* Bytes a second: nothing where those are not known of a twentieth of the line's time, or there are none. */
static bool has_speed(const Line *l) {
  return l->moved > 0 && l->moving > 0 && l->ns - l->moving <= l->ns / 20;
}

static void add_speed(FlText1 *out, const Line *l) {
  if (has_speed(l)) fl_text_addf(out, "%8.2f", (double)l->moved / (double)l->moving);
  else fl_text_addf(out, "%8s", "");
}

/* The file of the record that is the script; -1: none. */
static int file_of(const FlRecord *r, const FlSource *script) {
  char *real = realpath(script->path, NULL);
  int found = -1;
  for (int k = 0; k < r->n_files && found < 0; k++)
    if (strcmp(r->files[k], real ? real : script->path) == 0) found = k;
  free(real);
  return found;
}

static void add_place(Line *line, const FlRecordPlace *p) {
  line->ns += p->ns;
  if (p->held > line->held) line->held = p->held;
  if (p->moved >= 0) {
    line->moved += p->moved;
    line->moving += p->ns;
  }
  if (p->ns > line->longest) {
    line->longest = p->ns;
    line->rows = p->rows_in;
  }
  if (!line->ops.len || !strstr(line->ops.s, p->op))
    fl_text_addf(&line->ops, "%s%s", line->ops.len ? ", " : "", p->op);
}

static void say_head(FlText1 *out, const FlRecordSum *run, bool same) {
  bool ended = strcmp(run->state, "ended") == 0;
  fl_text_addf(out, "the last run%s%s took %.3g s with %d worker%s and %.0f MiB%s\n",
               ended                                ? ""
               : strcmp(run->state, "running") == 0 ? ", which did not end or was killed,"
                                                    : ", which ",
               ended || strcmp(run->state, "running") == 0 ? ""
               : strcmp(run->state, "stopped") == 0        ? "was interrupted,"
                                                           : "failed,",
               (double)run->ns * 1e-9, run->workers, run->workers == 1 ? "" : "s",
               (double)run->peak / (1 << 20), same ? "" : "; the script has changed since");
}

static void add_limit(FlText1 *out, bool any, double limit, int workers) {
  if (!any) {
    fl_text_addz(out, "GB/s: no line reads or writes whole columns of numbers alone, so none is said\n");
    return;
  }
  fl_text_addz(out, "GB/s: bytes of columns that were read and written, each once, in 10^9 a second; "
                    "caches may give more than memory");
  if (limit > 0)
    fl_text_addf(out, ",\n      of which %d thread%s can copy %.2f GB/s here", workers,
                 workers == 1 ? "" : "s", limit * 1e-9);
  fl_text_addz(out, "\n");
}

void fl_explain_profile(FlText1 *out, FlArena *arena, const FlRecord *r, const FlSource *script, bool same,
                        double limit) {
  int n = (int)script->n_lines, its = file_of(r, script);
  Line *lines = fl_piece_new((size_t)n + 1, sizeof *lines);
  const uint64_t *texts = fl_source_lines(arena, script);
  int64_t all = 0, elsewhere = 0;
  bool any = false;
  for (int i = 0; i < r->n_places; i++) {
    const FlRecordPlace *p = &r->places[i];
    int line = p->file == its ? fl_source_same(script, texts, p->line, p->text) : 0;
    all += p->ns;
    if (line) add_place(&lines[line], p);
    else elsewhere += p->ns;
  }
  say_head(out, &r->runs[0], same);
  fl_text_addz(out, "       time  share       rows        held    GB/s  line\n");
  for (int k = 1; k <= n; k++) {
    Line *l = &lines[k];
    if (l->ops.len) {
      FlText1 rows = {0};
      add_number(&rows, l->rows);
      fl_text_addz(out, " ");
      add_time(out, l->ns);
      fl_text_addf(out, "  %4.0f%% %10s", all ? 100.0 * (double)l->ns / (double)all : 0.0,
                   l->rows > 0 ? rows.s : "");
      add_held(out, l->held);
      add_speed(out, l);
      any = any || has_speed(l);
      fl_text_addf(out, "  %4d  ", k);
      const char *text = script->text + script->lines[k - 1];
      fl_text_addf(out, "%.*s\n", (int)strcspn(text, "\n"), text);
      fl_text_addf(out, "%57s%s\n", "# ", l->ops.s);
      fl_text_reset(&rows);
    }
    fl_text_reset(&l->ops);
  }
  fl_text_addz(
      out, "held: the most that the run had in memory while the line ran, in blocks of 64 KiB and more\n");
  add_limit(out, any, limit, r->runs[0].workers);
  if (elsewhere > 0 && all)
    fl_text_addf(out, "%.0f%% in other files, or at lines that are no more\n",
                 100.0 * (double)elsewhere / (double)all);
  fl_piece_free(lines);
}
