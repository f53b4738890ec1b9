/* command_repl.c: flowc repl: what is entered becomes a program of its own, in a process of its own, behind
 * the values of what was entered before (cli/session.h). What always holds: a statement that does not end
 * well leaves the session as it was; nothing that ended well is done again. */
#include "cli/commands.h"

#include "cli/program.h"
#include "cli/repl_complete.h"
#include "cli/repl_lines.h"
#include "cli/scripts.h"
#include "cli/session.h"
#include "cli/words.h"
#include "exec/command_line.h"
#include "process/interrupts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Repl {
  FlSession session;
  FlLines *lines;
  char folder[512]; /* of values */
  int lock;         /* of the folder; -1: its file system has none */
  int argc;         /* of every program: its name and options of every script */
  char **argv;
  int status; /* of the first that did not end well */
  bool over;
} Repl;

/* ---- values: files in a folder that lives as long as the session ------------------------------------ */

static const char FOLDER[] = "flow-repl-"; /* begins the name of each */

static void empty_folder(const char *path) {
  DIR *d = opendir(path);
  for (const struct dirent *e; d && (e = readdir(d));)
    if (e->d_name[0] != '.' || isalnum((unsigned char)e->d_name[1])) unlinkat(dirfd(d), e->d_name, 0);
  if (d) closedir(d);
}

/* Opened for its lock, which a session has as long as it lasts, however it ends; -1: another one has it. */
static int lock_folder(const char *path) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat st;
  if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0 &&
      st.st_uid == geteuid())
    return fd;
  if (fd >= 0) close(fd);
  return -1;
}

/* Those of sessions that were killed go. */
static void remove_stale(const char *top) {
  DIR *d = opendir(top);
  for (const struct dirent *e; d && (e = readdir(d));) {
    char path[512];
    if (strncmp(e->d_name, FOLDER, sizeof FOLDER - 1) != 0 ||
        snprintf(path, sizeof path, "%s/%s", top, e->d_name) >= (int)sizeof path)
      continue;
    int fd = lock_folder(path);
    if (fd < 0) continue;
    empty_folder(path);
    rmdir(path);
    close(fd);
  }
  if (d) closedir(d);
}

static bool make_folder(Repl *r) {
  const char *top = getenv("TMPDIR");
  top = top && top[0] == '/' ? top : "/var/tmp";
  remove_stale(top);
  do { /* another session may take it for a stale one before it is locked: then it is gone */
    snprintf(r->folder, sizeof r->folder, "%s/%sXXXXXX", top, FOLDER);
    if (!mkdtemp(r->folder)) {
      fprintf(stderr, "flowc repl: cannot make the folder `%s`: %s\n", r->folder, strerror(errno));
      fputs("  help: name a folder on another disk: TMPDIR=FOLDER before the command\n", stderr);
      return false;
    }
    errno = 0;
    r->lock = lock_folder(r->folder);
  } while (r->lock < 0 && (errno == EWOULDBLOCK || access(r->folder, F_OK) != 0));
  return true;
}

/* ---- programs ----------------------------------------------------------------------------------------- */

typedef struct Work {
  const Repl *repl;
  const FlEntry *entry; /* NULL: only the session, and only checked */
} Work;

static void init_compilation(FlCompilation *c, const FlText1 *text) {
  fl_compilation_init_text(c, FL_SESSION_TEXT, text);
}

static int check_text(const FlText1 *text) {
  FlCompilation c;
  init_compilation(&c, text);
  fl_front_check(&c, NULL, NULL, -1);
  int status = c.lacks ? fl_compilation_lacks(&c) : c.sink->n_errors ? 3 : 0;
  fl_compilation_say(&c);
  fl_compilation_reset(&c);
  return status;
}

/* Is nothing wrong with what stands behind `end`? */
static bool is_right_behind(const FlText1 *text, size_t end) {
  FlCompilation c;
  init_compilation(&c, text);
  fl_front_check(&c, NULL, NULL, -1);
  bool right = !c.lacks;
  for (int i = 0; right && i < c.sink->diags.n; i++) {
    const FlDiag *d = c.sink->diags.at[i];
    right = fl_diag_severity(d->code) != FL_ERROR || d->span.file != c.script->id || d->span.start < end;
  }
  fl_compilation_reset(&c);
  return right;
}

static int run_text(const Repl *r, const FlText1 *text) {
  FlCompilation c;
  FlBuildOptions build = {.level = 1, .cpu = FL_CPU_HOST, .test = -1};
  init_compilation(&c, text);
  int status = c.lacks ? fl_compilation_lacks(&c) : fl_program_run(&c, &build, r->argc, r->argv, NULL);
  fl_compilation_reset(&c);
  return status;
}

static int do_work(const Work *w) {
  const FlEntry *e = w->entry;
  FlText1 text = {0};
  size_t from, end;
  fl_session_text(&w->repl->session, e, &text, &from, &end);
  fl_text_addc(&text, '\n');
  if (!e || e->kind == FL_STMT_ERROR) return check_text(&text);
  size_t len = text.len;
  if (e->names.n) fl_session_add_saves(&w->repl->session, e, &text);
  if (e->names.n && !is_right_behind(&text, len)) {
    text.s[text.len = len] = '\0';
    if (e->role == FL_STMT_ROLE_ACTS && e->kind != FL_STMT_ASSIGN && check_text(&text) == 0)
      return fputs("error: a variable that holds a function cannot be changed within a statement here\n",
                   stderr),
             1;
  }
  return run_text(w->repl, &text);
}

static int in_child(const Work *w) {
  if (fl_interrupts_wait()) return fputs("interrupted\n", stderr), 130;
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) {
    fprintf(stderr, "flowc repl: cannot start a process: %s\n", strerror(errno));
    return 4;
  }
  if (child == 0) {
    fl_interrupts_leave();
    int none = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (none >= 0) dup2(none, STDIN_FILENO);
    int status = do_work(w);
    if (fflush(stdout) && !status) status = 4;
    _exit(status);
  }
  if (fl_interrupts_wait()) kill(child, SIGINT); /* it came before there was a child */
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 70;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (WTERMSIG(status) == SIGINT) fputs("interrupted\n", stderr);
  return 128 + WTERMSIG(status);
}

/* ---- what is entered ---------------------------------------------------------------------------------- */

/* How what was read so far stands. */
typedef enum Whole { WHOLE, NOTHING, BROKEN, OPEN, OPEN_BRACKET } Whole;

typedef struct Parsed {
  FlCompilation c;
  FlAst *ast;
  Whole whole;
} Parsed;

static bool has_open_bracket(FlArena *arena, const FlText1 *text) {
  FlOpens opens = {0};
  fl_syntax_open_at_end(arena, text->s, text->len, &opens);
  return opens.n && strcmp(opens.at[opens.n - 1].closer, "\"");
}

static Whole judge(Parsed *p, const FlText1 *text) {
  size_t len = text->len;
  while (len && isspace((unsigned char)text->s[len - 1])) len--;
  if (!len) return NOTHING;
  if (has_open_bracket(p->c.arena, text)) return OPEN_BRACKET;
  const FlSink *sink = p->c.sink;
  if (sink->n_errors) return sink->diags.at[0]->span.start >= len ? OPEN : BROKEN;
  if (p->ast->stmts.n) return WHOLE;
  return strncmp(text->s + strspn(text->s, " \t\n"), "##", 2) == 0 ? OPEN : NOTHING;
}

/* To be left by fl_compilation_reset. */
static void parse(Parsed *p, const FlText1 *text) {
  init_compilation(&p->c, text);
  p->ast = fl_syntax_parse(p->c.arena, p->c.names, p->c.script, p->c.sink);
  p->whole = judge(p, text);
}

static Whole whole(const FlText1 *text, int *n_stmts) {
  Parsed p;
  parse(&p, text);
  *n_stmts = p.ast->stmts.n;
  fl_compilation_reset(&p.c);
  return p.whole;
}

/* Does the last statement go on in the line behind it, where that is here already? */
static bool goes_on(FlLines *lines, const FlText1 *text, int n_stmts) {
  size_t len;
  const char *ahead = fl_lines_ahead(lines, &len);
  if (!ahead || !len || *ahead == ':') return false;
  FlText1 longer = {0};
  fl_text_add(&longer, text->s, text->len);
  fl_text_add(&longer, ahead, len);
  int n;
  Whole w = whole(&longer, &n);
  fl_text_reset(&longer);
  return (w == WHOLE || w == OPEN || w == OPEN_BRACKET) && n == n_stmts;
}

static bool run_entry(Repl *r, FlEntry *e, int *status) {
  *status = in_child(&(Work){r, e});
  if (*status) return false;
  e->saved = e->names.n > 0;
  for (int k = 0; k < e->names.n; k++) e->saved &= access(fl_session_file(&r->session, e, k), F_OK) == 0;
  fl_session_add(&r->session, e);
  return true;
}

/* Declarations first, since a script does not ask where they stand. */
static int run_statements(Repl *r, const Parsed *p) {
  FlSession *s = &r->session;
  const FlStmtList *stmts = &p->ast->stmts;
  int status = 0, n_declared = 0;
  for (int i = 0; i < stmts->n; i++) {
    if (fl_syntax_stmt_role(stmts->at[i]->kind) != FL_STMT_ROLE_DECLARES) continue;
    FlEntry e = fl_session_entry(s, p->c.script, stmts->at[i], s->n_lines + 1);
    fl_session_add(s, &e);
    n_declared++;
  }
  if (n_declared) status = in_child(&(Work){r, NULL});
  for (int i = 0; i < stmts->n && !status; i++) {
    if (fl_syntax_stmt_role(stmts->at[i]->kind) == FL_STMT_ROLE_DECLARES) continue;
    FlEntry e = fl_session_entry(s, p->c.script, stmts->at[i], s->n_lines + 1);
    run_entry(r, &e, &status);
  }
  return status;
}

/* Runs a text; false: it did not end well, and the session is as it was. */
static bool run_entered(Repl *r, const FlText1 *text) {
  FlSession *s = &r->session;
  Parsed p;
  fl_interrupts_hold(true);
  parse(&p, text);
  int status = 0, n = s->entries.n;
  FlEntry *before = fl_arena_copy(s->arena, s->entries.at, sizeof *before * (size_t)n);
  if (p.whole == WHOLE) status = run_statements(r, &p);
  else if (p.whole != NOTHING)
    status = in_child(&(Work){r, &(FlEntry){.text = text->s, .line = s->n_lines + 1}});
  if (!status && p.whole == WHOLE) {
    fl_vec_push(s->arena, &s->entered, fl_arena_strndup(s->arena, text->s, text->len));
    for (const char *c = text->s; *c; c++) s->n_lines += *c == '\n';
  } else if (status) {
    s->entries.at = before;
    s->entries.n = s->entries.cap = n;
    if (!r->status) r->status = status;
  }
  fl_compilation_reset(&p.c);
  fl_interrupts_hold(false);
  return !status;
}

/* ---- commands ----------------------------------------------------------------------------------------- */

static void refuse(Repl *r, const char *message) {
  fprintf(stderr, "%s\n", message);
  if (!r->status) r->status = 2;
}

static void do_help(Repl *r, const char *rest);

/* What the type of the last expression is. */
typedef struct Asked {
  FlSpan at;
  const char *type;
} Asked;

static void hear_type(void *env, FlSpan at, const char *type) {
  Asked *a = env;
  if (at.file == 1 && at.start == a->at.start && at.len == a->at.len) a->type = type;
}

static void hear_name(void *env, FlSpan at, const FlNamed *what) { (void)env, (void)at, (void)what; }
static void hear_columns(void *env, FlSpan at, const char *row) { (void)env, (void)at, (void)row; }
static void hear_step(void *env, FlSpan at, FlFlow takes, FlFlow gives) {
  (void)env, (void)at, (void)takes, (void)gives;
}

static void do_type(Repl *r, const char *rest) {
  FlSession *s = &r->session;
  FlText1 given = {0}, text = {0};
  fl_text_addf(&given, "%s\n", rest);
  Parsed p;
  parse(&p, &given);
  bool one = p.whole == WHOLE && p.ast->stmts.n == 1 && p.ast->stmts.at[0]->kind == FL_STMT_EXPR;
  if (!one) {
    refuse(r, ":type takes an expression: `:type 1 + 2.5`");
  } else {
    FlEntry e = fl_session_entry(s, p.c.script, p.ast->stmts.at[0], s->n_lines + 1);
    FlCompilation c;
    size_t from, end;
    fl_session_text(s, &e, &text, &from, &end);
    fl_text_addc(&text, '\n');
    init_compilation(&c, &text);
    Asked a = {.at = {.start = (uint32_t)from, .len = (uint32_t)(end - from)}};
    const FlWitness witness = {&a, hear_type, hear_name, hear_columns, hear_step, NULL};
    fl_front_check(&c, NULL, &witness, -1);
    fl_compilation_say(&c);
    if (!c.lacks && !c.sink->n_errors && a.type) printf("%s\n", a.type);
    else if (!r->status) r->status = 3;
    fl_compilation_reset(&c);
  }
  fl_compilation_reset(&p.c);
  fl_text_reset(&given);
  fl_text_reset(&text);
}

static void do_load(Repl *r, const char *rest) {
  FlText1 text = {0}, why = {0};
  if (!*rest) refuse(r, ":load takes the name of a script: `:load x.flow`");
  else if (fl_script_read(rest, &text, &why)) refuse(r, why.s);
  else {
    fl_text_addc(&text, '\n');
    run_entered(r, &text);
  }
  fl_text_reset(&text);
  fl_text_reset(&why);
}

static void do_save(Repl *r, const char *rest) {
  if (!*rest) return refuse(r, ":save takes the name of a file: `:save x.flow`");
  FILE *f = fopen(rest, "wx");
  if (!f) {
    fprintf(stderr, "cannot write `%s`: %s\n", rest,
            errno == EEXIST ? "it is there already" : strerror(errno));
    if (!r->status) r->status = 2;
    return;
  }
  for (int i = 0; i < r->session.entered.n; i++) fputs(r->session.entered.at[i], f);
  if (fclose(f)) refuse(r, strerror(errno));
}

static void do_reset(Repl *r, const char *rest) {
  (void)rest;
  fl_session_reset(&r->session);
  empty_folder(r->folder);
  fl_session_init(&r->session, r->folder);
}

static void do_quit(Repl *r, const char *rest) {
  (void)rest;
  r->over = true;
}

static const struct {
  const char *name, *operand, *does;
  void (*go)(Repl *r, const char *rest);
} commands[] = {
    {":help", "", "this", do_help},
    {":type", " EXPR", "the type of an expression, which is not computed", do_type},
    {":load", " FILE", "enters what a script says", do_load},
    {":save", " FILE", "writes what was entered, and ended well, as a script", do_save},
    {":reset", "", "forgets all that was entered", do_reset},
    {":quit", "", "ends, as Ctrl-D does", do_quit},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void do_help(Repl *r, const char *rest) {
  (void)r, (void)rest;
  fputs("Statements and expressions of flow; what an expression gives is shown. Brackets that are open, and "
        "lines that end in an\n"
        "operator, go on in the next line. Ctrl-C interrupts what runs, or drops the line. `flowc explain "
        "NAME` in a shell says\n"
        "what a function takes.\n\n",
        stdout);
  for (int k = 0; k < N_COMMANDS; k++)
    printf("  %-5s%-*s  %s\n", commands[k].name, (int)(12 - strlen(commands[k].name)), commands[k].operand,
           commands[k].does);
}

static void do_command(Repl *r, char *line) {
  line[strcspn(line, "\n")] = '\0';
  for (size_t n = strlen(line); n && isspace((unsigned char)line[n - 1]);) line[--n] = '\0';
  size_t n = strcspn(line, " \t");
  const char *rest = line + n + strspn(line + n, " \t"), *names[N_COMMANDS];
  for (int k = 0; k < N_COMMANDS; k++) {
    names[k] = commands[k].name;
    if (n == 2 ? line[1] == names[k][1] && k != 4 : strlen(names[k]) == n && strncmp(line, names[k], n) == 0)
      return commands[k].go(r, rest);
  }
  line[n] = '\0';
  const char *near = fl_closest(line, names, N_COMMANDS);
  fprintf(stderr, "there is no command `%s`; %s%s%s\n", line,
          near ? "did you mean `" : "`:help` lists what there is", near ? near : "", near ? "`?" : "");
  if (!r->status) r->status = 2;
}

/* ---- Tab --------------------------------------------------------------------------------------------- */

static void complete(void *env, const char *text, size_t len, void *to,
                     void (*tell)(void *to, const char *word, size_t there)) {
  const Repl *r = env;
  if (len && *text == ':') { /* a command; behind it what expressions have */
    size_t n = strcspn(text, " ");
    for (int k = 0; n == len && k < N_COMMANDS; k++)
      if (strncmp(commands[k].name, text, len) == 0) tell(to, commands[k].name, len);
    if (n == len || strncmp(text, ":type ", strlen(":type ")) != 0) return;
    text += n + 1;
    len -= n + 1;
  }
  FlText1 before = {0};
  size_t from, end;
  fl_session_text(&r->session, NULL, &before, &from, &end);
  fl_text_addc(&before, '\n');
  fl_repl_complete(&before, text, len, to, tell);
  fl_text_reset(&before);
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

static bool leaves(const char *line) {
  static const char *const words[] = {"exit\n", "quit\n", "exit()\n", "quit()\n"};
  for (size_t k = 0; k < sizeof words / sizeof *words; k++)
    if (strcmp(line, words[k]) == 0) return true;
  return false;
}

/* Reads on until statements are whole, and runs them. */
static void read_entry(Repl *r) {
  FlText1 text = {0};
  int n_stmts;
  FlLine got = fl_lines_next(r->lines, false, &text);
  bool command = got == FL_LINE && text.s[0] == ':',
       leave = got == FL_LINE && fl_lines_typed(r->lines) && leaves(text.s);
  bool more = got == FL_LINE && !command && !leave;
  while (more) {
    Whole w = whole(&text, &n_stmts);
    if (w != OPEN && w != OPEN_BRACKET && !(w == WHOLE && goes_on(r->lines, &text, n_stmts))) break;
    size_t before = text.len;
    got = fl_lines_next(r->lines, true, &text);
    more = got == FL_LINE && !(w == OPEN && text.s[before] == '\n');
  }
  if (text.len) {
    FlText1 line = {0};
    fl_text_add(&line, text.s, text.len);
    fl_lines_remember(r->lines, line.s);
    fl_text_reset(&line);
  }
  bool typed = fl_lines_typed(r->lines);
  if (got == FL_LINE_INTERRUPTED) {
    if (typed) putchar('\n');
    else r->over = true, r->status = 130;
  } else if (command) do_command(r, text.s);
  else if (leave) puts("to leave: :quit, or Ctrl-D");
  else if (text.len) run_entered(r, &text);
  if (got == FL_LINE_END) {
    if (typed) putchar('\n');
    r->over = true;
  }
  if (!typed && r->status >= 128) r->over = true;
  fl_text_reset(&text);
}

/* Options of every script, which every program here gets, and a script. FL_WORDS_READ, or the exit status. */
static int read_words(Repl *r, int n_words, char **words, const char **file) {
  FlWords own = {0};
  for (int i = 0; i < n_words; i++) {
    int status = fl_words_option(FL_COMMAND_REPL, n_words, words, &i, &own);
    if (own.flags[FL_FLAG_HELP]) return fl_words_help(FL_COMMAND_REPL), 0;
    if (status == 2) return 2;
    if (words[i][0] != '-') {
      if (*file) return fl_words_usage(FL_COMMAND_REPL);
      *file = words[i];
      continue;
    }
    int option = 0;
    size_t n = strcspn(words[i], "=");
    while (option < FL_N_OPTIONS && !(n == strlen(fl_option_info[option].name) + 2 &&
                                      strncmp(words[i] + 2, fl_option_info[option].name, n - 2) == 0))
      option++;
    if (option == FL_N_OPTIONS || option == FL_OPTION_VERSION)
      return fl_words_unknown(FL_COMMAND_REPL, words[i]);
    r->argv[r->argc++] = words[i];
    if (fl_option_info[option].value && !words[i][n] && i + 1 < n_words) r->argv[r->argc++] = words[++i];
  }
  return FL_WORDS_READ;
}

static void serve(Repl *r, const char *file) {
  fl_interrupts_take();
  fl_session_init(&r->session, r->folder);
  bool typed = fl_lines_typed(r->lines);
  if (typed) puts("flow; `:help` says what there is, Ctrl-D ends");
  if (file) do_load(r, file);
  while (!r->over) read_entry(r);
  if (typed && r->status != 130) r->status = 0;
  fl_session_reset(&r->session);
  empty_folder(r->folder);
  rmdir(r->folder);
  if (r->lock >= 0) close(r->lock);
}

int fl_command_repl(int n_words, char **words) {
  Repl r = {.argc = 1, .argv = calloc((size_t)n_words + 2, sizeof *r.argv)};
  r.lines = fl_lines_new((FlCompleter){&r, complete});
  const char *file = NULL;
  int status = 4;
  if (!r.argv || !r.lines) fputs("flowc: out of memory\n", stderr);
  else {
    r.argv[0] = FL_SESSION_TEXT;
    status = read_words(&r, n_words, words, &file);
  }
  if (status == FL_WORDS_READ) status = make_folder(&r) ? 0 : 4;
  else n_words = -1;
  if (!status && n_words >= 0) {
    serve(&r, file);
    status = r.status;
  }
  fl_lines_free(r.lines);
  free(r.argv);
  return status;
}
