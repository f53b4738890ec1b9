/* regex.c: the operators on texts that take a regular expression, by PCRE2.
 *
 * What comes in: texts and a pattern. What goes out: what was found, as views into the text or bytes in the
 * heap. What always holds: a pattern that is none sets PATTERN, one that backtracks without end on a text
 * sets LIMIT, and both depend on the pattern and the text alone; when the caller's faults hold LIMIT already,
 * nothing more is searched, so that a column of such texts does not wait for each of them. */
#include "kern/regex.h"

#include "data/data.h"
#include "kern/kern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  N_PATTERNS = 16,  /* kept a thread */
  STEPS = 10000000, /* of backtracking in one search, and so many more a byte of the text: */
  STEPS_A_BYTE = 20,
  STACK_MIN = 32 << 10, /* bytes of the stack of compiled patterns */
  STACK_MAX = 1 << 20,
  SHORTEST = 256, /* bytes of scratch */
  LONGEST_NAME = 32,
  TAIL_MOST = 16
};

/* Nothing more is searched for. */
enum { ENDS = FL_FAULT_LIMIT | FL_FAULT_MEMORY };

static const uint32_t OPTIONS = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C;

/* ---- patterns of this thread ------------------------------------------------------------------------- */

typedef struct Pattern {
  char *text;
  int64_t n;
  pcre2_code *code; /* NULL: not a regular expression */
  pcre2_match_data *data;
  bool machine; /* there is machine code */
  int tail_n;   /* what each match ends with, at the end of the text; 0: not known */
  char tail[TAIL_MOST];
} Pattern;

typedef struct Cache {
  Pattern patterns[N_PATTERNS];
  int recent, next; /* the one used last; the one that is given up next */
  pcre2_match_context *context;
  pcre2_jit_stack *stack;
  char *scratch; /* where replacements are put together */
  int64_t at, room;
} Cache;

static _Thread_local Cache *mine;
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void drop(Pattern *p) {
  free(p->text);
  pcre2_match_data_free(p->data);
  pcre2_code_free(p->code);
  *p = (Pattern){0};
}

static void free_cache(void *arg) {
  Cache *c = arg;
  for (int i = 0; i < N_PATTERNS; i++) drop(&c->patterns[i]);
  pcre2_match_context_free(c->context);
  pcre2_jit_stack_free(c->stack);
  free(c->scratch);
  free(c);
}

static void make_key(void) { pthread_key_create(&at_end, free_cache); }

/* NULL: no memory. */
static Cache *cache(void) {
  if (mine != NULL) return mine;
  pthread_once(&once, make_key);
  Cache *c = calloc(1, sizeof *c);
  if (c != NULL && (c->context = pcre2_match_context_create(NULL)) == NULL) {
    free(c);
    c = NULL;
  }
  if (c == NULL) return NULL;
  c->stack = pcre2_jit_stack_create(STACK_MIN, STACK_MAX, NULL); /* NULL: there is no machine code */
  if (c->stack != NULL) pcre2_jit_stack_assign(c->context, NULL, c->stack);
  pthread_setspecific(at_end, c);
  return mine = c;
}

static PCRE2_SPTR units(const char *s) { return (PCRE2_SPTR)(s != NULL ? s : ""); }

static pcre2_code *compile(const char *text, int64_t n, int *error, size_t *at) {
  return pcre2_compile(units(text), (size_t)n, OPTIONS, error, at, NULL);
}

/* Of few bytes, without a call: the last word of them overlaps the one before. */
static inline bool same_bytes(const char *a, const char *b, int64_t n) {
  uint64_t x, y;
  uint32_t p, q;
  if (n >= 8) {
    for (int64_t i = 0; i < n; i += 8) {
      int64_t at = i + 8 <= n ? i : n - 8;
      memcpy(&x, a + at, 8);
      memcpy(&y, b + at, 8);
      if (x != y) return false;
    }
    return true;
  }
  if (n >= 4) {
    memcpy(&p, a, 4);
    memcpy(&q, b, 4);
    if (p != q) return false;
    memcpy(&p, a + n - 4, 4);
    memcpy(&q, b + n - 4, 4);
    return p == q;
  }
  for (int64_t i = 0; i < n; i++)
    if (a[i] != b[i]) return false;
  return true;
}

static bool is_pattern(const Pattern *p, const char *text, int64_t n) {
  return p->text != NULL && p->n == n && same_bytes(p->text, text, n);
}

/* Where the set of characters that begins at i ends; -1: it is not a plain one. */
static int64_t behind_set(const char *text, int64_t n, int64_t i) {
  i += i + 1 < n && text[i + 1] == '^' ? 2 : 1;
  if (i < n && text[i] == ']') i++;
  for (; i < n && text[i] != ']'; i++)
    if (text[i] == '[' || text[i] == '\\') return -1;
  return i < n ? i + 1 : -1;
}

static bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* How many letters and digits stand right before the `$` that ends the pattern, where each match ends with
 * them: it has neither groups, alternatives, options nor escapes that take more than one character. */
static int64_t tail_of(const char *text, int64_t n) {
  int64_t run = 0, i = 0;
  while (i < n - 1) {
    char c = text[i];
    run = is_plain(c) ? run + 1 : 0;
    if (c == '(' || c == '|') return 0;
    if (c == '[') {
      i = behind_set(text, n, i);
      if (i < 0) return 0;
    } else if (c == '\\') {
      if (is_plain(text[i + 1]) && strchr("dDwWsSbB", text[i + 1]) == NULL) return 0;
      i += 2;
    } else {
      i++;
    }
  }
  return i == n - 1 && text[i] == '$' ? run : 0;
}

static void set_tail(Pattern *p) {
  uint32_t newline = 0;
  int64_t run = tail_of(p->text, p->n);
  pcre2_pattern_info(p->code, PCRE2_INFO_NEWLINE, &newline);
  if (newline != PCRE2_NEWLINE_LF) return;
  p->tail_n = (int)(run < TAIL_MOST ? run : TAIL_MOST);
  memcpy(p->tail, p->text + p->n - 1 - p->tail_n, (size_t)p->tail_n);
}

/* NULL: no memory. */
static Pattern *pattern_of(Cache *c, const char *text, int64_t n) {
  Pattern *p = &c->patterns[c->recent];
  if (is_pattern(p, text, n)) return p;
  for (int i = 0; i < N_PATTERNS; i++) {
    if (!is_pattern(&c->patterns[i], text, n)) continue;
    c->recent = i;
    return &c->patterns[i];
  }
  c->recent = c->next;
  c->next = (c->next + 1) % N_PATTERNS;
  p = &c->patterns[c->recent];
  drop(p);
  int error;
  size_t at;
  p->text = malloc((size_t)n + 1);
  if (p->text == NULL) return NULL;
  if (n > 0) memcpy(p->text, text, (size_t)n);
  p->n = n;
  p->code = compile(text, n, &error, &at);
  bool memory = p->code != NULL || error != PCRE2_ERROR_HEAP_FAILED;
  if (p->code == NULL && memory) return p;
  if (memory) {
    p->machine = pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE) == 0; /* where it fails, PCRE2 interprets */
    set_tail(p);
    p->data = pcre2_match_data_create_from_pattern(p->code, NULL);
  }
  if (p->data != NULL) return p;
  drop(p);
  return NULL;
}

static int64_t n_groups(const pcre2_code *code) {
  uint32_t n = 0;
  pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &n);
  return n;
}

/* ---- searching --------------------------------------------------------------------------------------- */

/* A search for one match after the other. */
typedef struct Search {
  Cache *cache;
  const Pattern *pattern;
  const char *s;
  int64_t n, at;
  uint32_t options;
  const size_t *found; /* pairs: from, to of the match and of each group; PCRE2_UNSET: not there */
} Search;

/* Whether the text may end as a match does: `$` also stands before a line's end that ends the text. */
static bool may_end(const Pattern *p, const char *s, int64_t n) {
  if (p->tail_n == 0) return true;
  if (n > 0 && s[n - 1] == '\n') n--;
  return n >= p->tail_n && same_bytes(s + n - p->tail_n, p->tail, p->tail_n);
}

/* false: there is nothing to search, and the fault says why. */
static bool begin(Search *w, const char *s, int64_t n, const char *pattern, int64_t pattern_n,
                  int32_t *fault) {
  if (*fault & ENDS) return false;
  Cache *c = cache();
  *w = (Search){.cache = c, .pattern = c != NULL ? pattern_of(c, pattern, pattern_n) : NULL, .s = s, .n = n};
  if (w->pattern == NULL) {
    *fault |= FL_FAULT_MEMORY;
    return false;
  }
  if (w->pattern->code == NULL) {
    *fault |= FL_FAULT_PATTERN;
    return false;
  }
  uint64_t steps = STEPS + (uint64_t)n * STEPS_A_BYTE;
  pcre2_set_match_limit(c->context, steps > UINT32_MAX ? UINT32_MAX : (uint32_t)steps);
  return true;
}

static bool search_from(Search *w, int64_t at, int32_t *fault) {
  const Pattern *p = w->pattern;
  pcre2_match_context *context = w->cache->context;
  if (!may_end(p, w->s, w->n)) return false;
  /* PCRE2 needs UTF-8, which a text is but for what comes from outside of all readers; it says so itself
   * then. */
  if (w->options == 0 && fl_kern_is_utf8(w->s, w->n)) w->options = PCRE2_NO_UTF_CHECK;
  bool at_once = p->machine && w->options == PCRE2_NO_UTF_CHECK;
  int rc = at_once
               ? pcre2_jit_match(p->code, units(w->s), (size_t)w->n, (size_t)at, 0, p->data, context)
               : pcre2_match(p->code, units(w->s), (size_t)w->n, (size_t)at, w->options, p->data, context);
  if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
    rc = pcre2_match(p->code, units(w->s), (size_t)w->n, (size_t)at, w->options | PCRE2_NO_JIT, p->data,
                     context);
  if (rc == PCRE2_ERROR_NOMEMORY) *fault |= FL_FAULT_MEMORY;
  if (rc == PCRE2_ERROR_MATCHLIMIT || rc == PCRE2_ERROR_DEPTHLIMIT || rc == PCRE2_ERROR_HEAPLIMIT)
    *fault |= FL_FAULT_LIMIT;
  w->found = pcre2_get_ovector_pointer(p->data);
  return rc > 0;
}

/* The next match; after an empty one a match that is not empty is looked for at the same place, then further
 * on, as Perl does. */
static bool next_match(Search *w, int32_t *fault) {
  for (;;) {
    bool after_empty = (w->options & PCRE2_NOTEMPTY_ATSTART) != 0;
    if (search_from(w, w->at, fault)) break;
    if (!after_empty || w->at >= w->n || (*fault & ENDS)) return false;
    do w->at++;
    while (w->at < w->n && ((unsigned char)w->s[w->at] & 0xc0) == 0x80);
    w->options = PCRE2_NO_UTF_CHECK;
  }
  w->at = (int64_t)w->found[1];
  bool empty = w->found[0] >= w->found[1];
  w->options = PCRE2_NO_UTF_CHECK | (empty ? PCRE2_NOTEMPTY_ATSTART | PCRE2_ANCHORED : 0);
  return true;
}

/* The text does not end as each match of the pattern does, which is the one that was used last. */
static inline bool ends_otherwise(const char *s, int64_t n, const char *pattern, int64_t pattern_n) {
  const Pattern *p = mine != NULL ? &mine->patterns[mine->recent] : NULL;
  return p != NULL && p->tail_n > 0 && is_pattern(p, pattern, pattern_n) && !may_end(p, s, n);
}

uint8_t fl_s_matches(const char *s, int64_t n, const char *pattern, int64_t pattern_n, int32_t *fault) {
  Search w;
  if (ends_otherwise(s, n, pattern, pattern_n)) return false;
  return begin(&w, s, n, pattern, pattern_n, fault) && search_from(&w, 0, fault);
}

int64_t fl_s_count_matches(const char *s, int64_t n, const char *pattern, int64_t pattern_n, int32_t *fault) {
  Search w;
  int64_t count = 0;
  if (!begin(&w, s, n, pattern, pattern_n, fault)) return 0;
  while (next_match(&w, fault)) count++;
  return count;
}

/* Group k of the last match; NULL: it took no part. */
static FlText group_of(const Search *w, int64_t k) {
  size_t from = w->found[2 * k], to = w->found[2 * k + 1];
  if (from == PCRE2_UNSET || to < from) return (FlText){NULL, 0};
  return (FlText){units(w->s) == (PCRE2_SPTR)w->s ? w->s + from : "", (int64_t)(to - from)};
}

FlText fl_s_extract(const char *s, int64_t n, const char *pattern, int64_t pattern_n, int64_t group,
                    uint8_t *valid, int32_t *fault) {
  Search w;
  *valid = 0;
  if (!begin(&w, s, n, pattern, pattern_n, fault)) return (FlText){NULL, 0};
  int64_t groups = n_groups(w.pattern->code);
  if (group == FL_REGEX_FIRST) group = groups > 0;
  if (group < 0 || group > groups) {
    *fault |= FL_FAULT_DOMAIN;
    return (FlText){NULL, 0};
  }
  if (!search_from(&w, 0, fault)) return (FlText){NULL, 0};
  FlText found = group_of(&w, group);
  *valid = found.ptr != NULL;
  return found;
}

bool fl_regex_next(FlRegexWalk *walk, const char *s, int64_t n, const char *pattern, int64_t pattern_n,
                   FlText *out, int32_t *fault) {
  Search w;
  if (!begin(&w, s, n, pattern, pattern_n, fault)) return false;
  w.at = walk->at;
  if (walk->started) w.options = walk->options;
  if (!next_match(&w, fault)) return false;
  *walk = (FlRegexWalk){w.at, w.options, true};
  *out = group_of(&w, n_groups(w.pattern->code) > 0);
  return true;
}

/* ---- replacing --------------------------------------------------------------------------------------- */

/* A piece of a replacement: a text, or (group >= 0) a group of the match. */
typedef struct Piece {
  FlText text;
  int64_t group;
} Piece;

/* The number of the group that a name or number stands for; -1: there is none. */
static int64_t find_group(const pcre2_code *code, const char *s, int64_t n) {
  char name[LONGEST_NAME + 1];
  int64_t number = 0;
  bool digits = n > 0 && n < 6;
  for (int64_t i = 0; digits && i < n; i++) {
    digits = s[i] >= '0' && s[i] <= '9';
    number = number * 10 + (s[i] - '0');
  }
  if (!digits) {
    if (n == 0 || n > LONGEST_NAME) return -1;
    memcpy(name, s, (size_t)n);
    name[n] = 0;
    number = pcre2_substring_number_from_name(code, (PCRE2_SPTR)name);
  }
  return number < 0 || number > n_groups(code) ? -1 : number;
}

/* Takes the next piece from *at. NULL, or a sentence that says what is wrong there. */
static const char *next_piece(const pcre2_code *code, const char **at, const char *end, Piece *out) {
  const char *s = *at;
  *out = (Piece){.group = -1};
  if (*s != '$') {
    const char *dollar = memchr(s, '$', (size_t)(end - s));
    *at = dollar != NULL ? dollar : end;
    out->text = (FlText){s, *at - s};
    return NULL;
  }
  if (s + 1 < end && s[1] == '$') {
    out->text = (FlText){s, 1};
    *at = s + 2;
    return NULL;
  }
  const char *from = s + 1, *to = from;
  if (from < end && *from == '{') {
    from++;
    to = memchr(from, '}', (size_t)(end - from));
    if (to == NULL) return "after ${ the name of a group and } are missing";
    *at = to + 1;
  } else {
    while (to < end && *to >= '0' && *to <= '9') to++;
    if (to == from) return "after $ comes the number of a group, {name}, or another $ for a dollar";
    *at = to;
  }
  out->group = find_group(code, from, to - from);
  return out->group < 0 ? "the pattern has no such group" : NULL;
}

static void put(Cache *c, const char *s, int64_t n, int32_t *fault) {
  if (c->at + n > c->room) {
    int64_t room = (c->at + n) * 2 + SHORTEST;
    char *scratch = realloc(c->scratch, (size_t)room);
    if (scratch == NULL) {
      *fault |= FL_FAULT_MEMORY;
      return;
    }
    c->room = room;
    c->scratch = scratch;
  }
  if (n > 0) memcpy(c->scratch + c->at, s, (size_t)n);
  c->at += n;
}

static bool put_replacement(const Search *w, const char *by, int64_t by_n, int32_t *fault) {
  for (const char *at = by, *end = by + by_n; at < end;) {
    Piece piece;
    if (next_piece(w->pattern->code, &at, end, &piece) != NULL) return false;
    FlText text = piece.group >= 0 ? group_of(w, piece.group) : piece.text;
    put(w->cache, text.ptr, text.len, fault);
  }
  return true;
}

FlText fl_s_replace_regex(FlHeap *heap, const char *s, int64_t n, const char *pattern, int64_t pattern_n,
                          const char *by, int64_t by_n, int32_t *fault) {
  Search w;
  if (!begin(&w, s, n, pattern, pattern_n, fault)) return (FlText){NULL, 0};
  int64_t done = 0;
  bool any = false;
  w.cache->at = 0;
  while (next_match(&w, fault)) {
    any = true;
    int64_t from = (int64_t)w.found[0];
    if (from > done) put(w.cache, s + done, from - done, fault);
    if (!put_replacement(&w, by, by_n, fault)) {
      *fault |= FL_FAULT_DOMAIN;
      return (FlText){NULL, 0};
    }
    done = w.at;
  }
  if (*fault & ENDS) return (FlText){NULL, 0};
  if (!any) return (FlText){s, n};
  if (n > done) put(w.cache, s + done, n - done, fault);
  if (*fault & FL_FAULT_MEMORY) return (FlText){NULL, 0};
  return fl_heap_text(heap, w.cache->scratch, w.cache->at);
}

/* ---- for the compiler -------------------------------------------------------------------------------- */

bool fl_regex_check(const char *pattern, int64_t n, FlRegexError *out) {
  int error = 0;
  size_t at = 0;
  pcre2_code *code = compile(pattern, n, &error, &at);
  *out = (FlRegexError){.at = (int64_t)at, .memory = code == NULL && error == PCRE2_ERROR_HEAP_FAILED};
  if (code == NULL) pcre2_get_error_message(error, (PCRE2_UCHAR *)out->why, sizeof out->why);
  pcre2_code_free(code);
  return code != NULL;
}

/* A pattern that was checked; NULL: no memory. */
static const Pattern *known(const char *pattern, int64_t n) {
  Cache *c = cache();
  return c != NULL ? pattern_of(c, pattern, n) : NULL;
}

bool fl_regex_check_replacement(const char *pattern, int64_t n, const char *by, int64_t by_n,
                                FlRegexError *out) {
  const Pattern *p = known(pattern, n);
  *out = (FlRegexError){.memory = p == NULL};
  if (p == NULL) return false;
  for (const char *at = by, *end = by + by_n; at < end;) {
    Piece piece;
    out->at = at - by;
    const char *wrong = next_piece(p->code, &at, end, &piece);
    if (wrong == NULL) continue;
    snprintf(out->why, sizeof out->why, "%s", wrong);
    return false;
  }
  return true;
}

int64_t fl_regex_groups(const char *pattern, int64_t n) {
  const Pattern *p = known(pattern, n);
  return p != NULL ? n_groups(p->code) : -2;
}

int64_t fl_regex_group_named(const char *pattern, int64_t n, const char *name) {
  const Pattern *p = known(pattern, n);
  return p != NULL ? find_group(p->code, name, (int64_t)strlen(name)) : -2;
}
