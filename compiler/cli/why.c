/* why.c: flowc why: which stages ran in the last run of a script, and what had changed since the run before.
 *
 * In: the record that a run leaves (exec/history.h). Out: a line a call. What always holds: a call is
 * compared with the call of the same stage in the run before that it shares most with, each of those being
 * used once. */
#include "cli/store_tools.h"

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
  const char *names[1 + MOST_ARGS], *values[1 + MOST_ARGS]; /* of arguments, or NULL */
  int n_digests;
  bool used; /* compared with already */
} Call;

enum { MOST_SOURCES = 512 };

/* The functions that a stage is made of: "name (file)", digest. */
typedef struct Sources {
  const char *stage;
  const char *names[MOST_SOURCES], *digests[MOST_SOURCES];
  int n;
} Sources;

typedef struct Calls {
  Call *at;
  int n;
  Sources *sources;
  int n_sources;
} Calls;

/* %20 as the byte it stands for, in place. */
static char *plain(char *word) {
  char *to = word;
  for (const char *at = word; *at; at++) {
    unsigned byte;
    if (*at == '%' && sscanf(at + 1, "%2x", &byte) == 1) {
      *to++ = (char)byte;
      at += 2;
    } else {
      *to++ = *at;
    }
  }
  *to = '\0';
  return word;
}

/* An argument's digest, and what it is called. */
static void read_argument(char *word, Call *out) {
  char *rest = word, *name;
  int i = out->n_digests++;
  out->digests[i] = strsep(&rest, ":");
  if (!rest) return;
  name = strsep(&rest, "=");
  out->names[i] = plain(name);
  if (rest) out->values[i] = plain(rest);
}

/* Cuts a line of a record into words, in place. False: it is not such a line. */
static bool read_call(char *line, Call *out) {
  char *rest = line;
  *out = (Call){.name = strsep(&rest, " ")};
  out->how = strsep(&rest, " ");
  for (char *word; rest && out->n_digests < 1 + MOST_ARGS && (word = strsep(&rest, " "));)
    read_argument(word, out);
  return out->how && out->n_digests > 0;
}

static void read_sources(char *line, Calls *calls) {
  Sources *grown = realloc(calls->sources, (size_t)(calls->n_sources + 1) * sizeof *grown);
  if (!grown) return;
  calls->sources = grown;
  Sources *s = &grown[calls->n_sources++];
  char *rest = line + 1;
  *s = (Sources){.stage = strsep(&rest, " ")};
  for (char *word; rest && s->n < MOST_SOURCES && (word = strsep(&rest, " "));) {
    char *digest = word, *name = strsep(&digest, "=");
    if (!digest) continue;
    s->names[s->n] = plain(name);
    s->digests[s->n++] = digest;
  }
}

static const Sources *find_sources(Calls calls, const char *stage) {
  for (int i = 0; i < calls.n_sources; i++)
    if (strcmp(calls.sources[i].stage, stage) == 0) return &calls.sources[i];
  return NULL;
}

static const char *digest_of(const Sources *s, const char *name) {
  for (int i = 0; i < s->n; i++)
    if (strcmp(s->names[i], name) == 0) return s->digests[i];
  return NULL;
}

/* What changed in the code of a stage; false: it is not known. */
static bool print_changed(const Call *call, Calls now, Calls before) {
  const Sources *is = find_sources(now, call->name), *was = find_sources(before, call->name);
  if (!is || !was) return false;
  const char *joint = ", ";
  for (int i = 0; i < is->n; i++) {
    const char *old = digest_of(was, is->names[i]);
    if (old && strcmp(old, is->digests[i]) == 0) continue;
    size_t n = strcspn(is->names[i], " ");
    if (i == 0) printf("%sits code changed", joint); /* the stage itself is the first */
    else if (old) printf("%s`%.*s`%s changed", joint, (int)n, is->names[i], is->names[i] + n);
    else printf("%sit calls `%.*s`%s now", joint, (int)n, is->names[i], is->names[i] + n);
    joint = "; ";
  }
  for (int i = 0; i < was->n; i++) {
    if (digest_of(is, was->names[i])) continue;
    size_t n = strcspn(was->names[i], " ");
    printf("%sit does not call `%.*s`%s any longer", joint, (int)n, was->names[i], was->names[i] + n);
    joint = "; ";
  }
  return joint[0] == ';';
}

/* The calls in `text`, which is cut up. */
static Calls read_calls(char *text) {
  Calls calls = {0};
  int cap = 0;
  for (char *line; (line = strsep(&text, "\n"));) {
    if (*line == '@') {
      read_sources(line, &calls);
      continue;
    }
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

static void print_reason(const Call *call, Calls now, Calls before) {
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
    if (!print_changed(call, now, before)) printf("%sits code changed, or that of what it calls", joint);
    joint = "; ";
  }
  int said = 0;
  for (int i = 1; i < call->n_digests && i < old->n_digests; i++) {
    if (strcmp(old->digests[i], call->digests[i]) == 0) continue;
    const char *name = call->names[i];
    bool named = name && old->names[i] && strcmp(name, old->names[i]) == 0;
    bool again =
        named && i > 1 && call->names[i - 1] && strcmp(name, call->names[i - 1]) == 0 && said == i - 1;
    if (again) { /* another part of the same value */
      said = i;
      continue;
    }
    if (named && call->values[i] && old->values[i])
      printf("%s%s: %s -> %s", joint, name, old->values[i], call->values[i]);
    else if (named) printf("%s`%s` changed", joint, name);
    else printf("%sargument %d changed", joint, i);
    joint = "; ";
    said = i;
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
    print_reason(&now.at[i], now, before);
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
  free(now.sources);
  free(before.at);
  free(before.sources);
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
  fl_memo_unmap(record);
  free(name);
  fl_memo_close(memo);
  return status;
}
