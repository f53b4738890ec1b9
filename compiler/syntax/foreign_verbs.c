/* foreign_verbs.c: chains and calls of other languages that no row of foreign_calls.def can say: windows,
 * choices, steps of pipes, names of packages.
 *
 * In: a statement. Out: one change, by the first rule that finds its form. */
#include "syntax/foreign_words.h"
#include "syntax/foreign_args.h"

#include <stdlib.h>

/* `pl.col("x")`, `col("x")`, `pl.mean("x")`, `pl.lit(1)`; `np.sqrt(x)`, `math.pi` */
static bool of_package(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    bool package = ANY(f, i, FL_FOREIGN_PACKAGES) && IS(f, i + 1, ".") && word(f, i + 2) &&
                   !(i && IS(f, i - 1, ".")) && !fl_foreign_declared(f, TEXT(f, i, i), "let var param for");
    int name = package ? i + 2 : i, open = name + 1;
    bool bare = ANY(f, i - 1, "( , [") && ANY(f, name + 3, ", ) ]"); /* Polars calls the column so */
    if (package && bare && IS(f, i, "pl") && ANY(f, name, "len count") && pair(f, open) == open + 1)
      return PUT(f, i, open + 1, SAY(f, "%s = count()", TEXT(f, name, name)));
    if (package && ANY(f, name, "linalg special") && IS(f, name + 1, ".")) return PUT(f, i, name + 1, "");
    int close = IS(f, open, "(") ? pair(f, open) : -1;
    bool column = ANY(f, name, "col lit") && close == open + 2 && !(i && IS(f, i - 1, "."));
    const char *plain =
        column ? IS(f, name, "lit") ? TEXT(f, open + 1, open + 1) : fl_foreign_plain(f, open + 1) : NULL;
    if (column && !plain && word(f, open + 1)) plain = TEXT(f, open + 1, open + 1);
    if (plain) return PUT(f, i, close, plain);
    if (!package) continue;
    const char *aggregate =
        ANY(f, i, "pl F") && close == open + 2 ? fl_foreign_aggregate(TEXT(f, name, name)) : NULL;
    if (aggregate && fl_foreign_plain(f, open + 1))
      return PUT(f, i, close, SAY(f, "%s(%s)", aggregate, fl_foreign_plain(f, open + 1)));
    if (ANY(f, name,
            "sqrt exp log log2 log10 sin cos tan abs floor ceil mean median sum max min cumsum argmax "
            "argmin "
            "argsort inv det solve norm svd eigh qr pinv eye pi any all tanh sinh cosh log1p expm1 "
            "hypot nan inf sort isfinite"))
      return PUT(f, i, i + 1, "");
  }
  return false;
}

/* A condition that null does not meet. */
const char *fl_foreign_asked(FlForeign *f, int from, int to) {
  return SAY(f, f->ways & FL_FOREIGN_NULLS ? "(%s) ?? false" : "%s", TEXT(f, from, to));
}

/* `pl.when(c).then(a).otherwise(b)`; `case_when(c ~ a, TRUE ~ b)` */
static bool choice(FlForeign *f) {
  for (int i = 0; i < f->tokens.n; i++) {
    int close = ANY(f, i, "when case_when") && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    if (close < 0) continue;
    const char *by = "";
    if (IS(f, i, "case_when")) {
      for (int at = i + 2; by && at < close;) {
        int end = fl_foreign_end(f, at), sign = at;
        while (sign < end && !IS(f, sign, "~")) sign = pair(f, sign) > sign ? pair(f, sign) + 1 : sign + 1;
        bool other = ANY(f, at, "TRUE true T .default default");
        if (IS(f, at, ".") && IS(f, at + 1, "default")) other = true, sign = at + 2;
        if (sign >= end) return false;
        by = other ? SAY(f, "%s{ %s }", by, TEXT(f, sign + 1, end))
                   : SAY(f, "%sif %s { %s } else ", by, fl_foreign_asked(f, at, sign - 1),
                         TEXT(f, sign + 1, end));
        at = end + 2;
      }
      if (by[strlen(by) - 1] != '}') by = SAY(f, "%s{ null }", by);
      return PUT(f, i, close, by);
    }
    int at = i, first = i > 1 && IS(f, i - 1, ".") ? i - 2 : i, last = -1;
    while (IS(f, at, "when")) {
      int c = pair(f, at + 1), then = c + 2,
          a = IS(f, c + 1, ".") && IS(f, then, "then") ? pair(f, then + 1) : -1;
      if (a < 0 || !IS(f, a + 1, ".")) return false;
      by = SAY(f, "%sif %s { %s } else ", by, fl_foreign_asked(f, at + 2, c - 1), TEXT(f, then + 2, a - 1));
      at = a + 2;
    }
    if (!IS(f, at, "otherwise")) return false;
    last = pair(f, at + 1);
    return last > 0 && PUT(f, first, last, SAY(f, "%s{ %s }", by, TEXT(f, at + 2, last - 1)));
  }
  return false;
}

/* `np.select([c, d], [a, b], default=e)` */
static bool selected(FlForeign *f) {
  for (int i = 0; i + 3 < f->tokens.n; i++) {
    int close = IS(f, i, "np") && IS(f, i + 2, "select") && IS(f, i + 3, "(") ? pair(f, i + 3) : -1;
    FlForeignArgs args = {0}, of[2] = {{0}, {0}};
    if (close < 0) continue;
    fl_foreign_split(f, i + 4, close - 1, &args);
    for (int k = 0; k < 2 && k < args.n; k++) {
      const char *bound = fl_foreign_bound(f, args.at[k].text), *list = bound ? bound : args.at[k].text;
      FlForeign p = part(f, list);
      if (IS(&p, 0, "[") && pair(&p, 0) == p.tokens.n - 1) fl_foreign_split(&p, 1, p.tokens.n - 2, &of[k]);
    }
    if (args.n > 3 || !of[0].n || of[0].n != of[1].n) continue;
    const char *by = "";
    for (int k = 0; k < of[0].n; k++) {
      FlForeign c = part(f, of[0].at[k].text);
      by = SAY(f, "%sif %s { %s } else ", by, fl_foreign_asked(&c, 0, c.tokens.n - 1), of[1].at[k].text);
    }
    return PUT(f, i, close, SAY(f, "%s{ %s }", by, args.n == 3 ? args.at[2].text : "0"));
  }
  return false;
}

/* `derive(t, avg = mean(x).over("k"))`: the verb has the groups. */
static bool over(FlForeign *f) {
  for (int i = 2; i + 1 < f->tokens.n; i++) {
    int close = IS(f, i, "over") && IS(f, i - 1, ".") && IS(f, i + 1, "(") ? pair(f, i + 1) : -1, open = i;
    if (close < 0) continue;
    while (open >= 0 && !(IS(f, open, "(") && pair(f, open) > close &&
                          ANY(f, open - 1, "derive with_columns select mutate")))
      open--;
    const char *keys = open > 0 ? fl_foreign_argument(f, TEXT(f, i + 2, close - 1), 'k') : NULL;
    int last = keys ? pair(f, open) : -1;
    if (last < 0) continue;
    PUT(f, last, last, SAY(f, ", by = %s)", keys));
    return PUT(f, i - 1, close, "");
  }
  return false;
}

/* `x.filter(c).sum()` of columns: what meets a condition alone */
static bool filtered(FlForeign *f) {
  for (int i = 2; i + 4 < f->tokens.n; i++) {
    int close =
        IS(f, i, "filter") && IS(f, i - 1, ".") && word(f, i - 2) && !IS(f, i - 3, ".") ? pair(f, i + 1) : -1;
    bool verb = false;
    for (int k = 0; k < i; k++)
      verb = verb || (ANY(f, k, "agg select summarize") && IS(f, k + 1, "(") && pair(f, k + 1) > i);
    const char *by = verb && close > 0 && IS(f, close + 1, ".") && pair(f, close + 3) == close + 4
                         ? fl_foreign_aggregate(TEXT(f, close + 2, close + 2))
                         : NULL;
    if (!by) continue;
    const char *c = TEXT(f, i + 2, close - 1);
    return PUT(f, i - 2, close + 4,
               strcmp(by, "count") == 0 ? SAY(f, "count((%s) and not is_null(%s))", c, TEXT(f, i - 2, i - 2))
                                        : SAY(f, "%s(%s, where = %s)", by, TEXT(f, i - 2, i - 2), c));
  }
  return false;
}

/* `x.rolling(2).mean()` */
static bool rolled(FlForeign *f) {
  for (int i = 2; i + 4 < f->tokens.n; i++) {
    int close = ANY(f, i, "rolling rolling_mean rolling_sum") && IS(f, i - 1, ".") && IS(f, i + 1, "(")
                    ? pair(f, i + 1)
                    : -1,
        end = -1;
    if (close < 0) continue;
    const char *of = NULL, *size = NULL, *least = "";
    FlForeignArgs args = {0};
    fl_foreign_split(f, i + 2, close - 1, &args);
    for (int k = 0; k < args.n; k++) {
      const FlForeignArg *a = &args.at[k];
      bool first =
          k == 0 && (!a->name || strcmp(a->name, "window") == 0 || strcmp(a->name, "window_size") == 0);
      if (first) size = a->text;
      else if (a->name && (strcmp(a->name, "min_periods") == 0 || strcmp(a->name, "min_samples") == 0))
        least = SAY(f, ", min_periods = %s", a->text);
      else size = NULL, k = args.n;
    }
    if (!IS(f, i, "rolling")) of = TEXT(f, i, i) + strlen("rolling_"), end = close;
    else if (IS(f, close + 1, ".") && IS(f, close + 3, "(") && pair(f, close + 3) == close + 4)
      of = fl_foreign_aggregate(TEXT(f, close + 2, close + 2)), end = close + 4;
    int from = fl_foreign_operand(f, i - 2);
    if (of && size)
      return PUT(f, from, end, SAY(f, "rolling(%s, %s, %s%s)", TEXT(f, from, i - 2), size, of, least));
  }
  return false;
}

/* `summarize(mean(x), count())`: named as what they are of. */
static bool unnamed(FlForeign *f) {
  for (int i = 0; i + 2 < f->tokens.n; i++) {
    int close = ANY(f, i, "summarize summarise agg") && IS(f, i + 1, "(") && !(i && IS(f, i - 1, "."))
                    ? pair(f, i + 1)
                    : -1;
    if (close < i + 3) continue;
    bool piped = i > 0 && ANY(f, i - 1, "|> %>%");
    int from = piped ? i + 2 : fl_foreign_end(f, i + 2) + 2;
    const char *what = from < close ? fl_foreign_aggregates(f, NULL, from, close - 1) : NULL;
    if (what && !fl_foreign_same(what, TEXT(f, from, close - 1))) return PUT(f, from, close - 1, what);
  }
  return false;
}

/* `join(other, on = a.k == b.l)`: names of columns alone */
static bool keys_of_join(FlForeign *f) {
  for (int i = 0; i + 4 < f->tokens.n; i++) {
    if (!IS(f, i, "on") || !IS(f, i + 1, "=")) continue;
    int sign = i + 2, end = fl_foreign_end(f, i + 2);
    while (sign < end && !ANY(f, sign, "== =")) sign++;
    if (sign >= end || !word(f, sign - 1) || !word(f, end) || end > sign + 3 || sign > i + 5) continue;
    const char *left = TEXT(f, sign - 1, sign - 1), *right = TEXT(f, end, end);
    return PUT(f, i + 2, end, strcmp(left, right) == 0 ? left : SAY(f, "(%s = %s)", left, right));
  }
  return false;
}

/* `t |> pull(x)`: the column */
static bool pulled(FlForeign *f) {
  for (int i = 1; i + 3 < f->tokens.n; i++) {
    if (!ANY(f, i, "pull get_column") || !IS(f, i - 1, "|>") || !IS(f, i + 1, "(") || pair(f, i + 1) != i + 3)
      continue;
    const char *name = fl_foreign_argument(f, TEXT(f, i + 2, i + 2), 'c');
    int from = fl_foreign_operand(f, i - 2);
    bool one = !IS(f, from - 1, "|>"), groups = false;
    while (from > 1 && IS(f, from - 1, "|>")) from = fl_foreign_operand(f, from - 2);
    for (int k = from; k < i; k++)
      groups = ANY(f, k, "group_by groupby") || (groups && !ANY(f, k, "summarize summarise ungroup pivot"));
    const char *form = one ? "%s.%s" : groups ? "(%s |> ungroup).%s" : "(%s).%s";
    if (name) return PUT(f, from, i + 3, SAY(f, form, TEXT(f, from, i - 2), name));
  }
  return false;
}

/* `tapply(t.x, t.g, mean)`: both of one table */
static bool by_group(FlForeign *f) {
  for (int i = 0; i + 11 < f->tokens.n; i++) {
    if (!IS(f, i, "tapply") || !IS(f, i + 1, "(") || !IS(f, i + 3, ".") || !IS(f, i + 5, ",") ||
        !IS(f, i + 7, "."))
      continue;
    const char *table = TEXT(f, i + 2, i + 2), *x = TEXT(f, i + 4, i + 4), *g = TEXT(f, i + 8, i + 8),
               *by = fl_foreign_aggregate(TEXT(f, i + 10, i + 10));
    if (!IS(f, i + 6, table) || pair(f, i + 1) != i + 11 || !by) continue;
    return PUT(f, i, i + 11, SAY(f, "summarize(group_by(%s, %s), %s = %s(%s))", table, g, x, by, x));
  }
  return false;
}

/* `aggregate(x ~ g, data = t, FUN = mean)` */
static bool formula(FlForeign *f) {
  for (int i = 0; i + 6 < f->tokens.n; i++) {
    int close = IS(f, i, "aggregate") && IS(f, i + 1, "(") && IS(f, i + 3, "~") && IS(f, i + 5, ",")
                    ? pair(f, i + 1)
                    : -1;
    if (close < 0) continue;
    int table = IS(f, i + 7, "=") ? i + 8 : i + 6, of = IS(f, table + 3, "=") ? table + 4 : table + 2;
    const char *by = of == close - 1 ? fl_foreign_aggregate(TEXT(f, of, of)) : NULL,
               *x = TEXT(f, i + 2, i + 2);
    if (by)
      return PUT(f, i, close,
                 SAY(f, "summarize(group_by(%s, %s), %s = %s(%s))", TEXT(f, table, table),
                     TEXT(f, i + 4, i + 4), x, by, x));
  }
  return false;
}

/* `select(starts_with("a"))`, `across(where(is.numeric), ..)` */
static bool set_of_columns(FlForeign *f) {
  for (int i = 1; i + 3 < f->tokens.n; i++) {
    int close = IS(f, i + 1, "(") ? pair(f, i + 1) : -1, open = i - 1;
    if (IS(f, i, "where") && IS(f, i + 2, "is") && IS(f, i + 4, "numeric") && close == i + 5)
      return PUT(f, i, close, "numeric()");
    if (close != i + 3 || !ANY(f, i, "starts_with ends_with contains matches") || !fl_foreign_plain(f, i + 2))
      continue;
    while (open > 0 && !(IS(f, open, "(") && pair(f, open) > close)) open--;
    if (open < 1 || !ANY(f, open - 1, "select drop across each") || IS(f, i, "matches")) continue;
    const char *form = IS(f, i, "contains")    ? "cols(\"*%s*\")"
                       : IS(f, i, "ends_with") ? "cols(\"*%s\")"
                                               : "cols(\"%s*\")";
    return PUT(f, i, close, SAY(f, form, fl_foreign_plain(f, i + 2)));
  }
  return false;
}

/* `select(distinct x, y)` */
static bool different(FlForeign *f) {
  for (int i = 1; i + 2 < f->tokens.n; i++) {
    int close =
        IS(f, i, "select") && IS(f, i - 1, "|>") && IS(f, i + 1, "(") && ANY(f, i + 2, "distinct DISTINCT")
            ? pair(f, i + 1)
            : -1;
    if (close > i + 3 && !IS(f, i + 3, "("))
      return PUT(f, i, close, SAY(f, "select(%s) |> distinct()", TEXT(f, i + 3, close - 1)));
  }
  return false;
}

/* `select(-x)`, `select(-c(x, y))`: all but these */
static bool left_out(FlForeign *f) {
  for (int i = 0; i + 3 < f->tokens.n; i++) {
    int close = IS(f, i, "select") && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    if (close < 0 || i == 0 || !ANY(f, i - 1, "|> %>%")) continue;
    const char *out = "";
    for (int at = i + 2; out && at < close;) {
      int end = fl_foreign_end(f, at);
      const char *one = ANY(f, at, "- !") ? fl_foreign_argument(f, TEXT(f, at + 1, end), 'c') : NULL;
      out = one ? SAY(f, "%s%s%s", out, *out ? ", " : "", one) : NULL;
      at = end + 2;
    }
    if (out && *out) return PUT(f, i, close, SAY(f, "drop(%s)", out));
  }
  return false;
}

/* `group_by(k) |> select(k, n = count())`: aggregates with their keys, which `summarize` has anyway */
static bool selected_of_groups(FlForeign *f) {
  int open = -1, close = -1;
  for (int i = 0; i + 2 < f->tokens.n; i++) {
    if (ANY(f, i, "group_by groupby") && IS(f, i + 1, "(")) open = i + 1, close = pair(f, open);
    bool piped = close > 0 && i > close && IS(f, i, "select") && IS(f, i - 1, "|>");
    int end = piped && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    FlForeignArgs args = {0};
    const char *out = "";
    if (end > 0) fl_foreign_split(f, i + 2, end - 1, &args);
    for (int k = 0; k < args.n && out; k++) {
      FlForeign p = part(f, args.at[k].text);
      bool key = false, total = word(&p, 0) && IS(&p, 1, "(") && fl_foreign_aggregate(TEXT(&p, 0, 0));
      for (int t = open + 1; t < close; t++) key = key || IS(f, t, args.at[k].text);
      if (!key && !total) out = NULL;
      else if (!key)
        out = SAY(f, "%s%s%s%s%s", out, *out ? ", " : "", args.at[k].name ? args.at[k].name : "",
                  args.at[k].name ? " = " : "", p.text);
    }
    if (end > 0 && out && *out) return PUT(f, i, end, SAY(f, "summarize(%s)", out));
  }
  return false;
}

/* `for i, row in t.iterrows()`: where the number is read, rows are by it. */
static bool numbered_rows(FlForeign *f) {
  for (int i = 0; i + 6 < f->tokens.n; i++) {
    if (!IS(f, i, "for") || !IS(f, i + 2, ",") || !IS(f, i + 4, "in")) continue;
    int end = i + 5, at = i + 1;
    while (end < f->tokens.n && !ANY(f, end, "{ :") && !IS(f, end, "iterrows")) end++;
    int brace = IS(f, end, "iterrows") && IS(f, end - 1, ".") ? end + 3 : -1, close = pair(f, brace);
    if (brace < 0) continue;
    const char *number = TEXT(f, at, at), *row = TEXT(f, i + 3, i + 3), *table = TEXT(f, i + 5, end - 2);
    if (close < brace ||
        strcmp(fl_foreign_with(f, TEXT(f, brace, close), number, "_"), TEXT(f, brace, close)) == 0)
      return PUT(f, at, i + 3, row);
    if (!word(f, i + 5) || end != i + 7) continue;
    const char *body = fl_foreign_with(f, TEXT(f, brace, close), row, SAY(f, "%s[%s]", table, number));
    return PUT(f, i, close, SAY(f, "for %s in 0..len(%s) %s", number, table, body));
  }
  return false;
}

/* `t |> group_by(k).agg(..)`, `t |> .sort(x)`: a pipe goes on as one, without steps that change nothing. */
static bool pipe_goes_on(FlForeign *f) {
  for (int i = 1; i + 2 < f->tokens.n; i++) {
    bool nothing = ANY(f, i, "reset_index collect lazy to_frame to_pandas as_tibble") &&
                   pair(f, i + 1) == i + 2 && ANY(f, i - 1, "|> %>%");
    if (nothing) return PUT(f, i - 1, i + 2, "");
    if (ANY(f, i - 1, "|> %>%") && IS(f, i, ".") && word(f, i + 1)) return PUT(f, i, i, "");
    int close = ANY(f, i - 1, "|> %>%") && word(f, i) && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    bool called = close > 0 && IS(f, close + 1, ".") && word(f, close + 2) && IS(f, close + 3, "(");
    if (called) return PUT(f, close + 1, close + 1, " |> ");
  }
  return false;
}

/* `t |> group_by(k) |> sum(x)`: an aggregate of groups is a verb's. */
static bool piped_aggregate(FlForeign *f) {
  for (int i = 3; i + 2 < f->tokens.n; i++) {
    int open = IS(f, i, "|>") && IS(f, i - 1, ")") ? pair(f, i - 1) : -1,
        close = IS(f, i + 2, "(") ? pair(f, i + 2) : -1;
    bool groups = open > 0 && ANY(f, open - 1, "group_by groupby");
    const char *by =
        groups && close > 0 && word(f, i + 1) ? fl_foreign_aggregate(TEXT(f, i + 1, i + 1)) : NULL;
    if (!by || strcmp(by, "count") == 0) continue;
    const char *name = close == i + 4 ? fl_foreign_argument(f, TEXT(f, i + 3, i + 3), 'c') : NULL;
    if (name) return PUT(f, i + 1, close, SAY(f, "summarize(%s = %s(%s))", name, by, name));
    if (close == i + 3) return PUT(f, i + 1, close, SAY(f, "summarize(each(numeric(), %s))", by));
  }
  return false;
}

/* `drop(join(t, u, on = (a = b)), b)`: the right key is not there any more. */
static bool key_gone(FlForeign *f) {
  for (int i = 0; i + 8 < f->tokens.n; i++) {
    int close = IS(f, i, "drop") && IS(f, i + 1, "(") && IS(f, i + 2, "join") ? pair(f, i + 1) : -1;
    int end = close > 0 ? pair(f, i + 3) : -1;
    if (end < 0 || close != end + 3 || !IS(f, end + 1, ",")) continue;
    for (int k = i + 4; k < end; k++)
      if (IS(f, k, TEXT(f, end + 2, end + 2)) && IS(f, k - 1, "=") && IS(f, k - 3, "("))
        return PUT(f, i, close, TEXT(f, i + 2, end));
  }
  return false;
}

/* A condition of columns with nulls, which null does not meet */
static bool if_null(FlForeign *f) {
  for (int i = 0; i + 1 < f->tokens.n && f->changes && f->ways & FL_FOREIGN_NULLS; i++) {
    int end = i + 1;
    if (!IS(f, i, "if")) continue;
    while (end < f->tokens.n && !IS(f, end, "{") && !fl_foreign_kind(f, end, FL_FOREIGN_LINE)) end++;
    const char *c = TEXT(f, i + 1, end - 1);
    if (IS(f, end, "{") && strpbrk(c, "<>=") && !strstr(c, "!=") && !strstr(c, "not ") && !strstr(c, "??") &&
        !strstr(c, "is_null("))
      return PUT(f, i + 1, end - 1, SAY(f, "(%s) ?? false", c));
  }
  return false;
}

/* `d.isocalendar().week`, `.dt.isocalendar()[1]` */
static bool iso_week(FlForeign *f) {
  for (int i = 2; i + 4 < f->tokens.n; i++) {
    if (!IS(f, i, "isocalendar") || !IS(f, i + 1, "(") || pair(f, i + 1) != i + 2) continue;
    bool field = IS(f, i + 3, ".") && IS(f, i + 4, "week");
    if (!field && !(IS(f, i + 3, "[") && IS(f, i + 4, "1") && IS(f, i + 5, "]"))) continue;
    int from = fl_foreign_operand(f, i - 2), end = IS(f, i - 2, "dt") ? i - 4 : i - 2;
    return PUT(f, from, i + 4 + !field, SAY(f, "iso_week(%s)", TEXT(f, from, end)));
  }
  return false;
}

bool fl_foreign_before_calls(FlForeign *f) {
  static FlForeignRule *const rules[] = {fl_foreign_query,
                                         selected_of_groups,
                                         fl_foreign_groups_in_turn,
                                         fl_foreign_items,
                                         fl_foreign_resampled,
                                         fl_foreign_nulls,
                                         fl_foreign_plots,
                                         fl_foreign_parts,
                                         choice,
                                         selected,
                                         over,
                                         rolled,
                                         filtered,
                                         left_out,
                                         pulled,
                                         by_group,
                                         formula,
                                         set_of_columns,
                                         different,
                                         pipe_goes_on,
                                         piped_aggregate,
                                         iso_week,
                                         fl_foreign_fitted,
                                         numbered_rows,
                                         keys_of_join,
                                         fl_foreign_groups,
                                         of_package};
  for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
    if (rules[k](f)) return true;
  return false;
}

bool fl_foreign_behind_calls(FlForeign *f) {
  return unnamed(f) || key_gone(f) || fl_foreign_series_computed(f) || fl_foreign_of_model(f) || if_null(f);
}
