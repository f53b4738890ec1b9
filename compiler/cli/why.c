/* why.c: flowc why: which stages ran in the last run of a script, and what had changed since the run before.
 *
 * In: the record that a run leaves (report/record.h). Out: a line a call. What always holds: a call is
 * compared with the call of the same stage in the run before that it shares most with, each of those being
 * used once. */
#include "cli/store_tools.h"

#include "exec/last_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const FlRecordMade *find_made(const FlRecordCalls *calls, const char *stage) {
  for (int i = 0; i < calls->n_made; i++)
    if (strcmp(calls->made[i].stage, stage) == 0) return &calls->made[i];
  return NULL;
}

static const char *digest_of(const FlRecordMade *m, const char *name) {
  for (int i = 0; i < m->n; i++)
    if (strcmp(m->functions[i].name, name) == 0) return m->functions[i].value;
  return NULL;
}

/* What changed in the code of a stage; false: it is not known. */
static bool print_changed(const FlRecordStage *call, const FlRecord *r) {
  const FlRecordMade *is = find_made(&r->now, call->name), *was = find_made(&r->before, call->name);
  if (!is || !was) return false;
  const char *joint = ", ";
  for (int i = 0; i < is->n; i++) {
    const char *name = is->functions[i].name, *old = digest_of(was, name);
    if (old && strcmp(old, is->functions[i].value) == 0) continue;
    size_t n = strcspn(name, " ");
    if (i == 0) printf("%sits code changed", joint); /* the stage itself is the first */
    else if (old) printf("%s`%.*s`%s changed", joint, (int)n, name, name + n);
    else printf("%sit calls `%.*s`%s now", joint, (int)n, name, name + n);
    joint = "; ";
  }
  for (int i = 0; i < was->n; i++) {
    const char *name = was->functions[i].name;
    if (digest_of(is, name)) continue;
    size_t n = strcspn(name, " ");
    printf("%sit does not call `%.*s`%s any longer", joint, (int)n, name, name + n);
    joint = "; ";
  }
  return joint[0] == ';';
}

/* How many of the digests agree; -1: not the same stage. */
static int agreement(const FlRecordStage *a, const FlRecordStage *b) {
  if (strcmp(a->name, b->name) != 0) return -1;
  int same = strcmp(a->code, b->code) == 0;
  for (int i = 0; i < a->n_args && i < b->n_args; i++)
    same += strcmp(a->args[i].digest, b->args[i].digest) == 0;
  return same;
}

/* The call of the run before that is most like it; `used` says which are taken. */
static const FlRecordStage *find_before(const FlRecordStage *call, const FlRecordCalls *before, bool *used) {
  int best = -1, most = -1;
  for (int i = 0; i < before->n_stages; i++) {
    int same = used[i] ? -1 : agreement(call, &before->stages[i]);
    if (same > most) {
      most = same;
      best = i;
    }
  }
  if (best < 0) return NULL;
  used[best] = true;
  return &before->stages[best];
}

/* Which arguments are other ones; says whether any is. */
static bool print_arguments(const FlRecordStage *call, const FlRecordStage *old, const char *joint) {
  int said = -2;
  for (int i = 0; i < call->n_args && i < old->n_args; i++) {
    const FlRecordArg *is = &call->args[i], *was = &old->args[i];
    if (strcmp(was->digest, is->digest) == 0) continue;
    bool named = is->name && was->name && strcmp(is->name, was->name) == 0;
    bool again = named && i > 0 && call->args[i - 1].name && strcmp(is->name, call->args[i - 1].name) == 0 &&
                 said == i - 1;
    said = i;
    if (again) continue; /* another part of the same value */
    if (named && is->value && was->value) printf("%s%s: %s -> %s", joint, is->name, was->value, is->value);
    else if (named) printf("%s`%s` changed", joint, is->name);
    else printf("%sargument %d changed", joint, i + 1);
    joint = "; ";
  }
  if (call->n_args != old->n_args)
    printf("%sit has %d arguments and had %d", joint, call->n_args, old->n_args);
  return joint[0] == ';' || call->n_args != old->n_args;
}

/* Whether the last run, or the one `back` before it, was interrupted. */
static bool was_stopped(const FlRecord *r, int back) {
  return back < r->n_runs && strcmp(r->runs[back].state, "stopped") == 0;
}

/* Of a result that is not in the store: why. */
static const char *not_kept(const FlRecord *r, const FlRecordStage *old) {
  if (strcmp(old->how, "failed") == 0 && was_stopped(r, 1)) return ", the run before was interrupted";
  if (strcmp(old->how, "failed") == 0) return ", the same call failed before";
  if (strcmp(old->kept, "cheap") == 0) return ", it was too cheap to keep: made faster than it is read back";
  if (strcmp(old->kept, "changed") == 0) return ", a file that it read changed during the run before";
  if (strcmp(old->kept, "never") == 0) return ", it is declared as never remembered";
  return ", nothing changed, but its result was not in the store";
}

/* What will become of the next call. */
static void end_reason(const FlRecordStage *call) {
  bool cheap = strcmp(call->how, "run") == 0 && strcmp(call->kept, "cheap") == 0;
  puts(cheap ? "; its result is too cheap to keep" : "");
}

static void print_reason(const FlRecordStage *call, const FlRecord *r, bool *used) {
  if (strcmp(call->how, "failed") == 0 && was_stopped(r, 0)) {
    printf("%s: interrupted\n", call->name);
    return;
  }
  printf("%s: %s", call->name, call->how);
  if (strcmp(call->how, "cached") == 0) {
    puts(", its code and arguments are known");
    return;
  }
  if (strcmp(call->how, "running") == 0) {
    puts(" when the run ended");
    return;
  }
  const FlRecordStage *old = find_before(call, &r->before, used);
  if (!old) {
    fputs(r->before.n_stages ? ", the run before did not call it so often" : ", there was no run before",
          stdout);
    end_reason(call);
    return;
  }
  bool changed = strcmp(old->code, call->code) != 0;
  if (changed && !print_changed(call, r)) fputs(", its code changed, or that of what it calls", stdout);
  changed |= print_arguments(call, old, changed ? "; " : ", ");
  fputs(changed ? "" : not_kept(r, old), stdout);
  end_reason(call);
}

const FlRecordStage *fl_why_first(const FlRecord *r) {
  const FlRecordStage *first = NULL;
  bool *used = calloc((size_t)r->before.n_stages + 1, sizeof *used);
  for (int i = 0; used && i < r->now.n_stages; i++) {
    const FlRecordStage *now = &r->now.stages[i];
    int k = 0;
    while (k < r->before.n_stages && (used[k] || r->before.stages[k].n_args != now->n_args ||
                                      agreement(now, &r->before.stages[k]) != now->n_args + 1))
      k++;
    if (k < r->before.n_stages) used[k] = true;
    else if (!first) first = now;
  }
  if (first) {
    const FlRecordStage *old = find_before(first, &r->before, used);
    printf("first stage that differs: %s, line %d", first->name, first->line);
    bool changed = old && strcmp(old->code, first->code) != 0;
    if (!old) fputs(", which was not called so often", stdout);
    else if (changed && !print_changed(first, r))
      fputs(", its code changed, or that of what it calls", stdout);
    if (old) print_arguments(first, old, changed ? "; " : ", ");
    fputc('\n', stdout);
  }
  free(used);
  return first;
}

/* The calls that were remembered are paired with their equals of the run before, so that no changed call is
 * compared with one of those. */
static void pair_exact(const FlRecord *r, bool *used) {
  for (int i = 0; i < r->now.n_stages; i++) {
    const FlRecordStage *now = &r->now.stages[i];
    if (strcmp(now->how, "cached") != 0) continue;
    for (int k = 0; k < r->before.n_stages; k++) {
      const FlRecordStage *old = &r->before.stages[k];
      if (used[k] || old->n_args != now->n_args || agreement(now, old) != now->n_args + 1) continue;
      used[k] = true;
      break;
    }
  }
}

static void say_no_call(const FlRecord *r, const char *stage) {
  fprintf(stderr, "flowc why: the last run called no stage `%s`", stage);
  const char *names = " (it called";
  for (int i = 0; i < r->now.n_stages; i++) {
    bool seen = false;
    for (int k = 0; k < i; k++) seen |= strcmp(r->now.stages[k].name, r->now.stages[i].name) == 0;
    if (seen) continue;
    fprintf(stderr, "%s %s", names, r->now.stages[i].name);
    names = "";
  }
  fputs(r->now.n_stages ? ")\n" : "\n", stderr);
}

static int explain(const FlRecord *r, const char *stage) {
  const FlRecordSum *run = &r->runs[0];
  if (was_stopped(r, 0)) printf("the last run was interrupted after %.3g s\n", (double)run->ns * 1e-9);
  if (strcmp(run->state, "running") == 0)
    printf("the last run has not ended, or was killed: what is known of it is of its first %.3g s\n",
           (double)run->ns * 1e-9);
  bool *used = calloc((size_t)r->before.n_stages + 1, sizeof *used);
  if (!used) return fputs("flowc: out of memory\n", stderr), 4;
  pair_exact(r, used);
  int shown = 0;
  for (int i = 0; i < r->now.n_stages; i++) {
    if (stage && strcmp(r->now.stages[i].name, stage) != 0) continue;
    print_reason(&r->now.stages[i], r, used);
    shown++;
  }
  free(used);
  if (!shown && stage) say_no_call(r, stage);
  if (!shown && !stage) puts("the last run called no stages");
  return shown || !stage ? 0 : 1;
}

static const char label_start[] = FL_LAST_RUN_NAME;

typedef struct Latest {
  char label[sizeof((FlMemoInfo *)0)->label];
  int64_t created;
} Latest;

static void keep_latest(void *arg, const FlMemoInfo *info) {
  Latest *latest = arg;
  if (!info->is_record || strncmp(info->label, label_start, strlen(label_start)) != 0) return;
  if (latest->label[0] && latest->created >= info->created) return;
  memcpy(latest->label, info->label, sizeof latest->label);
  latest->created = info->created;
}

/* A script, or a binary that was built of one. */
static bool is_script(const char *word) {
  size_t n = strlen(word);
  struct stat st;
  return (n > 5 && strcmp(word + n - 5, ".flow") == 0) || (stat(word, &st) == 0 && S_ISREG(st.st_mode));
}

int fl_tool_why(int n_words, char **words) {
  FlWords w;
  char dir[4096];
  int status = fl_words_read(FL_COMMAND_WHY, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  const char *script = w.n_operands > 0 && is_script(w.operands[0]) ? w.operands[0] : NULL;
  const char *stage = w.n_operands > (script != NULL) ? w.operands[script != NULL] : NULL;
  if (w.n_operands > (script != NULL) + (stage != NULL)) return fl_words_usage(FL_COMMAND_WHY);
  status = fl_store_place(&w, "why", script, dir, sizeof dir);
  if (status) return status;
  FlMemo *memo = fl_memo_open(&(FlMemoOptions){.dir = dir, .look = true});
  Latest latest = {0};
  if (memo && !script) fl_memo_list(memo, keep_latest, &latest);
  const char *of = script ? script : latest.label[0] ? latest.label + strlen(label_start) : NULL;
  FlRecord *record = memo && of ? fl_last_run_read(memo, of) : NULL;
  status = 1;
  if (record) {
    if (!script) printf("%s\n", latest.label);
    status = explain(record, stage);
  } else {
    fprintf(stderr, "flowc why: no run%s%s is remembered in %s\n", script ? " of " : "", script ? script : "",
            dir);
  }
  fl_record_free(record);
  fl_memo_close(memo);
  return status;
}
