/* exec.c: the operator exec: a program of the user's as an operator on tables.
 *
 * In: a command, a table (or none), files that the command depends on. Out: the table that the command wrote
 * on its standard output. What always holds: nothing runs unless the user allowed it; a program that fails,
 * or whose output is not such a table, is an error with what it said. */
#include "io/process.h"
#include "io/tables.h"
#include "data/data.h"
#include "exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { FL_E_REFUSED = 244, FL_E_FAILED = 245, FL_LABEL = 120, FL_SHOWN_LINES = 12 };

typedef struct Exec {
  FlCtx *ctx;
  int32_t site;
  char *command, label[FL_LABEL];
  const FlTablePrograms *format;
  FlTableWanted *wanted;
  FlTableColumn *columns;
  int32_t n_wanted, n_columns;
  int64_t n_rows; /* of the input; -1: no input */
} Exec;

/* ---- what is to be done ------------------------------------------------------------------------------- */

/* As ops.def lays out the attributes and arguments of exec. */
static FlStatus prepare(Exec *x, const FlOpDesc *desc, const FlSlot *args) {
  FlIoError e = {0};
  x->command = fl_input_path(args[0].t, &e);
  x->n_rows = args[1].i;
  x->n_wanted = (int32_t)desc->i;
  x->wanted = calloc((size_t)desc->n_columns + 1, sizeof *x->wanted);
  x->columns = calloc((size_t)desc->n_columns + 1, sizeof *x->columns);
  x->format = ((const FlTableReader *)desc->format)->programs;
  if (!x->command || !x->wanted || !x->columns)
    return fl_fail_text(x->ctx, x->site, FL_FAULT_MEMORY, "out of memory");
  for (int32_t k = 0; k < x->n_wanted; k++) x->wanted[k] = fl_table_wanted(&desc->columns[k]);
  const FlSlot *at = args + 2;
  for (int32_t k = x->n_wanted; k < desc->n_columns; k++)
    at = fl_table_column(&desc->columns[k], at, &x->columns[x->n_columns++]);
  (void)snprintf(x->label, sizeof x->label, "output of %.90s%s", x->command,
                 strlen(x->command) > 90 ? "..." : "");
  return 0;
}

static FlStatus refuse(const Exec *x) {
  FlStatus s = fl_fail_text(x->ctx, x->site, FL_CODE(FL_E_REFUSED),
                            "this script wants to run `%.200s`, which was not allowed", x->command);
  fl_fail_help(x->ctx, "look at what it does, and allow it by --allow-exec");
  return s;
}

/* ---- what came of it ---------------------------------------------------------------------------------- */

/* The last lines of what the program said, as a note; other control characters become spaces. */
static void note_messages(const Exec *x, char *said) {
  size_t len = strlen(said);
  while (len && (said[len - 1] == '\n' || said[len - 1] == ' ')) said[--len] = '\0';
  if (!len) return;
  char *from = said + len;
  for (int lines = 0; from > said; from--) {
    if (from[-1] == '\n' && ++lines == FL_SHOWN_LINES) break;
  }
  for (char *c = from; *c; c++)
    if (((unsigned char)*c < ' ' && *c != '\n') || *c == 127) *c = ' ';
  size_t n = strlen(from);
  for (size_t good; (good = (size_t)fl_utf8_check(from, (int64_t)n)) < n;) from[good] = '?';
  fl_fail_note(x->ctx, "it said: %s", from);
}

static FlStatus check_status(const Exec *x, FlProcess *p) {
  FlStatus s = 0;
  if (WIFSIGNALED(p->status))
    s = fl_fail_text(x->ctx, x->site, FL_CODE(FL_E_FAILED), "`%.200s` was ended by signal %d (%s)",
                     x->command, WTERMSIG(p->status), strsignal(WTERMSIG(p->status)));
  else if (WEXITSTATUS(p->status) != 0)
    s = fl_fail_text(x->ctx, x->site, FL_CODE(FL_E_FAILED), "`%.200s` ended with exit status %d", x->command,
                     WEXITSTATUS(p->status));
  if (s) note_messages(x, p->said);
  return s;
}

static FlStatus read_output(const Exec *x, FlProcess *p, int64_t *rows) {
  FlIoError e = {0};
  FlInput in;
  bool ok = fl_input_of_bytes(x->ctx, p->output.at, p->output.len, x->label, &in, &e);
  fl_bytes_reset(&p->output);
  ok = ok && x->format->read(x->ctx, &in, x->label, x->wanted, x->n_wanted, rows, &e);
  if (ok) return 0;
  if (e.code != FL_E_MEMORY && !e.help[0])
    fl_io_help(&e, "the program writes %s on its standard output, with a column for each field of the type",
               x->format->says);
  FlStatus s = fl_io_fail(x->ctx, x->site, &e, x->label, (int64_t)strlen(x->label));
  note_messages(x, p->said);
  return s;
}

/* ---- together ----------------------------------------------------------------------------------------- */

static FlStatus run(const Exec *x, int64_t *rows) {
  FlIoError e = {0};
  FlBytes input = fl_counted_bytes(fl_ctx_pool(x->ctx));
  FlProcess p = {.command = x->command, .output = fl_counted_bytes(fl_ctx_pool(x->ctx))};
  FlStatus s = 0;
  if (x->n_rows >= 0 && !x->format->write(x->ctx, x->columns, x->n_columns, x->n_rows, &input, &e))
    s = fl_io_fail(x->ctx, x->site, &e, x->label, (int64_t)strlen(x->label));
  p.input = (FlText){input.at, (int64_t)input.len};
  if (!s) s = fl_process_run(x->ctx, x->site, &p);
  fl_bytes_reset(&input);
  if (!s) s = check_status(x, &p);
  if (!s) s = read_output(x, &p, rows);
  fl_bytes_reset(&p.output);
  return s;
}

FlStatus fl_rt_exec(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  Exec x = {.ctx = ctx, .site = desc->site};
  int64_t rows = 0;
  FlStatus s = prepare(&x, desc, args);
  if (!s && !fl_ctx_may_exec(ctx)) s = refuse(&x);
  if (!s) s = fl_ctx_ask(ctx);
  if (!s) s = run(&x, &rows);
  if (!s) {
    FlSlot *to = results;
    (to++)->i = rows;
    for (int32_t k = 0; k < x.n_wanted; k++) {
      (to++)->a = x.wanted[k].values;
      if (x.wanted[k].nullable) (to++)->a = x.wanted[k].valid;
    }
  }
  free(x.command);
  free(x.wanted);
  free(x.columns);
  return s;
}
