/* repl_lines.c: see repl_lines.h. libedit is opened where somebody types; without it, and from files and
 * pipes, lines are read as they come. */
#include "cli/repl_lines.h"

#include "base/library.h"
#include "cli/repl_history.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST "flow> "
#define MORE "  ... "

/* The functions of libedit that are called. */
typedef struct Editor {
  __typeof__(el_init) *init;
  __typeof__(el_end) *end;
  __typeof__(el_gets) *gets;
  __typeof__(el_set) *set;
  __typeof__(el_line) *line;
  __typeof__(el_insertstr) *insert;
  __typeof__(history_init) *history_init;
  __typeof__(history_end) *history_end;
  __typeof__(history) *history;
} Editor;

struct FlLines {
  bool typed, over;
  bool whole; /* a file: more can always be read */
  Editor call;
  EditLine *editor; /* NULL: plain reading */
  History *past;
  FlCompleter completer;
  const FlText1 *begun; /* the lines of the statement before the one that is typed */
  FlText1 read;         /* and not yet taken: from `at` */
  size_t at;
};

/* libedit only reads them. */
static char *ask(EditLine *editor) { return (void)editor, (char *)(uintptr_t)FIRST; }
static char *ask_more(EditLine *editor) { return (void)editor, (char *)(uintptr_t)MORE; }

static bool find(void *library, const char *name, void *at) {
  void *found = fl_library_symbol(library, name);
  memcpy(at, &found, sizeof found);
  return found != NULL;
}

/* ---- Tab --------------------------------------------------------------------------------------------- */

enum { MOST_WORDS = 200 };

typedef struct Words {
  char *at[MOST_WORDS];
  int n;
  size_t there; /* of their bytes that stand in the line */
} Words;

static void add_word(void *to, const char *word, size_t there) {
  Words *w = to;
  if (strlen(word) <= there || (w->n && there != w->there)) return;
  for (int k = 0; k < w->n; k++)
    if (strcmp(w->at[k], word) == 0) return;
  w->there = there;
  if (w->n < MOST_WORDS && (w->at[w->n] = strdup(word))) w->n++;
}

/* Bytes that all begin with. */
static size_t shared(const Words *w) {
  size_t n = strlen(w->at[0]);
  for (int k = 1; k < w->n; k++) {
    size_t same = 0;
    while (same < n && w->at[k][same] == w->at[0][same]) same++;
    n = same;
  }
  while (n > w->there && ((unsigned char)w->at[0][n] & 0xc0) == 0x80) n--; /* no half of a character */
  return n;
}

static void list_words(const Words *w) {
  enum { LINE = 80 };
  size_t widest = 0, column = 0;
  for (int k = 0; k < w->n; k++)
    if (strlen(w->at[k]) > widest) widest = strlen(w->at[k]);
  putchar('\n');
  for (int k = 0; k < w->n; k++) {
    if (column && column + widest > LINE) column = 0, putchar('\n');
    column += (size_t)printf("%-*s  ", (int)widest, w->at[k]);
  }
  puts(w->n == MOST_WORDS ? "..." : "");
}

/* Whose editor it is: it calls with nothing else. */
static FlLines *lines_of(EditLine *editor) {
  void *library = fl_library_open("libedit.so.2", (char[FL_LIBRARY_WHY]){0}), *lines = NULL;
  __typeof__(el_get) *get;
  if (!library || !find(library, "el_get", &get) || get(editor, EL_CLIENTDATA, &lines) != 0) return NULL;
  return lines;
}

/* What all words share is written; where that is nothing they are listed. */
static unsigned char complete(EditLine *editor, int key) {
  (void)key;
  FlLines *l = lines_of(editor);
  if (!l) return CC_ERROR;
  const LineInfo *line = l->call.line(editor);
  unsigned char done = CC_ERROR;
  Words w = {.n = 0};
  FlText1 text = {0};
  if (l->begun) fl_text_add(&text, l->begun->s ? l->begun->s : "", l->begun->len);
  fl_text_add(&text, line->buffer, (size_t)(line->cursor - line->buffer));
  l->completer.complete(l->completer.env, text.s, text.len, &w, add_word);
  size_t same = w.n ? shared(&w) : 0;
  if (w.n && same > w.there) {
    char *more = strndup(w.at[0] + w.there, same - w.there);
    if (more && l->call.insert(editor, more) == 0) done = CC_REFRESH;
    free(more);
  } else if (w.n > 1) {
    list_words(&w);
    done = CC_REDISPLAY;
  }
  for (int k = 0; k < w.n; k++) free(w.at[k]);
  fl_text_reset(&text);
  return done;
}

static void remember(void *env, const char *text) {
  FlLines *l = env;
  HistEvent event;
  FlText1 entry = {0};
  fl_text_addz(&entry, text);
  fl_text_addc(&entry, '\n'); /* as the lines are that are typed */
  l->call.history(l->past, &event, H_ENTER, entry.s);
  fl_text_reset(&entry);
}

static void open_editor(FlLines *l) {
  char why[FL_LIBRARY_WHY];
  void *library = fl_library_open("libedit.so.2", why);
  Editor *c = &l->call;
  if (!library || !find(library, "el_init", &c->init) || !find(library, "el_end", &c->end) ||
      !find(library, "el_gets", &c->gets) || !find(library, "el_set", &c->set) ||
      !find(library, "el_line", &c->line) || !find(library, "el_insertstr", &c->insert) ||
      !find(library, "history_init", &c->history_init) || !find(library, "history_end", &c->history_end) ||
      !find(library, "history", &c->history))
    return;
  setlocale(LC_CTYPE, "");
  l->editor = c->init("flowc", stdin, stdout, stderr);
  if (!l->editor) return;
  l->past = c->history_init();
  HistEvent event;
  if (l->past) c->history(l->past, &event, H_SETSIZE, 10000);
  if (l->past) fl_history_read(l, remember);
  if (l->past) c->set(l->editor, EL_HIST, c->history, l->past);
  c->set(l->editor, EL_EDITOR, "emacs");
  c->set(l->editor, EL_SIGNAL, 0);
  c->set(l->editor, EL_CLIENTDATA, l);
  c->set(l->editor, EL_ADDFN, "flow-complete", "completes a name", complete);
  c->set(l->editor, EL_BIND, "^I", "flow-complete", NULL);
}

FlLines *fl_lines_new(FlCompleter completer) {
  FlLines *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  struct stat st;
  l->typed = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  l->whole = fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode);
  l->completer = completer;
  if (l->typed) open_editor(l);
  return l;
}

void fl_lines_free(FlLines *l) {
  if (!l) return;
  if (l->editor) l->call.end(l->editor);
  if (l->past) l->call.history_end(l->past);
  fl_text_reset(&l->read);
  free(l);
}

bool fl_lines_typed(const FlLines *l) { return l->typed; }

/* ---- as they come ---------------------------------------------------------------------------------------
 */

/* Bytes up to the end of a line; 0: it is not here whole. */
static size_t line_here(const FlLines *l) {
  const char *from = l->read.s ? l->read.s + l->at : "";
  const char *end = memchr(from, '\n', l->read.len - l->at);
  if (end) return (size_t)(end - from) + 1;
  return l->over ? l->read.len - l->at : 0;
}

/* Reads what there is. false: interrupted. */
static bool read_more(FlLines *l) {
  char piece[1 << 16];
  ssize_t n = read(STDIN_FILENO, piece, sizeof piece);
  if (n < 0 && errno == EINTR) return false;
  if (n <= 0) l->over = true;
  else fl_text_add(&l->read, piece, (size_t)n);
  return true;
}

static FlLine next_plain(FlLines *l, bool more, FlText1 *out) {
  if (l->typed) {
    fputs(more ? MORE : FIRST, stdout);
    fflush(stdout);
  }
  size_t n;
  while (!(n = line_here(l)) && !l->over)
    if (!read_more(l)) return FL_LINE_INTERRUPTED;
  if (!n) return FL_LINE_END;
  fl_text_add(out, l->read.s + l->at, n);
  if (out->s[out->len - 1] != '\n') fl_text_addc(out, '\n');
  l->at += n;
  return FL_LINE;
}

const char *fl_lines_ahead(FlLines *l, size_t *len) {
  if (l->typed) return NULL;
  while (!line_here(l) && !l->over) {
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    if (!l->whole && poll(&in, 1, 0) <= 0) return NULL;
    if (!read_more(l)) return NULL;
  }
  *len = line_here(l);
  if (*len && l->read.s[l->at + *len - 1] == '\n') --*len;
  return l->read.s ? l->read.s + l->at : NULL;
}

/* ---- typed ----------------------------------------------------------------------------------------------
 */

FlLine fl_lines_next(FlLines *l, bool more, FlText1 *out) {
  if (!l->editor) return next_plain(l, more, out);
  l->call.set(l->editor, EL_PROMPT, more ? ask_more : ask);
  int n = 0;
  l->begun = more ? out : NULL;
  errno = 0;
  const char *line = l->call.gets(l->editor, &n);
  if (!line && n < 0 && errno == EINTR) return FL_LINE_INTERRUPTED;
  if (!line || n <= 0) return FL_LINE_END;
  fl_text_add(out, line, (size_t)n);
  if (out->s[out->len - 1] != '\n') fl_text_addc(out, '\n');
  return FL_LINE;
}

void fl_lines_remember(FlLines *l, const char *text) {
  HistEvent event;
  if (!l->past) return;
  l->call.history(l->past, &event, H_ENTER, text);
  fl_history_add(text);
}
