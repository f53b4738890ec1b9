/* command_line.c: the command line of a built program and of `flowc run`.
 *
 * In: argv. Out: the options of every program, and the texts given for the script's parameters (params.c
 * reads those). Forms: --name VALUE, --name=VALUE, and for flags and bool parameters --name alone. A `-` in a
 * name may be written for `_`. A word behind --name that looks like an option is no value: --name=-x is how
 * to give it. Everything that is wrong is a message with the closest name, and exit status 2. */
#include "exec/command_line.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const FlOptionInfo fl_option_info[FL_N_OPTIONS] = {
#define FL_OPTION(NAME, text, value, help) [FL_OPTION_##NAME] = {text, value, help},
    FL_EACH_OPTION(FL_OPTION)
#undef FL_OPTION
};

int fl_usage_error(const char *program, const char *help, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  fprintf(stderr, "%s: error: ", program);
  vfprintf(stderr, fmt, args);
  va_end(args);
  fputc('\n', stderr);
  if (help) fprintf(stderr, "  help: %s\n", help);
  return 2;
}

static bool same_name(const char *given, size_t len, const char *name) {
  if (strlen(name) != len) return false;
  for (size_t i = 0; i < len; i++)
    if (given[i] != name[i] && !(given[i] == '-' && name[i] == '_')) return false;
  return true;
}

static int find_param(const FlProgram *p, const char *name, size_t len) {
  for (int32_t i = 0; i < p->n_params; i++)
    if (same_name(name, len, p->params[i].name)) return i;
  return -1;
}

static int find_option(const char *name, size_t len) {
  for (int i = 0; i < FL_N_OPTIONS; i++)
    if (strlen(fl_option_info[i].name) == len && !memcmp(fl_option_info[i].name, name, len)) return i;
  return -1;
}

static int unknown_option(const FlProgram *p, const char *program, const char *name, size_t len) {
  const char **names = calloc((size_t)p->n_params + FL_N_OPTIONS, sizeof *names);
  char *given = strndup(name, len), help[256];
  const char *near = NULL;
  if (names && given) {
    for (int32_t i = 0; i < p->n_params; i++) names[i] = p->params[i].name;
    for (int i = 0; i < FL_N_OPTIONS; i++) names[p->n_params + i] = fl_option_info[i].name;
    near = fl_closest_name(given, names, p->n_params + FL_N_OPTIONS);
  }
  if (near) snprintf(help, sizeof help, "did you mean `--%s`?", near);
  else snprintf(help, sizeof help, "`%s --help` lists what there is", program);
  int status = fl_usage_error(program, help, "there is no option `--%.*s`", (int)len, name);
  free(names);
  free(given);
  return status;
}

static bool read_count(const char *text, int *out) {
  char *end;
  long v = strtol(text, &end, 10);
  if (*end || end == text || v < 1 || v > FL_SCHED_MAX) return false;
  *out = (int)v;
  return true;
}

static bool read_size(const char *text, int64_t *out) {
  char *end;
  double v = strtod(text, &end);
  if (end == text || !(v > 0)) return false;
  static const char units[] = "KMGT";
  const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
  if (unit && *unit) {
    for (const char *u = units; u <= unit; u++) v *= 1024;
    end++;
    if (*end == 'i' || *end == 'I') end++;
  }
  if (*end == 'B' || *end == 'b') end++;
  if (*end || v < 1 || v > 9e18) return false;
  *out = (int64_t)v;
  return true;
}

static int set_option(FlCommandLine *c, FlOption option, const char *program, const char *value) {
  switch (option) {
  case FL_OPTION_HELP: c->help = true; break;
  case FL_OPTION_VERSION: c->version = true; break;
  case FL_OPTION_NO_CACHE: c->no_cache = true; break;
  case FL_OPTION_QUIET: c->quiet = true; break;
  case FL_OPTION_ALLOW_EXEC: c->allow_exec = true; break;
  case FL_OPTION_CACHE: c->cache = value; break;
  case FL_OPTION_REPORT: c->report = value; break;
  case FL_OPTION_TRACE: c->trace = value; break;
  case FL_OPTION_WORKERS:
    if (!read_count(value, &c->workers))
      return fl_usage_error(program, "for example --workers 4",
                            "`--workers` takes a number from 1 to %d, not `%s`", FL_SCHED_MAX, value);
    break;
  case FL_OPTION_RANKS:
    if (!read_count(value, &c->ranks))
      return fl_usage_error(program, "for example --ranks 4",
                            "`--ranks` takes a number from 1 to %d, not `%s`", FL_SCHED_MAX, value);
    break;
  case FL_OPTION_HOSTS: c->hosts = value; break;
  case FL_OPTION_MEMORY:
    if (!read_size(value, &c->memory))
      return fl_usage_error(program, "for example --memory 8G", "`--memory` takes a size, not `%s`", value);
    break;
  case FL_N_OPTIONS: break;
  }
  return 0;
}

bool fl_word_is_option(const char *word) {
  return word[0] == '-' && word[1] && !strchr("0123456789.", word[1]) && strcmp(word, "-inf") != 0;
}

/* No value stands behind the option. */
static int needs_value(const char *program, const char *arg, const char *next) {
  char help[256];
  snprintf(help, sizeof help, "a value that looks like an option is written `%s=VALUE`", arg);
  if (!next) return fl_usage_error(program, help, "`%s` needs a value after it", arg);
  snprintf(help, sizeof help, "if that is the value, write `%s=%s`", arg, next);
  return fl_usage_error(program, help, "`%s` needs a value after it, and `%s` looks like an option", arg,
                        next);
}

int fl_command_line_read(const FlProgram *p, int argc, char **argv, FlCommandLine *c) {
  const char *program = argv[0];
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i], *name = arg + 2;
    if (!strcmp(arg, "-h")) arg = "--help", name = arg + 2;
    if (!strcmp(arg, "-q")) arg = "--quiet", name = arg + 2;
    if (strncmp(arg, "--", 2) || !*name) {
      char help[128];
      snprintf(help, sizeof help, "values are given by name, as in `--%s VALUE`",
               p->n_params ? p->params[0].name : "workers");
      return fl_usage_error(program, help, "`%s` is not an option", arg);
    }
    const char *equals = strchr(name, '='), *value = equals ? equals + 1 : NULL;
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    int param = find_param(p, name, len), option = param < 0 ? find_option(name, len) : -1;
    if (param < 0 && option < 0) return unknown_option(p, program, name, len);
    bool is_switch = param >= 0 ? p->params[param].t.dtype == FL_BOOL && !p->params[param].t.rank
                                : !fl_option_info[option].value;
    const char *next = i + 1 < argc ? argv[i + 1] : NULL;
    if (!value && param >= 0 && is_switch) {
      bool said = next && (!strcmp(next, "true") || !strcmp(next, "false") || !strcmp(next, "null"));
      value = said ? argv[++i] : "true";
    } else if (!value && !is_switch) {
      if (!next || fl_word_is_option(next)) return needs_value(program, arg, next);
      value = argv[++i];
    } else if (value && is_switch && option >= 0) {
      return fl_usage_error(program, NULL, "`--%.*s` takes no value", (int)len, name);
    }
    if (param >= 0) {
      if (c->values[param])
        return fl_usage_error(
            program,
            p->params[param].t.rank ? "the values of a list stand in one, with commas between" : NULL,
            "`--%s` is given twice", p->params[param].name);
      c->values[param] = value;
    } else {
      int status = set_option(c, (FlOption)option, program, value);
      if (status) return status;
    }
  }
  if (c->hosts && c->ranks)
    return fl_usage_error(program, "a host that is named twice has two ranks: --hosts a:4,a:4,b:8",
                          "`--hosts` says how many ranks there are, and `--ranks` as well");
  return 0;
}

/* ---- the usage page ------------------------------------------------------------------------------------ */

static void put_entry(const char *name, const char *value, const char *help, const char *fallback,
                      bool required) {
  char left[160];
  int n = snprintf(left, sizeof left, "--%s%s%s", name, value ? " " : "", value ? value : "");
  printf("  %-26s", left);
  if (n > 26) printf("\n  %-26s", "");
  printf(" %s", help);
  if (fallback) printf("%s(default %s)", *help ? " " : "", fallback);
  if (required) printf("%s(required)", *help ? " " : "");
  putchar('\n');
}

void fl_command_line_help(const FlProgram *p, const char *name) {
  printf("usage: %s [--name VALUE ...]\n", name);
  if (p->doc && *p->doc) printf("\n%s\n", p->doc);
  if (p->n_params) printf("\nparameters\n");
  for (int32_t i = 0; i < p->n_params; i++) {
    const FlParam *q = &p->params[i];
    put_entry(q->name, q->type, q->help ? q->help : "", q->default_text, !q->default_text);
  }
  printf("\noptions of every flow program\n");
  for (int i = 0; i < FL_N_OPTIONS; i++)
    put_entry(fl_option_info[i].name, fl_option_info[i].value, fl_option_info[i].help, NULL, false);
  printf("\nexit status: 0 done, 1 the script failed, 2 wrong usage, 4 out of memory or disk, 70 a bug in "
         "flow, 128 + N ended by signal N (129 HUP, 130 INT, 140 USR2, 141 PIPE, 143 TERM, 152 XCPU)\n");
}

void fl_command_line_version(const FlProgram *p) {
  const char *line = p->about ? strchr(p->about, '\n') : NULL; /* behind the mark */
  fputs(line ? line + 1 : "", stdout);
}
