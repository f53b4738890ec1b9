/* foreign_calls.c: calls of other languages, by the table foreign_calls.def.
 *
 * In: a statement. Out: the first call that a row of the table fits, as that row writes it. What always
 * holds: a name that the file declares means what it declares, and what stands behind a module's name is left
 * alone. */
#include "syntax/foreign_words.h"
#include "syntax/foreign_args.h"

#include <stdlib.h>

typedef enum How { FUNCTION, OUTSIDE, METHOD, BOTH, VERB, FIELD } How;

typedef struct Row {
  How how;
  const char *names, *params, *flow;
} Row;

#define FL_CALL(how, names, params, flow) {how, names, params, flow},
static const Row rows[] = {
#include "syntax/foreign_calls.def"
};
#undef FL_CALL

/* A call as it stands. */
typedef struct Site {
  int first, last;           /* all of it */
  int name;                  /* the token of its name */
  int table_from, table_to;  /* what stands before the point; table_to < table_from: nothing */
  bool piped, field, inside; /* inside: of the brackets of a verb */
  const char *path;          /* `np.where`; of a method `str.upper` */
} Site;

static bool among(const char *name, const char *words) {
  size_t n = strlen(name);
  for (const char *w = words; (w = strstr(w, name)); w += n)
    if ((w == words || w[-1] == ' ') && (!w[n] || w[n] == ' ')) return true;
  return false;
}

static const char *const own_verbs =
    "where select drop rename derive group_by summarize sort head tail sample top distinct "
    "join concat drop_null fill_null describe count size";

bool fl_foreign_same(const char *a, const char *b) {
  for (;;) {
    a += strspn(a, " \n");
    b += strspn(b, " \n");
    if (*a != *b) return false;
    if (!*a) return true;
    a++, b++;
  }
}

/* ---- rows ---- */

static const FlForeignArg *argument(const FlForeignArgs *args, const char *name, size_t n) {
  for (int k = 0; k < args->n; k++)
    if (args->at[k].param && strlen(args->at[k].param) == n && strncmp(args->at[k].param, name, n) == 0)
      return &args->at[k];
  return NULL;
}

/* Writes a row's flow; NULL: an argument is not what it needs. */
static const char *written(FlForeign *f, const Row *row, const FlForeignArgs *args, const char *name) {
  const char *out = "";
  for (const char *c = row->flow; *c; c++) {
    if (*c == '@') {
      out = SAY(f, "%s%s", out, c[1] == '@' ? "@" : name);
      c += c[1] == '@';
      continue;
    }
    if (*c != '$' || c[1] == '"') { /* a pattern may end with it */
      out = SAY(f, "%s%c", out, *c);
      continue;
    }
    size_t n = c[1] == '*' ? 1 : strspn(c + 1, "abcdefghijklmnopqrstuvwxyz_");
    bool rest = c[1] == '*';
    char how = c[1 + n] == ':' && c[2 + n] && c[2 + n] != ' ' ? c[2 + n] : 0;
    const char *by = rest ? fl_foreign_rest(f, args, how) : NULL;
    const FlForeignArg *a = rest ? NULL : argument(args, c + 1, n);
    const FlForeignArg *up = argument(args, "ascending", 9), *down = argument(args, "descending", 10);
    if (how == '+') by = fl_foreign_folded(f, args);
    else if (how == 'o')
      by = a ? fl_foreign_directed(f, a->text,
                                   up     ? up->text
                                   : down ? down->text
                                          : "true",
                                   down && !up ? "true" : "false")
             : NULL;
    else if (how == 'B') {
      const FlForeignArg *bins = argument(args, "bins", 4), *labels = argument(args, "labels", 6);
      bool right = !argument(args, "right", 5);
      const char *x = a ? fl_foreign_argument(f, a->text, 'p') : NULL;
      by = x ? fl_foreign_binned(f, x, bins->text, labels->text, right) : NULL;
    } else if (how == 'Q') {
      const FlForeignArg *q = argument(args, "q", 1);
      by = a && q ? fl_foreign_each_quantile(f, a->text, q->text) : NULL;
    } else if (how == '=') by = a ? fl_foreign_keys(f, a->text, argument(args, "right_on", 8)->text) : NULL;
    else if (!rest) by = a ? fl_foreign_argument(f, a->text, how) : NULL;
    if (!by) return NULL;
    bool empty = !*by && (how == 0 || rest);
    size_t m = strlen(out);
    if (empty && m > 1 && strcmp(out + m - 2, ", ") == 0) out = fl_arena_strndup(f->arena, out, m - 2);
    out = SAY(f, "%s%s", out, by);
    c += n + (how ? 2 : 0);
  }
  return out;
}

/* Is it of this rank, or a list of such? `t`: a text. */
static bool of_rank(FlForeign *f, const char *text, char rank) {
  FlForeignArgs all = {0};
  const char *key, *value, *inner = fl_foreign_argument(f, text, 'L');
  if (rank == 'g') return fl_foreign_series(f, text, &key, &value);
  if (rank == 'n') return fl_foreign_is_numpy(f, text);
  if (rank == 'w') return !strstr(text, "!=") && !strstr(text, "not ");
  if (rank == 'o') return fl_foreign_argument(f, text, 'O') != NULL;
  if (rank == 'r') return fl_foreign_seed(f, text) != NULL;
  if (rank == 'c') return !strstr(f->file, ".sum()") && !strstr(f->file, ".mean()");
  if (rank == 'N') return fl_foreign_met(f, NULL, text) == FL_FOREIGN_UNMET;
  if (rank == 's') {
    const char *bound = fl_foreign_bound(f, text);
    return !bound || !(strstr(bound, "softmax(") || strstr(bound, "LogisticRegression("));
  }
  if (rank == 'F') {
    FlForeign field = part(f, text);
    int n = field.tokens.n;
    if (n < 3 || !word(&field, n - 1) || !IS(&field, n - 2, ".")) return false;
    return fl_foreign_holds(f, SAY(f, "let _of = describe(%s)", TEXT(&field, 0, n - 3)));
  }
  if (rank == 'G') return strncmp(text, "group_by(", strlen("group_by(")) == 0;

  FlForeign p = part(f, inner ? inner : text);
  fl_foreign_split(&p, 0, p.tokens.n - 1, &all);
  const char *one = all.n ? all.at[0].text : text, *form = rank == '2'   ? "let _of = len((%s)[:, 0])"
                                                           : rank == '1' ? "let _of = argsort(%s)"
                                                           : rank == 'b' ? "let _of = any(%s)"
                                                           : rank == 'T' ? "let _of = describe(%s)"
                                                                         : "let _of = n_chars(%s) + 0";
  return fl_foreign_holds(f, SAY(f, form, one));
}

/* One parameter of a row: its text between blanks. */
static bool given(FlForeign *f, const char *param, size_t n, FlForeignArgs *args, int *position) {
  size_t name = strcspn(param, " =-><?!.#"), first = strcspn(param, " |=-><?!.#");
  const char *rest = param + name;
  FlForeignArg *found = NULL;
  for (int k = 0; k < args->n && !found; k++) {
    FlForeignArg *a = &args->at[k];
    if (!a->name || a->param) continue;
    for (const char *alias = param; alias < param + name;) {
      size_t len = strcspn(alias, "| =-><?!.#");
      if (strlen(a->name) == len && strncmp(a->name, alias, len) == 0) found = a;
      alias += len + (alias[len] == '|');
    }
  }
  bool must = n > name + 1 && rest[0] == '=' && rest[1] == '=';
  bool anywhere = must && n > name + 2 && rest[2] == '='; /* by position, too */
  for (int k = *position; k < args->n && !found && (!must || anywhere) && *rest != '-' && *rest != '!'; k++)
    if (!args->at[k].name && !args->at[k].param) {
      found = &args->at[k];
      *position = k + 1;
    }
  const char *key = fl_arena_strndup(f->arena, param, first);
  if (found) found->param = key;
  if (must) {
    const char *value = fl_arena_strndup(f->arena, rest + 2 + anywhere, n - name - 2 - anywhere);
    return found && (strcmp(found->text, value) == 0 || fl_foreign_same_word(found->text, value));
  }
  if (found && *rest == '#') return of_rank(f, found->text, rest[1]);
  if (found && *rest == '.') return strchr(found->text, '.') != NULL;
  if (found) return *rest != '>' || fl_foreign_is_lambda(found->text);
  if (*rest == '-') return true;
  if (*rest != '=') return false;
  FlForeignArg made = {.text = fl_arena_strndup(f->arena, rest + 1, n - name - 1), .param = key};
  fl_vec_push(f->arena, args, made);
  return true;
}

static const char *fits(FlForeign *f, const Row *row, const FlForeignArgs *all, const char *name) {
  FlForeignArgs args = {0};
  for (int k = 0; k < all->n; k++) fl_vec_push(f->arena, &args, all->at[k]);
  int position = 0;
  bool rest = false;
  for (const char *p = row->params; *p; p += strspn(p, " ")) {
    size_t n = strcspn(p, " ");
    if (*p == '*') rest = true;
    else if (!given(f, p, n, &args, &position)) return NULL;
    p += n;
  }
  for (int k = 0; k < args.n && !rest; k++)
    if (!args.at[k].param) return NULL;
  return written(f, row, &args, name);
}

/* ---- sites ---- */

static bool site_at(FlForeign *f, int i, Site *s) {
  if (!word(f, i)) return false;
  int close = IS(f, i + 1, "(") && f->tokens.at[i + 1].glued ? pair(f, i + 1) : -1;
  bool behind = i > 1 && IS(f, i - 1, ".");
  if (close < 0 && !behind) return false;
  *s = (Site){.first = i, .last = close > 0 ? close : i, .name = i, .table_to = -1, .field = close < 0};
  s->first = fl_foreign_operand(f, i);
  for (int k = 1; k < i; k++)
    s->inside |= IS(f, k, "(") && pair(f, k) > i &&
                 ANY(f, k - 1, "derive where filter mutate select summarize with_columns assign sort");
  s->piped = s->first > 0 && ANY(f, s->first - 1, "|> %>%");
  s->path = TEXT(f, i, i);
  if (!behind && s->piped && f->ways & FL_FOREIGN_UNPIPED) { /* what stands before the pipe is its object */
    s->table_from = fl_foreign_begin(f, i - 2), s->table_to = i - 2;
    while (s->table_from > 0 && ANY(f, s->table_from - 1, "|> %>%"))
      s->table_from = fl_foreign_begin(f, s->table_from - 2);
    s->first = s->table_from, s->piped = false;
    return !fl_foreign_declared(f, s->path, "fn stage let var param for");
  }
  if (!behind) {
    s->first = i;
    return !fl_foreign_declared(f, s->path, "fn stage let var param for");
  }
  bool path = true;
  for (int k = s->first; k < i; k++) path = path && (word(f, k) || IS(f, k, "."));
  bool package = path && word(f, s->first) && fl_foreign_is_module(f, TEXT(f, s->first, s->first));
  bool dotted = path && ANY(f, s->first, "is which as na seq pd date write read data") && i == s->first + 2 &&
                !fl_foreign_declared(f, TEXT(f, s->first, s->first), "let var param for");
  if (package || dotted) {
    s->path = TEXT(f, s->first, i);
    return true;
  }
  bool accessor = i > 3 && ANY(f, i - 2, "str dt") && IS(f, i - 3, ".");
  if (accessor) s->path = TEXT(f, i - 2, i);
  s->table_from = s->first;
  s->table_to = accessor ? i - 4 : i - 2;
  s->piped = s->piped && s->table_to < s->table_from;
  return true;
}

/* Is a field without brackets one of another language: the message is about it, its name is none of flow, or
 * the compiler says that a table or an array has no such field? */
static bool field_of_others(FlForeign *f, const Site *s) {
  if (!f->word || IS(f, s->name, f->word) || strpbrk(s->path, "_.") || s->path[0] == 'T') return true;
  const char *of = TEXT(f, s->table_from, s->table_to);
  return fl_foreign_holds(f, SAY(f, "let _of = len(%s)", of)) &&
         !fl_foreign_holds(f, SAY(f, "let _of = (%s).%s", of, s->path));
}

/* `arange(5)`, imported from numpy, which flow has no function of: is it what a row is for? */
static bool bare(FlForeign *f, const Row *row, const Site *s) {
  bool asked = row->how == FUNCTION && f->word && IS(f, s->name, f->word) && s->table_to < s->table_from;
  for (size_t k = 0; asked && k < sizeof rows / sizeof *rows; k++) asked = !among(s->path, rows[k].names);
  return asked && !fl_foreign_aggregate(s->path) && among(SAY(f, "np.%s", s->path), row->names) &&
         !fl_foreign_holds(f, SAY(f, "let _of = %s", s->path));
}

static bool row_is_for(FlForeign *f, const Row *row, const Site *s) {
  bool method = s->table_to >= s->table_from;
  bool of_pandas = row->how == VERB && strncmp(s->path, "pd.", 3) == 0; /* `pd.melt(t)` is `t.melt()` */
  bool named = among(s->path, row->names) || (of_pandas && among(s->path + 3, row->names));
  if (!named && !bare(f, row, s)) return false;
  bool first = strcmp(s->path, "str.replace") == 0 &&
               fl_foreign_declared(f, ".", "pl"); /* of Polars: the first place alone */
  if (strcmp(s->path, "str.replace") == 0 && first != (strstr(row->flow, ":1") != NULL)) return false;
  if (among(s->path, "np.random.default_rng") && IS(f, s->last + 1, ".")) return false; /* its draw has it */
  if (s->field) return row->how == FIELD && method && field_of_others(f, s);
  switch (row->how) {
  case FUNCTION: return !method && !s->piped;
  case OUTSIDE: return !method && !s->piped && !s->inside;
  case METHOD: return method;
  case BOTH: return !s->piped;
  case VERB: return method || s->piped || !among(s->path, own_verbs);
  case FIELD: return false;
  }
  return false;
}

/* Rows are numbered from 1 where verbs are called so, and from 0 here. */
static const char *from_one(FlForeign *f, const char *flow) {
  static const char call[] = "row_number()";
  const char *at = strstr(flow, call);
  if (!at) return flow;
  const char *behind = at + strlen(call);
  return SAY(f, "%.*s(%s + 1)%s", (int)(at - flow), flow, call, from_one(f, behind));
}

/* The text that a row makes of a call; NULL: it does not fit. */
static const char *made_of(FlForeign *f, const Row *row, const Site *s) {
  FlForeignArgs args = {0};
  bool method = s->table_to >= s->table_from, verb = row->how == VERB;
  const char *table = method ? TEXT(f, s->table_from, s->table_to) : NULL;
  if (table && !verb) fl_vec_push(f->arena, &args, ((FlForeignArg){.text = table}));
  if (!s->field) fl_foreign_split(f, s->name + 2, s->last - 1, &args);
  if (verb && !method && !s->piped) { /* the table is the first argument */
    if (!args.n || args.at[0].name || fl_foreign_is_lambda(args.at[0].text)) return NULL;
    table = args.at[0].text;
    args.at++, args.n--;
  }
  const char *name = TEXT(f, s->name, s->name), *flow = fits(f, row, &args, name);
  if (flow && verb && !among(s->path, own_verbs) && !strstr(row->flow, "row_number"))
    flow = from_one(f, flow);
  if (flow && flow[0] == '.' && s->piped) return NULL;
  if (!flow || !verb || s->piped) return flow;
  if (flow[0] == '.') return SAY(f, "%s%s", table, flow);
  const char *open = strchr(flow, '(');
  if (!open) return NULL;
  return SAY(f, "%.*s(%s%s%s", (int)(open - flow), flow, table, open[1] == ')' ? "" : ", ", open + 1);
}

/* Is a call part of a whole, so that what it becomes stands in brackets where it is an operator's? */
static bool bound_within(const FlForeign *f, const Site *s, const char *made) {
  static const char *const tight = "+ - * / ^ ** % %% // @ == != < > <= >= ??", *const loose = "and or & &&";
  bool wide = strstr(made, " or ") || strncmp(made, "if ", 3) == 0 || strstr(made, " ?? ");
  if (ANY(f, s->last + 1, ". [") || ANY(f, s->last + 1, tight) || ANY(f, s->first - 1, "not")) return true;
  return ANY(f, s->first - 1, tight) || (wide && (ANY(f, s->first - 1, loose) || ANY(f, s->last + 1, loose)));
}

/* The first call from a token to another; what stands in its brackets comes before it. */
static bool between(FlForeign *f, int from, int to) {
  for (int i = from; i <= to; i++) {
    Site s;
    if (!site_at(f, i, &s)) continue;
    if (!s.field && between(f, s.name + 2, s.last - 1)) return true;
    const char *made = NULL;
    int fitting = 0;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
      if (!row_is_for(f, &rows[k], &s)) continue;
      const char *by = made_of(f, &rows[k], &s);
      if (!by || fl_foreign_same(by, TEXT(f, s.first, s.last))) continue;
      made = by;
      if (f->ways & FL_FOREIGN_SECOND && fitting++ == 0) continue;
      break;
    }
    bool part_of = made && bound_within(f, &s, made);
    if (made) return PUT(f, s.first, s.last, part_of ? fl_foreign_argument(f, made, 'p') : made);
    i = s.last; /* what stands in its brackets was looked at */
  }
  return false;
}

bool fl_foreign_calls(FlForeign *f) { return between(f, 0, f->tokens.n - 1); }
