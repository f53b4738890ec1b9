/* lane.c: what a rank sends of its timeline stays within its bound: the stages, and then the longest events;
 * how many are left out is said. And the words for several ranks: whose time in messages, and who is the
 * slowest. */
#include "check.h"

#include "report/report.h"

#include <stdlib.h>
#include <string.h>

enum { EVENTS = 5000 };

static int64_t count(const char *text, int64_t bytes, const char *what) {
  int64_t n = 0;
  for (const char *at = text; (at = memmem(at, (size_t)(text + bytes - at), what, strlen(what))); at++) n++;
  return n;
}

static int64_t left_out(const char *text, int64_t bytes) {
  const char *at = memmem(text, (size_t)bytes, "\"labels\":\"", 10);
  return at ? atoll(at + 10) : 0;
}

static void test_bound(void) {
  FlReport *r = fl_report_new(&(FlReportOptions){.quiet = true, .lane = true, .workers = 1});
  FlStage stage = {.name = "fit"};
  for (int k = 0; k < 7; k++)
    fl_report_stage_end(r, fl_report_stage(r, &stage, 0, NULL), (FlStageEnd){.how = FL_STAGE_TOGETHER});
  for (int k = 0; k < EVENTS; k++) { /* the later ones are the longer ones */
    fl_report_kernel(r, "loop", 0, 1000 * k, 1000 * k + k, k);
    fl_report_message(r, &(FlMessageEvent){.name = "meet", .from = -1, .begin = k, .end = 2 * k, .bytes = k});
  }
  int64_t bytes = 0, whole = 0;
  char *all = fl_report_lane(r, &(FlLane){.rank = 3, .name = "rank 3", .most = 1 << 30}, &whole);
  CHECK(all && count(all, whole, "\"ph\":\"X\"") == 7 + 2 * EVENTS && left_out(all, whole) == 0);
  CHECK(count(all, whole, "\"pid\":3") == 2 + 7 + 2 * EVENTS);
  free(all);
  for (int64_t most = 2000; most < whole; most *= 3) {
    char *text = fl_report_lane(r, &(FlLane){.rank = 3, .name = "rank 3", .most = most}, &bytes);
    int64_t shown = text ? count(text, bytes, "\"ph\":\"X\"") : -1;
    check(bytes <= most && bytes > most - 600, "%lld of %lld bytes", (long long)bytes, (long long)most);
    check(shown + left_out(text, bytes) == 7 + 2 * EVENTS, "%lld are shown, %lld not", (long long)shown,
          (long long)left_out(text, bytes));
    CHECK(count(text, bytes, "\"cat\":\"stage\"") == 7);
    CHECK(count(text, bytes, "\"elements\":4999}") == 1 && count(text, bytes, "\"elements\":1}") == 0);
    CHECK(bytes > 2 && text[bytes - 1] == '}' && text[0] == '\n');
    free(text);
  }
  fl_report_free(r);
}

static char said[512];

static void say(void *arg, const char *bytes, int64_t len) {
  (void)arg;
  snprintf(said, sizeof said, "%.*s", (int)len, bytes);
}

static void check_line(const FlReportRank *each, int32_t n, const char *wanted) {
  const char *unwritten = NULL;
  FlReport *r = fl_report_new(&(FlReportOptions){.say = say, .workers = 1});
  FlReportRank *own = malloc((size_t)n * sizeof *own);
  memcpy(own, each, (size_t)n * sizeof *own);
  fl_report_ranks(r, own, n);
  said[0] = 0;
  fl_report_close(r, 0, &unwritten);
  check(strcmp(said, wanted) == 0, "%s instead of %s", said, wanted);
  fl_report_free(r);
}

static void test_line(void) {
  check_line((FlReportRank[]){{6000000, 30, 1000}, {6300000, 30, 1000}}, 2,
             "2 ranks sent 12.3 MB, 3% of the time in messages\n");
  check_line((FlReportRank[]){{0, 900, 1000}, {10, 860, 1000}, {2, 100, 1000}}, 3,
             "3 ranks sent 12 B, 62% of the time in messages, rank 2 the slowest\n");
  check_line((FlReportRank[]){{999960, 0, 100000}, {0, 999, 100000}}, 2,
             "2 ranks sent 1.0 MB, less than 1% of the time in messages\n");
  check_line((FlReportRank[]){{5, 5, 10}, {0, 0, 0}}, 2, ""); /* one has not begun */
  check_line((FlReportRank[]){{5, 5, 10}}, 1, "");
}

int main(void) {
  test_bound();
  test_line();
  return finish();
}
