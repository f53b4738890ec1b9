/* error.c: records what went wrong in a context.
 *
 * In: a context, a site, what failed. Out: the first error of the context, to be shown by error_print.c.
 * What always holds: a context keeps its first error; recording never fails (without memory the message is a
 * fixed text). */
#include "exec/exec_internal.h"
#include "kern/regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct FlFaultRow {
  const char *code, *message;
} FlFaultRow;

enum { FL_N_FAULT_BITS = 31 };

static const FlFaultRow fault_rows[FL_N_FAULT_BITS] = {
#define FL_FAULT(NAME, bit, code, msg) [bit] = {#code, msg},
#include "flow/faults.def"
#undef FL_FAULT
};

/* The lowest fault of a mask; several bits of one operation are reported as one. */
static const FlFaultRow *fault_row(int32_t fault) {
  for (int bit = 0; bit < FL_N_FAULT_BITS; bit++)
    if (fault >> bit & 1 && fault_rows[bit].message) return &fault_rows[bit];
  return NULL;
}

static int status_of(int code) {
  if (code == FL_FAULT_MEMORY || code == FL_CODE_RESOURCE) return 4;
  if (code == FL_CODE_INTERNAL) return 70;
  if (code == FL_CODE_STOPPED) return 130;
  return 1;
}

static int number_of(int code) {
  if (code >= FL_CODE(0)) return code - FL_CODE(0);
  const FlFaultRow *row = fault_row(code);
  return row ? atoi(row->code + 1) : 0;
}

/* Where there is no memory for the error itself: the message of every such error. Not freed, not written to.
 */
static const char no_memory_text[] = "out of memory";

FlError *fl_error_copy(const FlError *from) {
  FlError *e = malloc(sizeof *e);
  if (!e) return NULL;
  *e = *from;
  e->n_notes = 0;
  e->help = from->help ? strdup(from->help) : NULL;
  if (!(e->message = strdup(from->message))) e->message = (char *)(uintptr_t)no_memory_text;
  for (int i = 0; i < from->n_notes; i++)
    if ((e->notes[e->n_notes] = strdup(from->notes[i]))) e->n_notes++;
  return e;
}

void fl_error_free(FlError *e) {
  if (!e) return;
  if (e->message != no_memory_text) free(e->message);
  free(e->help);
  for (int i = 0; i < e->n_notes; i++) free(e->notes[i]);
  free(e);
}

FlStatus fl_fail_v(FlCtx *ctx, int32_t site, int code, const char *fmt, va_list args) {
  if (!ctx) return 1;
  if (ctx->error) return ctx->error->status;
  if (code != FL_FAULT_MEMORY && fl_pool_gave_up(fl_ctx_pool(ctx))) {
    fl_pool_gave_up_why(ctx); /* what is said now would be of values that are not whole */
    return ctx->error ? ctx->error->status : FL_STATUS_MEMORY;
  }
  FlError *e = calloc(1, sizeof *e);
  if (!e) { /* without an error: fl_run_main says what there was not */
    fl_pool_give_up(fl_ctx_pool(ctx), (int64_t)sizeof *e);
    return FL_STATUS_MEMORY;
  }
  *e = (FlError){.number = number_of(code), .site = site, .status = status_of(code), .order = ctx->n_started};
  if (vasprintf(&e->message, fmt, args) < 0) e->message = (char *)(uintptr_t)no_memory_text;
  ctx->error = e;
  return e->status;
}

FlStatus fl_fail_text(FlCtx *ctx, int32_t site, int code, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  FlStatus s = fl_fail_v(ctx, site, code, fmt, args);
  va_end(args);
  return s;
}

void fl_fail_note(FlCtx *ctx, const char *fmt, ...) {
  if (!ctx || !ctx->error || ctx->error->n_notes == FL_MAX_NOTES) return;
  char *text = NULL;
  va_list args;
  va_start(args, fmt);
  if (vasprintf(&text, fmt, args) >= 0) ctx->error->notes[ctx->error->n_notes++] = text;
  va_end(args);
}

void fl_fail_help(FlCtx *ctx, const char *fmt, ...) {
  if (!ctx || !ctx->error) return;
  char *text = NULL;
  va_list args;
  va_start(args, fmt);
  if (vasprintf(&text, fmt, args) >= 0) {
    free(ctx->error->help);
    ctx->error->help = text;
  }
  va_end(args);
}

void fl_ctx_out_of_memory(FlCtx *ctx, const char *message, const char *help) {
  if (!ctx || ctx->error) return;
  fl_fail_text(ctx, -1, FL_FAULT_MEMORY, "%s", message);
  if (help) fl_fail_help(ctx, "%s", help);
}

FlStatus fl_fail_through(FlCtx *ctx, FlStatus status, int32_t site) {
  if (ctx && ctx->error) fl_error_through(ctx->error, fl_ctx_program(ctx), site);
  return status;
}

void fl_fail_place(FlCtx *ctx, int32_t site) {
  if (ctx && ctx->error) fl_error_place(ctx->error, fl_ctx_program(ctx), site);
}

void fl_fail_position(FlCtx *ctx, int32_t n_index, const int64_t *index) {
  if (!ctx || !ctx->error || n_index > FL_MAX_RANK) return;
  ctx->error->n_index = n_index;
  memcpy(ctx->error->index, index, (size_t)n_index * sizeof *index);
}

void fl_fail_position_settle(FlCtx *ctx) {
  if (!ctx || !ctx->error || !ctx->error->n_index) return;
  const FlError *e = ctx->error;
  char at[24 * FL_MAX_RANK] = "";
  size_t len = 0;
  for (int k = 0; k < e->n_index; k++)
    len += (size_t)snprintf(at + len, sizeof at - len, "%s%lld", k ? ", " : "", (long long)e->index[k]);
  fl_fail_note(ctx, e->n_index > 1 ? "at position [%s]" : "at position %s", at);
  ctx->error->n_index = 0;
}

void fl_fail_datum(FlCtx *ctx, const char *file, int64_t row, const char *column, const char *value,
                   int64_t len) {
  char where[64] = "", in_column[160] = "", shown[FL_SHOWN + 16] = "", quoted[FL_SHOWN];
  if (row > 0) snprintf(where, sizeof where, "%srow %lld", file ? ", " : "", (long long)row);
  if (column) snprintf(in_column, sizeof in_column, "%scolumn `%s`", file || row > 0 ? ", " : "", column);
  if (value)
    snprintf(shown, sizeof shown, ": the value is %s",
             fl_show_scalar(quoted, FL_TEXT, (FlSlot){.t = {value, len}}));
  fl_fail_note(ctx, "%s%s%s%s", file ? file : "", where, in_column, shown);
}

void fl_fail_forget(FlCtx *ctx) {
  if (!ctx) return;
  fl_error_free(ctx->error);
  ctx->error = NULL;
}

bool fl_ctx_asks_elsewhere(const FlCtx *ctx) {
  return ctx->error && ctx->error->number == FL_CODE_ELSEWHERE - FL_CODE(0);
}

bool fl_ctx_failed(const FlCtx *ctx) { return ctx && ctx->error; }
const char *fl_ctx_message(const FlCtx *ctx) { return ctx && ctx->error ? ctx->error->message : NULL; }
int fl_ctx_code(const FlCtx *ctx) { return ctx && ctx->error ? ctx->error->number : 0; }

void fl_error_move(FlCtx *to, FlCtx *from) {
  if (!to->error) {
    to->error = from->error;
    if (to->error) to->error->order = to->n_started;
    from->error = NULL;
  }
}

bool fl_ctx_is_stopped(const FlCtx *ctx) {
  if (ctx && ctx->run && ctx->run->tried_until) fl_run_look(ctx->run);
  return ctx && ctx->run &&
         (atomic_load_explicit(&ctx->run->stop, memory_order_relaxed) != 0 ||
          fl_pool_gave_up(ctx->run->pool));
}

void fl_ctx_stop(FlCtx *ctx, int signal) {
  if (ctx && ctx->run) fl_run_stop(ctx->run, signal);
}

FlStatus fl_fail_stopped(FlCtx *ctx) { return fl_fail_text(ctx, -1, FL_CODE_STOPPED, "interrupted"); }

/* Is an operand named at p: {a}, {b}, or {b:TYPE} where it is not of the type of the first? Its length. */
static size_t named_operand(const char *p, int32_t *type) {
  const char *end = p[0] == '{' && (p[1] == 'a' || p[1] == 'b') ? strchr(p, '}') : NULL;
  if (!end || (p[2] != '}' && p[2] != ':')) return 0;
  FlDtype own;
  if (p[2] == ':' && fl_dtype_named(p + 3, (size_t)(end - p - 3), &own)) *type = (int32_t)own;
  return (size_t)(end - p + 1);
}

/* Replaces {a} and {b}, each at most once, by the operands as people read them. A text is itself. */
static char *expand(const char *message, int32_t type, FlSlot a, FlSlot b) {
  char shown[FL_SHOWN];
  char *out = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&out, &size);
  if (!f) return NULL;
  for (const char *p = message; *p; p++) {
    int32_t of = type;
    size_t name = named_operand(p, &of);
    if (!name) {
      fputc(*p, f);
      continue;
    }
    FlSlot value = p[1] == 'a' ? a : b;
    if (type == FL_TEXT && !strcmp(message, "{a}")) {
      fwrite(value.t.ptr ? value.t.ptr : "", 1, (size_t)value.t.len, f);
    } else if (type < 0) {
      fputs("a value", f);
    } else {
      fputs(fl_show_scalar(shown, of, value), f);
    }
    p += name - 1;
  }
  fclose(f);
  return out;
}

/* Why the text is not a regular expression. */
static void explain_pattern(FlCtx *ctx, FlText pattern) {
  FlRegexError error;
  if (!fl_regex_check || fl_regex_check(pattern.ptr, pattern.len, &error)) return;
  fl_fail_note(ctx, "%s, at byte %lld of the pattern", error.why, (long long)error.at);
}

FlStatus fl_fail(FlCtx *ctx, int32_t fault, int32_t site, int32_t type, FlSlot a, FlSlot b) {
  const FlFaultRow *row = fault_row(fault);
  const FlProgram *program = fl_ctx_program(ctx);
  const FlSite *at = program && site >= 0 && site < program->n_sites ? &program->sites[site] : NULL;
  const char *own = at && (at->faults & fault) ? at->message : NULL;
  /* A text operand is the message itself (error("..."), assert c, "..."). */
  const char *pattern = own && *own ? own : row ? row->message : "something went wrong";
  if (type == FL_TEXT && (fault & (FL_FAULT_ERROR | FL_FAULT_ASSERT)) && a.t.ptr &&
      !(own && strstr(own, "{a}")))
    pattern = "{a}";
  char *message = expand(pattern, type, a, b);
  FlStatus s = fl_fail_text(ctx, site, fault, "%s", message ? message : "out of memory");
  free(message);
  if ((fault & FL_FAULT_PATTERN) && type == FL_TEXT) explain_pattern(ctx, b.t);
  return s;
}
