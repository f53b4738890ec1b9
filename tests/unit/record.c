/* record.c: records read and put again: the lines that stay of a run in the record of the one after it are
 * those it had. */
#include "check.h"

#include "report/record.h"

#include <stdlib.h>
#include <string.h>

#define RUN "run 1700000000000000 ended 0 120 4096 3 abcdef 2 1 0 loss=0.5 a%20b=%00\n"
#define MADE "made train train%20x=00ff helper=12\n"
#define STAGE "stage train run yes 1 5 100 -1 20 4096 0 7 00ff 11aa:x%3ay=3 22bb:t 33cc 44dd:e=%00\n"

/* What is put of a record again. */
static char *put_again(const char *text, bool calls) {
  FlRecord *r = fl_record_read(text, strlen(text));
  char *out = NULL;
  size_t size;
  FILE *f = open_memstream(&out, &size);
  if (r && calls) fl_record_put_calls(f, &r->now);
  else if (r) fl_record_put_runs(f, r);
  fclose(f);
  fl_record_free(r);
  return out;
}

static void check_put(const char *text, bool calls, const char *wanted) {
  char *got = put_again(text, calls);
  check(strcmp(got, wanted) == 0, "%s\ninstead of\n%s", got, wanted);
  free(got);
}

static void test_same(void) {
  const char *text = FL_RECORD_HEAD RUN MADE "file /tmp/x.flow\n" STAGE "note 0 5 loss 0.5\n" FL_RECORD_BEFORE
                                             "made old a=1\n";
  check_put(text, false, RUN);
  check_put(text, true, MADE STAGE);
}

/* Lines that are none are left out; what is behind the mark is of the run before. */
static void test_broken(void) {
  const char *text = FL_RECORD_HEAD RUN
      "run x ended\nrun\nmade\nstage train run\nstage train run yes 1 5 100 -1 20 4096 0\nfoo\n" MADE
          FL_RECORD_BEFORE STAGE;
  check_put(text, false, RUN);
  check_put(text, true, MADE);
  check_put("flow run 0\n" RUN, false, "");
  check_put(FL_RECORD_HEAD MADE, true, ""); /* of no run */
}

/* The oldest run goes. */
static void test_bounded(void) {
  char text[FL_RECORD_RUNS * 2 * sizeof RUN + 64] = FL_RECORD_HEAD;
  for (int i = 0; i < FL_RECORD_RUNS + 5; i++) strcat(text, RUN);
  char *got = put_again(text, false);
  check(strlen(got) == (FL_RECORD_RUNS - 1) * strlen(RUN), "%zu bytes", strlen(got));
  free(got);
}

int main(void) {
  test_same();
  test_broken();
  test_bounded();
  return finish();
}
