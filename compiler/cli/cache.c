/* cache.c: flowc cache: what is in the store, and putting it in order. See store_tools.h. */
#include "cli/store_tools.h"

#include "base/base.h"
#include "memo/memo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void print_warning(void *arg, const char *message) {
  (void)arg;
  fprintf(stderr, "warning: %s\n", message);
}

/* Bytes for people: "812 B", "3.4 MB". */
static const char *size_text(char buffer[32], int64_t bytes) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = (double)bytes;
  int unit = 0;
  while (value >= 1000 && unit < 4) {
    value /= 1000;
    unit++;
  }
  snprintf(buffer, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return buffer;
}

/* "500M", "8G", "1000" as bytes; -1: not a size. */
static int64_t read_size(const char *text) {
  char *end;
  double value = strtod(text, &end);
  double unit = 1;
  switch (*end) {
  case 'k':
  case 'K': unit = 1e3; break;
  case 'M': unit = 1e6; break;
  case 'G': unit = 1e9; break;
  case 'T': unit = 1e12; break;
  default: break;
  }
  if (unit > 1) end++;
  if (*end == 'B') end++;
  if (end == text || *end || !(value >= 0) || value * unit > 9e18) return -1;
  return (int64_t)(value * unit);
}

static void print_entry(void *arg, const FlMemoInfo *info) {
  (void)arg;
  char size[32], used[32] = "";
  time_t when = (time_t)info->used;
  struct tm local;
  if (localtime_r(&when, &local)) strftime(used, sizeof used, "%Y-%m-%d %H:%M", &local);
  printf("%10s  %-16s  %s%s\n", size_text(size, info->file_bytes), used, info->damaged ? "(damaged)" : "",
         info->label);
}

static void print_totals(const char *dir, FlMemoTotals t) {
  char size[32];
  printf("%lld result%s and %lld note%s, %s in %s\n", (long long)t.entries, t.entries == 1 ? "" : "s",
         (long long)t.records, t.records == 1 ? "" : "s", size_text(size, t.bytes), dir);
}

static void print_removed(FlMemoTotals t) {
  char size[32];
  printf("%lld removed, %s\n", (long long)t.removed, size_text(size, t.removed_bytes));
}

static int trust(const char *dir) {
  if (!fl_memo_trust(dir)) {
    fprintf(stderr, "flowc cache: `%s` is no folder, or what you accept cannot be noted\n", dir);
    return 4;
  }
  printf("results in %s are used from now on, and checked\n", dir);
  return 0;
}

int fl_tool_cache(int n_words, char **words) {
  static const char *const verbs[] = {"ls", "gc", "verify", "clear", "trust"};
  enum { N_VERBS = sizeof verbs / sizeof *verbs };
  FlWords w;
  char dir[4096];
  int status = fl_words_read(FL_COMMAND_CACHE, n_words, words, &w), known = 0;
  if (status != FL_WORDS_READ) return status;
  const char *verb = w.operands[0], *word = w.n_operands > 1 ? w.operands[1] : NULL,
             *most = w.flags[FL_FLAG_LIMIT];
  while (known < N_VERBS && strcmp(verb, verbs[known]) != 0) known++;
  if (known == N_VERBS) {
    const char *near = fl_closest(verb, verbs, N_VERBS);
    fprintf(stderr, "flowc cache: `%s` is nothing that can be done with a store%s%s%s\n", verb,
            near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
    return fl_words_usage(FL_COMMAND_CACHE);
  }
  int64_t limit = most ? read_size(most) : -1;
  if (most && strcmp(verb, "gc") != 0) {
    fprintf(stderr, "flowc cache: `--limit` is for `gc`, not for `%s`\n", verb);
    return 2;
  }
  if (most && limit < 0) {
    fprintf(stderr, "flowc cache: `%s` is not a size; write 500M or 8G\n", most);
    return 2;
  }
  if (word && access(word, F_OK) != 0) {
    fprintf(stderr, "flowc cache: there is no `%s`\n", word);
    return 2;
  }
  status = fl_store_place(&w, "cache", word, dir, sizeof dir);
  if (status) return status;
  if (strcmp(verb, "trust") == 0) return trust(dir);
  FlMemo *memo = fl_memo_open(&(FlMemoOptions){.dir = dir, .foreign = true, .warn = print_warning});
  if (!memo) {
    fputs("flowc cache: out of memory\n", stderr);
    return 4;
  }
  if (strcmp(verb, "ls") == 0) {
    printf("%10s  %-16s  %s\n", "size", "last used", "stage");
    print_totals(dir, fl_memo_list(memo, print_entry, NULL));
  } else if (strcmp(verb, "gc") == 0) {
    FlMemoTotals t = fl_memo_gc(memo, limit);
    print_removed(t);
    print_totals(dir, t);
  } else if (strcmp(verb, "verify") == 0) {
    FlMemoTotals t = fl_memo_verify(memo);
    printf("%lld damaged%s\n", (long long)t.damaged, t.damaged ? ", removed" : "");
    print_totals(dir, t);
    status = t.damaged != 0;
  } else {
    print_removed(fl_memo_clear(memo));
  }
  fl_memo_close(memo);
  return status;
}
