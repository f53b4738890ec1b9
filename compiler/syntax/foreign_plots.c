/* foreign_plots.c: pictures as matplotlib, pandas, seaborn, plotly and ggplot2 draw them.
 *
 * In: a statement, or a file and the first of the statements that draw one picture. Out: one change, or what
 * they become together. What always holds: of what is drawn nothing is left out but how it looks; a call that
 * is not known here is left alone. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

static const char *const looks =
    "color c alpha s marker figsize edgecolor linewidth lw linestyle ls rot grid legend kde palette ax "
    "width height";

typedef struct Kind {
  const char *names, *flow;
} Kind;

static const Kind kinds[] = {{"scatter scatterplot geom_point", "scatter"},
                             {"plot line lineplot geom_line", "line"},
                             {"bar barplot geom_col", "bar"},
                             {"hist histplot histogram geom_histogram", "hist"}};

/* What a call that draws is called in flow; NULL: it draws something else. */
static const char *kind_of(const FlForeign *f, int i) {
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (ANY(f, i, kinds[k].names)) return kinds[k].flow;
  return NULL;
}

static const char *named(const FlForeignArgs *args, const char *name, int position) {
  for (int k = 0; k < args->n; k++)
    if (args->at[k].name ? strcmp(args->at[k].name, name) == 0 : k == position) return args->at[k].text;
  return NULL;
}

/* Are all arguments with names among these, or about the looks, and no more than n without one? */
static bool known(const FlForeign *f, const FlForeignArgs *args, const char *names, int n) {
  int bare = 0;
  for (int k = 0; k < args->n; k++) {
    FlForeign p = part((FlForeign *)(uintptr_t)f, args->at[k].name ? args->at[k].name : "");
    bare += !args->at[k].name;
    if (args->at[k].name && !ANY(&p, 0, names) && !ANY(&p, 0, looks)) return false;
  }
  return bare <= n;
}

/* A column as `t["x"]` or `t.x` says it; table: t. NULL: it is something else. */
static const char *column_of(FlForeign *f, const char *text, const char **table) {
  FlForeign p = part(f, text);
  const char *now = fl_foreign_by_rules(&p);
  FlForeign q = part(f, now ? now : "");
  if (q.tokens.n != 3 || !word(&q, 0) || !IS(&q, 1, ".") || !word(&q, 2)) return NULL;
  *table = TEXT(&q, 0, 0);
  return TEXT(&q, 2, 2);
}

/* `scatter(t["x"], t["y"])`, of two arrays, of one for `hist`; NULL: it is not known. */
static const char *of_arrays(FlForeign *f, const char *kind, const FlForeignArgs *args) {
  bool hist = strcmp(kind, "hist") == 0;
  const char *x = named(args, "x", 0), *y = hist ? NULL : named(args, "y", 1), *bins = named(args, "bins", 1);
  if (!x || (!hist && !y) || !known(f, args, hist ? "x bins" : "x y label", 2)) return NULL;
  const char *of = NULL, *also = NULL, *a = column_of(f, x, &of), *b = y ? column_of(f, y, &also) : NULL;
  bool one = a && (hist || (b && strcmp(of, also) == 0));
  const char *table = one ? of : SAY(f, hist ? "table(x = %s)" : "table(x = %s, y = %s)", x, y);
  if (hist)
    return SAY(f, "plot.hist(%s, x = %s%s", table, one ? a : "x", bins ? SAY(f, ", bins = %s", bins) : "");
  return SAY(f, "plot.%s(%s, x = %s, y = %s", kind, table, one ? a : "x", one ? b : "y");
}

/* `scatter(t, x="a", y="b", hue="c")`: columns of a table by their names. */
static const char *of_columns(FlForeign *f, const char *kind, const char *table, const FlForeignArgs *args) {
  bool hist = strcmp(kind, "hist") == 0;
  const char *x = named(args, "x", -1), *y = named(args, "y", -1), *bins = named(args, "bins", -1);
  const char *title = named(args, "title", -1), *color = named(args, "hue", -1);
  if (!table || !x || (!hist && !y) || !known(f, args, "data x y hue kind bins title", 1)) return NULL;
  const char *out = SAY(f, "plot.%s(%s, x = %s", kind, table, fl_foreign_argument(f, x, 'c'));
  if (y) out = SAY(f, "%s, y = %s", out, fl_foreign_argument(f, y, 'c'));
  if (color) out = SAY(f, "%s, color = %s", out, fl_foreign_argument(f, color, 'c'));
  if (bins) out = SAY(f, "%s, bins = %s", out, bins);
  return title ? SAY(f, "%s, title = %s", out, title) : out;
}

/* `t.plot.scatter(x="a", y="b")`, `t.plot(kind="bar", x="a", y="b")`, `sns.lineplot(data=t, ..)` */
static bool of_table(FlForeign *f) {
  for (int i = 2; i + 1 < f->tokens.n; i++) {
    int close = IS(f, i - 1, ".") && word(f, i) && IS(f, i + 1, "(") ? pair(f, i + 1) : -1, from = i - 2;
    if (close < 0) continue;
    FlForeignArgs args = {0};
    fl_foreign_split(f, i + 2, close - 1, &args);
    const char *kind = kind_of(f, i), *table = NULL, *said = named(&args, "kind", -1);
    bool accessor = IS(f, i - 2, "plot") && IS(f, i - 3, "."), plot = IS(f, i, "plot");
    if (ANY(f, i - 2, "sns px")) {
      table = named(&args, "data", 0);
    } else if (plot || accessor) {
      from = fl_foreign_operand(f, i - 2);
      table = TEXT(f, from, accessor ? i - 4 : i - 2);
      FlForeign p = part(f, plot && said ? said : "");
      const char *plain = fl_foreign_plain(&p, 0);
      FlForeign q = part(f, plain ? plain : "");
      if (plot && said) kind = kind_of(&q, 0);
      if (ANY(f, from, "plt ax")) continue;
    }
    const char *by = kind && table ? of_columns(f, kind, table, &args) : NULL;
    if (by) return PUT(f, from, close, SAY(f, "%s)", by));
  }
  return false;
}

/* `ggplot(t, aes(x = a, y = b)) + geom_point()` */
static bool grammar(FlForeign *f) {
  for (int i = 2; i + 2 < f->tokens.n; i++) /* `t |> ggplot(aes(..))` */
    if (IS(f, i, "ggplot") && ANY(f, i - 1, "|> %>%") && IS(f, i + 1, "("))
      return PUT(f, 0, i + 1, SAY(f, "ggplot(%s, ", TEXT(f, 0, i - 2)));
  int close = IS(f, 0, "ggplot") && IS(f, 1, "(") ? pair(f, 1) : -1;
  if (close < 0 || !IS(f, close + 1, "+") || pair(f, close + 3) < 0) return false;
  int comma = fl_foreign_end(f, 2) + 1, aes = comma + 1, end = pair(f, close + 3);
  const char *kind = kind_of(f, close + 2);
  if (!kind || !IS(f, aes, "aes") || pair(f, aes + 1) != close - 1) return false;
  FlForeignArgs args = {0};
  fl_foreign_split(f, aes + 2, close - 2, &args);
  for (int k = 0; k < args.n; k++) { /* `aes(a, b)`; a colour is a column here */
    if (!args.at[k].name) args.at[k].name = k == 0 ? "x" : "y";
    bool color = strcmp(args.at[k].name, "color") == 0 || strcmp(args.at[k].name, "fill") == 0;
    if (color) args.at[k].name = "hue";
  }
  const char *by = of_columns(f, kind, TEXT(f, 2, comma - 1), &args);
  return by && end == f->tokens.n - 1 && PUT(f, 0, end, SAY(f, "%s)", by));
}

/* What is not used is shown. */
static bool shown(FlForeign *f) {
  return IS(f, 0, "plt") && IS(f, 2, "show") && f->tokens.n == 5 && PUT(f, 0, 4, "");
}

bool fl_foreign_plots(FlForeign *f) { return grammar(f) || of_table(f) || shown(f); }

/* ---- a picture of several statements ---- */

typedef struct Picture {
  const char *layers, *labels, *end; /* end: the verb that shows or writes it; NULL: not yet */
  int n;
} Picture;

/* One statement `plt.f(..)`: its call; false: it is not known. */
static bool drawn(FlForeign *f, int name, Picture *out) {
  int close = IS(f, name + 1, "(") ? pair(f, name + 1) : -1;
  if (close < 0) return false;
  FlForeignArgs args = {0};
  fl_foreign_split(f, name + 2, close - 1, &args);
  const char *kind = ANY(f, name, "scatter plot bar hist") ? kind_of(f, name) : NULL;
  const char *layer = kind ? of_arrays(f, kind, &args) : NULL;
  const char *label = ANY(f, name, "title suptitle set_title") ? "title"
                      : ANY(f, name, "xlabel set_xlabel")      ? "x_label"
                      : ANY(f, name, "ylabel set_ylabel")      ? "y_label"
                                                               : NULL;
  if (layer) {
    out->layers = SAY(f, "%s%s%s", out->layers, out->n++ ? "), " : "", layer);
  } else if (label && args.n) {
    out->labels = SAY(f, "%s, %s = %s", out->labels, label, args.at[0].text);
  } else if (IS(f, name, "show")) {
    out->end = "show";
  } else if (IS(f, name, "savefig") && args.n && strstr(args.at[0].text, ".svg")) {
    out->end = SAY(f, "write_plot(%s)", args.at[0].text);
  } else {
    return ANY(f, name, "figure subplots grid tight_layout legend");
  }
  return true;
}

bool fl_foreign_picture(FlForeign *f, int first, FlForeignSpan *out) {
  Picture p = {.layers = "", .labels = ""};
  int at = first, last = first;
  while (at < f->tokens.n && !p.end) {
    int name = at;
    if (IS(f, at, "fig") && IS(f, at + 1, ",") && IS(f, at + 3, "=")) name = at + 4;
    if (!ANY(f, name, "plt ax") || !IS(f, name + 1, ".")) break;
    last = fl_foreign_end(f, at);
    while (IS(f, last + 1, ",")) last = fl_foreign_end(f, last + 2);
    if (!drawn(f, name + 2, &p)) return false;
    for (at = last + 1; fl_foreign_kind(f, at, FL_FOREIGN_LINE); at++) continue;
  }
  if (!p.n) return false;
  const char *end = p.end ? p.end : "show";
  const char *text = p.n == 1 ? SAY(f, "%s%s) |> %s", p.layers, p.labels, end)
                              : SAY(f, "plot.layers(%s)%s) |> %s", p.layers, p.labels, end);
  FlForeign q = part(f, text);
  out->now = fl_foreign_by_rules(&q);
  if (!out->now) return false;
  out->judged = (uint32_t)strlen(out->now);
  out->last = last;
  return true;
}
