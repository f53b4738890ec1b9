/* why.c: flowc why: which stages ran in the last run of a script, and what had changed since the run before.
 *
 * In: the record that a run leaves (exec/history.h). Out: a line a call. What always holds: a call is
 * compared with the call of the same stage in the run before that it shares most with, each of those being
 * used once. */
#include "tools/store_tools.h"

#include "exec/history.h"
#include "memo/memo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_ARGS = 256 };

typedef struct Call {
  const char *name, *how;
  const char *digests[1 + MOST_ARGS]; /* the stage's code, then its arguments */
  int n_digests;
  bool used; /* compared with already */
} Call;

typedef struct Calls {
  Call *at;
  int n;
} Calls;

/* Cuts a line of a record into words, in place. False: it is not such a line. */
static bool read_call(char *line, Call *out) {
  char *rest = line;
  *out = (Call){.name = strsep(&rest, " ")};
  out->how = strsep(&rest, " ");
  for (char *word; rest && out->n_digests < 1 + MOST_ARGS && (word = strsep(&rest, " "));)
    out->digests[out->n_digests++] = word;
  return out->how && out->n_digests > 0;
}

/* The calls in `text`, which is cut up. */
static Calls read_calls(char *text) {
  Calls calls = {0};
  int cap = 0;
  for (char *line; (line = strsep(&text, "\n"));) {
    if (calls.n == cap) {
      cap = cap ? cap * 2 : 64;
      Call *grown = realloc(calls.at, (size_t)cap * sizeof *grown);
      if (!grown) return calls;
      calls.at = grown;
    }
    if (read_call(line, &calls.at[calls.n])) calls.n++;
  }
  return calls;
}

/* How many of the digests agree; -1: not the same stage. */
static int agreement(const Call *a, const Call *b) {
  if (strcmp(a->name, b->name) != 0) return -1;
  int same = 0;
  for (int i = 0; i < a->n_digests && i < b->n_digests; i++)
    same += strcmp(a->digests[i], b->digests[i]) == 0;
  return same;
}

static Call *find_before(const Call *call, Calls before) {
  Call *best = NULL;
  int most = -1;
  for (int i = 0; i < before.n; i++) {
    int same = before.at[i].used ? -1 : agreement(call, &before.at[i]);
    if (same > most) {
      most = same;
      best = &before.at[i];
    }
  }
  if (best) best->used = true;
  return best;
}

static void print_reason(const Call *call, Calls before) {
  printf("%s: %s", call->name, call->how);
  if (strcmp(call->how, "cached") == 0) {
    puts(", its code and arguments are known");
    return;
  }
  const Call *old = find_before(call, before);
  if (!old) {
    puts(before.n ? ", the run before did not call it so often" : ", there was no run before");
    return;
  }
  const char *joint = ", ";
  if (strcmp(old->digests[0], call->digests[0]) != 0) {
    printf("%sits code changed, or that of what it calls", joint);
    joint = "; ";
  }
  for (int i = 1; i < call->n_digests && i < old->n_digests; i++) {
    if (strcmp(old->digests[i], call->digests[i]) == 0) continue;
    printf("%sargument %d changed", joint, i);
    joint = "; ";
  }
  if (call->n_digests != old->n_digests) {
    printf("%sit has %d arguments and had %d", joint, call->n_digests - 1, old->n_digests - 1);
    joint = "; ";
  }
  if (joint[0] == ',') {
    const bool had_failed = strcmp(old->how, "failed") == 0;
    printf(had_failed ? ", the same call failed before"
                      : ", nothing changed, but its result was not in the store");
  }
  putchar('\n');
}

/* The calls that were remembered are paired with their equals of the run before, so that no changed call is
 * compared with one of those. */
static void pair_exact(Calls now, Calls before) {
  for (int i = 0; i < now.n; i++) {
    if (strcmp(now.at[i].how, "cached") != 0) continue;
    for (int k = 0; k < before.n; k++)
      if (!before.at[k].used && before.at[k].n_digests == now.at[i].n_digests &&
          agreement(&now.at[i], &before.at[k]) == now.at[i].n_digests) {
        before.at[k].used = true;
        break;
      }
  }
}

static int explain(char *text, const char *stage) {
  char *last = text + strlen(FL_HISTORY_HEAD);
  char *mark = strstr(last, FL_HISTORY_BEFORE);
  if (mark) *mark = '\0';
  Calls now = read_calls(last);
  Calls before = mark ? read_calls(mark + strlen(FL_HISTORY_BEFORE)) : (Calls){0};
  pair_exact(now, before);
  int shown = 0;
  for (int i = 0; i < now.n; i++) {
    if (stage && strcmp(now.at[i].name, stage) != 0) continue;
    print_reason(&now.at[i], before);
    shown++;
  }
  if (!shown && stage) {
    fprintf(stderr, "flowc why: the last run called no stage `%s`", stage);
    const char *names = " (it called";
    for (int i = 0; i < now.n; i++) {
      bool seen = false;
      for (int k = 0; k < i; k++) seen |= strcmp(now.at[i].name, now.at[k].name) == 0;
      if (seen) continue;
      fprintf(stderr, "%s %s", names, now.at[i].name);
      names = "";
    }
    fputs(now.n ? ")\n" : "\n", stderr);
  }
  free(now.at);
  free(before.at);
  return shown ? 0 : 1;
}

static const char label_start[] = "stages of ";

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
  FlMemo *memo = fl_memo_open(&(FlMemoOptions){.dir = dir});
  Latest latest = {0};
  char *name = NULL;
  if (memo && script) name = fl_history_name(script);
  if (memo && !script) {
    fl_memo_list(memo, keep_latest, &latest);
    name = latest.label[0] ? strdup(latest.label) : NULL;
  }
  FlMemoEntry *record = name ? fl_memo_record_get(memo, name) : NULL;
  status = 1;
  char *text = NULL;
  if (record && record->bytes >= (int64_t)strlen(FL_HISTORY_HEAD) &&
      memcmp(record->payload, FL_HISTORY_HEAD, strlen(FL_HISTORY_HEAD)) == 0)
    text = strndup(record->payload, (size_t)record->bytes);
  if (text) {
    if (!script) printf("%s\n", name);
    status = explain(text, stage);
  } else {
    fprintf(stderr, "flowc why: no run%s%s is remembered in %s\n", script ? " of " : "", script ? script : "",
            dir);
  }
  free(text);
  fl_memo_unref(record);
  free(name);
  fl_memo_close(memo);
  return status;
}
