/* foreign.c: statements as other languages write them, rewritten in flow.
 *
 * In: a source with errors. Out: the first error of a statement gets an edit of all that is written otherwise
 * in it. What always holds: an edit leads to a statement without errors; a statement in which no form of
 * another language stands is left alone. */
#include "syntax/foreign.h"
#include "syntax/foreign_words.h"

enum { LONGEST = 4000, MOST_CHANGES = 80, MOST_STATEMENTS = 20, MOST_EDITS = 5, WIDEST = 90 };

/* ---- statements ---- */

static size_t indent_of(const char *text, size_t at) {
  size_t begin = at;
  while (begin && text[begin - 1] != '\n') begin--;
  return strspn(text + begin, " \t");
}

/* Does what stands behind the end of a line go on with the statement? `block`: lines further right do. */
static bool goes_on(const FlForeign *f, int line, bool block, bool query) {
  static const char *const clauses =
      "from FROM where WHERE group GROUP order ORDER having HAVING limit LIMIT join JOIN left LEFT "
      "inner INNER on ON and AND or OR union UNION when WHEN else ELSE end END select SELECT";
  int next = line + 1;
  bool again = fl_foreign_is_any(f, next, "select SELECT"); /* behind `union`, or what `with` names */
  if (query && again && !fl_foreign_is_any(f, line - 1, "union UNION all ALL )")) return false;
  if (query && fl_foreign_is_any(f, next, clauses)) return true;
  int behind = next; /* of a block also behind blank lines and comments */
  while (block && !query && fl_foreign_kind(f, behind, FL_FOREIGN_LINE)) behind++;
  if (behind > next && behind < f->tokens.n && indent_of(f->text, f->tokens.at[behind].start) > 0)
    return true;
  if (next >= f->tokens.n || fl_foreign_kind(f, next, FL_FOREIGN_LINE)) return false;
  if (fl_foreign_is_any(f, next, "|> %>% . else elif end }")) return true;
  if (line > 0 && fl_foreign_is_any(f, line - 1, "|> %>% , + = and or => ->")) return true;
  return block && indent_of(f->text, f->tokens.at[next].start) > 0;
}

/* The tokens of the statement at a byte: first and last. */
static bool statement_at(const FlForeign *f, uint32_t byte, int *first, int *last) {
  for (int i = 0; i < f->tokens.n;) {
    if (fl_foreign_kind(f, i, FL_FOREIGN_LINE)) {
      i++;
      continue;
    }
    int j = i, from = i;
    bool block = fl_foreign_is_any(f, i, "def fn if for while function class struct else elif with");
    bool query = fl_foreign_is_any(f, i, "select SELECT with WITH") ||
                 (fl_foreign_is_any(f, i + 1, "= <-") && fl_foreign_is_any(f, i + 2, "select SELECT")) ||
                 fl_foreign_is_any(f, i + 3, "select SELECT");
    for (; j < f->tokens.n; j++) {
      if (f->tokens.at[j].match > j) j = f->tokens.at[j].match;
      if (fl_foreign_kind(f, j, FL_FOREIGN_LINE) && !goes_on(f, j, block || query, query)) break;
    }
    int end = j - 1;
    if (end >= from && byte < f->tokens.at[end].start + f->tokens.at[end].len + 1) {
      *first = from;
      *last = end;
      return byte >= f->tokens.at[from].start;
    }
    i = j + 1;
  }
  return false;
}

/* A statement with errors, and what it becomes. */
typedef struct Candidate {
  uint32_t start, len;   /* in the file */
  uint32_t judged;       /* so many bytes of `now` must be without errors; 0: all */
  const char *old, *now; /* now: `old` itself where nothing is proposed */
  int first;             /* token */
  bool silent;           /* it has no message of its own: others are judged beside what it becomes */
  FlDiag *d, *reported;  /* the first error in the text, and the first that was found */
} Candidate;

typedef struct Judge {
  FlForeignJudge *judge;
  void *of;
  const FlForeign *all;
  Candidate *at; /* in the order of the text */
  int n;
} Judge;

/* The first error in candidate k of the file in which all are what they become; whole: or behind it. from:
 * where it begins there. */
static const FlDiag *first_error(const Judge *j, int k, bool whole, uint32_t *from) {
  FlText1 text = {0};
  uint32_t at = 0;
  for (int i = 0; i < j->n; i++) {
    const Candidate *c = &j->at[i];
    fl_text_add(&text, j->all->text + at, c->start - at);
    if (i == k) *from = (uint32_t)text.len;
    fl_text_addz(&text, c->now);
    at = c->start + c->len;
  }
  fl_text_addz(&text, j->all->text + at);
  const char *file = fl_arena_strndup(j->all->arena, text.s, text.len);
  fl_text_reset(&text);
  uint32_t judged = j->at[k].judged ? j->at[k].judged : (uint32_t)strlen(j->at[k].now);
  return j->judge(j->of, file, *from, whole ? (uint32_t)strlen(file) : *from + judged);
}

/* Does an edit say how a variable begins, `var`, `0.0`, or that a module is imported? */
static bool begins_otherwise(const char *edit) {
  return strcmp(edit, "var") == 0 || strncmp(edit, "import ", strlen("import ")) == 0 ||
         (*edit && !edit[strspn(edit, "0123456789.")]);
}

/* What is left to mend in a candidate is mended as its messages say; false: that does not end. */
static bool mended(const Judge *j, int k) {
  Candidate *c = &j->at[k];
  for (int i = 0; i < MOST_EDITS; i++) {
    uint32_t from = 0;
    const FlDiag *d = first_error(j, k, false, &from);
    if (!d) return true;
    if (d->edit.text && d->edit.span.start < from && begins_otherwise(d->edit.text)) return true; /* next */
    uint32_t at = d->edit.span.start - from, len = d->edit.span.len;
    if (!d->edit.text || d->edit.span.start < from || at + len > strlen(c->now)) return false;
    c->now = fl_arena_printf(j->all->arena, "%.*s%s%s", (int)at, c->now, d->edit.text, c->now + at + len);
    if (c->judged) c->judged += (uint32_t)strlen(d->edit.text) - len;
  }
  return false;
}

/* `var total = 0` of what floats are added to: `0.0` */
static void of_floats(const Judge *j, int k) {
  Candidate *c = &j->at[k];
  const char *now = c->now, *number = strrchr(now, ' ');
  uint32_t from;
  bool whole = !strncmp(now, "var ", 4) && number && number[1] &&
               strspn(number + 1, "0123456789") == strlen(number + 1);
  if (!whole || !first_error(j, k, true, &from)) return;
  c->now = fl_arena_printf(j->all->arena, "%s.0", now);
  if (first_error(j, k, true, &from)) c->now = now;
}

/* What is left of both texts where they begin and end alike, from whole words on: its bytes. */
static void different(const char *a, const char *b, size_t *before, size_t *behind) {
  size_t n = strlen(a), m = strlen(b), k = 0, e = 0;
  while (k < n && k < m && a[k] == b[k]) k++;
  while (k && ((k < n && in_word(a[k])) || (k < m && in_word(b[k]))) && in_word(a[k - 1])) k--;
  while (e < n - k && e < m - k && a[n - 1 - e] == b[m - 1 - e]) e++;
  while (e && in_word(a[n - e]) &&
         ((n - e > k && in_word(a[n - e - 1])) || (m - e > k && in_word(b[m - e - 1]))))
    e--;
  *before = k;
  *behind = e;
}

/* Of what is offered, what a reader is shown: all of it where it is one short line; else the line that is
 * another, whole; else, where several are, or it is too long, what is written in place of something. */
static const char *shown_of(FlSink *sink, const char *now, size_t before, size_t behind, const char *edit) {
  const char *first = now + before, *last = now + strlen(now) - behind;
  if (!strchr(now, '\n')) return strlen(now) > WIDEST ? edit : now;
  while (first > now && first[-1] != '\n') first--;
  first += strspn(first, " ");
  last += strcspn(last, "\n");
  size_t n = last > first ? (size_t)(last - first) : 0;
  if (!n || n > WIDEST || memchr(first, '\n', n)) return edit;
  return fl_arena_strndup(sink->arena, first, n);
}

static void offer(FlSink *sink, FlDiag *d, uint32_t start, const char *old, const char *now) {
  size_t before, behind;
  different(old, now, &before, &behind);
  size_t n = strlen(now) - before - behind;
  d->edit.span = (FlSpan){.file = d->span.file,
                          .start = start + (uint32_t)before,
                          .len = (uint32_t)(strlen(old) - before - behind)};
  d->edit.text = fl_arena_strndup(sink->arena, now + before, n);
  const char *shown = shown_of(sink, now, before, behind, d->edit.text);
  if (!*d->edit.text || strchr(shown, '\n') || strlen(shown) > WIDEST) return;
  d->help = NULL;
  fl_diag_help(sink, d, "in flow: `%s`", shown);
}

const char *fl_foreign_by_rules(FlForeign *f) {
  static FlForeignRule *const rules[] = {fl_foreign_blocks,       fl_foreign_texts,        fl_foreign_forms,
                                         fl_foreign_scored,       fl_foreign_before_calls, fl_foreign_calls,
                                         fl_foreign_behind_calls, fl_foreign_learning};
  for (size_t k = 0;
       k < sizeof rules / sizeof *rules && f->changes < MOST_CHANGES && strlen(f->text) <= LONGEST;)
    if (rules[k](f)) {
      f->changes++;
      k = 0;
    } else {
      k++;
    }
  return f->changes < MOST_CHANGES && strlen(f->text) <= LONGEST ? f->text : NULL;
}

bool fl_foreign_holds(FlForeign *f, const char *statement) {
  uint32_t from = (uint32_t)strlen(f->file) + 1;
  if (!f->judge) return false;
  const char *nothing = fl_arena_printf(f->arena, "%s\nlet _no = no_such_name_\n", f->file);
  if (!f->judge(f->of, nothing, from, (uint32_t)strlen(nothing)))
    return false; /* the file is not read so far */
  const char *text = fl_arena_printf(f->arena, "%s\n%s\n", f->file, statement);
  return !f->judge(f->of, text, from, (uint32_t)strlen(text));
}

/* What a statement becomes by the rules; itself, where none fits. */
static const char *rewritten(const Judge *j, const FlDiag *d, int first, int last, int ways) {
  FlForeign *all = (FlForeign *)(uintptr_t)j->all;
  const char *old = fl_foreign_text(all, first, last);
  int behind = fl_foreign_is(all, first + 1, "[") ? all->tokens.at[first + 1].match + 1 : first + 3;
  bool column = !fl_foreign_is_any(all, first, "let var const") &&
                fl_foreign_is_any(all, first + 1, "[ . $") && fl_foreign_is_any(all, behind, "= <-");
  if (column || fl_foreign_in_place(all, first, last) || strlen(old) > LONGEST)
    return old; /* what changes a table makes a new one (foreign_spans.c) */
  FlForeign f = {.arena = all->arena,
                 .text = old,
                 .file = all->text,
                 .all = &all->tokens,
                 .start = all->tokens.at[first].start,
                 .ways = ways,
                 .judge = j->judge,
                 .of = j->of,
                 .word = fl_arena_strndup(all->arena, all->text + d->span.start, d->span.len)};
  fl_foreign_tokens(f.arena, f.text, strlen(f.text), &f.tokens);
  const char *now = fl_foreign_by_rules(&f);
  return now ? now : old;
}

/* The candidate k as a span of several statements, if it is one that has no errors then. */
static bool spanned(const Judge *j, int k, int last, int ways, bool early, Candidate *out) {
  FlForeignSpan span = {0};
  FlForeign all = *j->all;
  all.ways = ways;
  if (!fl_foreign_span(&all, j->at[k].first, last, early, &span) || !span.now) return false;
  Candidate at[MOST_STATEMENTS];
  Judge alone = *j;
  const FlForeignToken *begin = &j->all->tokens.at[span.first], *end = &j->all->tokens.at[span.last];
  *out = j->at[k];
  out->start = begin->start, out->len = end->start + end->len - begin->start, out->first = span.first;
  out->old = fl_foreign_text(j->all, span.first, span.last);
  out->now = span.now, out->judged = span.judged;
  int n = 0;
  for (; n < k && j->at[n].start + j->at[n].len <= out->start; n++) at[n] = j->at[n];
  at[n] = *out;
  alone.at = at, alone.n = n + 1;
  if (strlen(out->old) > LONGEST || (!span.later && !mended(&alone, n))) return false;
  *out = at[n];
  return true;
}

/* Adds the statement at a message, or the message to it. */
static void add(FlForeign *all, Judge *j, FlDiag *d) {
  int first, last, k = 0;
  if (!statement_at(all, d->span.start, &first, &last)) return;
  while (k < j->n && j->at[k].first != first) k++;
  if (k < j->n) {
    if (d->span.start < j->at[k].d->span.start) j->at[k].d = d;
    return;
  }
  if (j->n == MOST_STATEMENTS) return;
  const char *old = fl_foreign_text(all, first, last);
  Candidate c = {all->tokens.at[first].start, (uint32_t)strlen(old), 0, old, old, first, false, d, d};
  for (k = j->n++; k > 0 && j->at[k - 1].start > c.start; k--) j->at[k] = j->at[k - 1];
  j->at[k] = c;
}

/* Where a statement cannot be read nobody says that others bind a name without `let`: `t <- read.csv(..)`. */
static void add_silent(FlForeign *all, Judge *j, uint32_t end) {
  for (int i = 0; i + 2 < all->tokens.n && all->tokens.at[i].start < end && j->n < MOST_STATEMENTS; i++) {
    int first, last, n = j->n, k = 0;
    bool begins = i == 0 || fl_foreign_kind(all, i - 1, FL_FOREIGN_LINE);
    if (!begins || !fl_foreign_kind(all, i, FL_FOREIGN_WORD) || !fl_foreign_is_any(all, i + 1, "= <-") ||
        fl_foreign_declared(all, fl_foreign_text(all, i, i), "let var param") ||
        !statement_at(all, all->tokens.at[i].start, &first, &last) || first != i)
      continue;
    while (k < j->n && j->at[k].first != first) k++;
    if (k < n) continue; /* it has a message */
    FlDiag *d = FL_NEW(all->arena, FlDiag);
    d->span.start = all->tokens.at[i].start, d->span.len = all->tokens.at[i].len;
    add(all, j, d);
    for (k = 0; k < j->n; k++)
      if (j->at[k].first == first) j->at[k].silent = true;
  }
}

static int last_token(const FlForeign *all, const Candidate *c) {
  int last = c->first;
  while (last + 1 < all->tokens.n && all->tokens.at[last + 1].start < c->start + c->len) last++;
  return last;
}

static const int ways[] = {0, FL_FOREIGN_TEXTS, FL_FOREIGN_UNPIPED, FL_FOREIGN_SECOND | FL_FOREIGN_NULLS,
                           FL_FOREIGN_NULLS};

/* The candidate k in the first way in which it has no errors; false: it has some in each, and is as it was.
 */
static bool written(Judge *j, int k) {
  Candidate *c = &j->at[k];
  const char *first = c->now;
  if (strcmp(first, c->old) != 0 && mended(j, k)) return true;
  if (strcmp(first, c->old) == 0 && c->d->edit.text) return false; /* the message knows */
  for (size_t i = 1; i < sizeof ways / sizeof *ways; i++) {
    c->now = rewritten(j, c->d, c->first, last_token(j->all, c), ways[i]);
    bool other = strcmp(c->now, c->old) != 0 && strcmp(c->now, first) != 0;
    if (other && mended(j, k)) return true;
  }
  bool binds = !strncmp(first, "let ", 4) && strncmp(c->old, "let ", 4) != 0; /* for those that read it */
  c->now = binds ? first : c->old;
  return false;
}

static void said(FlSink *sink, const Candidate *c) {
  offer(sink, c->d, c->start, c->old, c->now);
  c->reported->edit = c->d->edit;
  c->reported->help = c->d->help;
}

/* Offers what a candidate becomes, alone or with others. */
static void edited(Judge *j, int k, FlSink *sink) {
  Candidate *c = &j->at[k], several;
  int last = last_token(j->all, c);
  if (spanned(j, k, last, 0, true, &several)) {
    said(sink, &several);
  } else if (written(j, k)) {
    of_floats(j, k);
    said(sink, c);
  } else {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
      if (ways[i] != FL_FOREIGN_UNPIPED && spanned(j, k, last, ways[i], false, &several)) {
        said(sink, &several);
        return;
      }
  }
}

void fl_foreign_suggest(FlArena *arena, FlSink *sink, const FlSource *source, FlForeignJudge *judge,
                        void *of) {
  FlForeign all = {.arena = arena,
                   .text = source->text,
                   .file = source->text,
                   .all = &all.tokens,
                   .judge = judge,
                   .of = of};
  Candidate at[MOST_STATEMENTS];
  Judge j = {judge, of, &all, at, 0};
  for (int i = 0; i < sink->diags.n; i++) {
    FlDiag *d = sink->diags.at[i];
    if (fl_diag_severity(d->code) != FL_ERROR || d->span.file != source->id) continue;
    if (!all.tokens.n) fl_foreign_tokens(arena, source->text, source->len, &all.tokens);
    add(&all, &j, d);
  }
  if (j.n) add_silent(&all, &j, at[j.n - 1].start);
  for (int k = 0; k < j.n; k++) at[k].now = rewritten(&j, at[k].d, at[k].first, last_token(&all, &at[k]), 0);
  for (int k = 0; k < j.n; k++) {
    if (at[k].silent) continue;
    edited(&j, k, sink);
  }
}
