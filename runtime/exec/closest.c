/* closest.c: which name was meant.
 *
 * In: a name and those that there are. Out: the one at the smallest distance: insertions, deletions,
 * replacements and swaps of neighbours (F. J. Damerau, "A technique for computer detection and correction of
 * spelling errors", CACM 1964; the restricted form, in which no part is edited twice). `-` and `_` are the
 * same. */
#include "exec/exec.h"

#include <string.h>

enum { FL_LONGEST = 64 };

static bool same(char a, char b) { return (a == '-' ? '_' : a) == (b == '-' ? '_' : b); }
static int least(int a, int b, int c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); }

static int distance(const char *a, const char *b) {
  int n = (int)strlen(a), m = (int)strlen(b);
  if (n > FL_LONGEST || m > FL_LONGEST) return FL_LONGEST;
  int rows[3][FL_LONGEST + 1], *two = rows[0], *one = rows[1], *now = rows[2];
  for (int j = 0; j <= m; j++) one[j] = j;
  for (int i = 1; i <= n; i++) {
    now[0] = i;
    for (int j = 1; j <= m; j++) {
      now[j] = least(one[j] + 1, now[j - 1] + 1, one[j - 1] + !same(a[i - 1], b[j - 1]));
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]) && two[j - 2] + 1 < now[j])
        now[j] = two[j - 2] + 1;
    }
    int *spare = two;
    two = one;
    one = now;
    now = spare;
  }
  return one[m];
}

const char *fl_closest_name(const char *name, const char *const *candidates, int n) {
  int limit = (int)strlen(name) / 3;
  if (limit < 1) limit = 1;
  const char *best = NULL;
  int best_distance = limit + 1;
  for (int i = 0; i < n; i++) {
    int d = distance(name, candidates[i]);
    if (d < best_distance && d < (int)strlen(candidates[i])) {
      best_distance = d;
      best = candidates[i];
    }
  }
  return best;
}
