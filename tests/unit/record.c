/* record.c: records read and put again: the lines that stay of a run in the record of the one after it are
 * those it had. */
#include "check.h"

#include "report/record.h"

#include <stdlib.h>
#include <string.h>

#define RUN "run 1700000000000000 ended 0 120 4096 3 abcdef 2 1 0 loss=0.5 a%20b=%00\n"
#define MADE "made train train%20x=00ff helper=12\n"
#define STAGE "stage train run yes 1 5 100 -1 20 4096 70000 0 7 00ff 11aa:x%3ay=3 22bb:t 33cc 44dd:e=%00\n"

/* What is put of a record again. */
static char *put_again(const char *text, bool calls) {
  char *out = NULL;
  size_t size;
  FILE *f = open_memstream(&out, &size);
  if (calls) fl_record_put_calls(f, text, strlen(text));
  else fl_record_put_runs(f, text, strlen(text));
  fclose(f);
  return out;
}

/* How many runs and calls are read. */
static void check_read(const char *text, int runs, int made, int stages) {
  FlRecord *r = fl_record_read(text, strlen(text));
  check(r && r->n_runs == runs && r->now.n_made == made && r->now.n_stages == stages, "%d %d %d",
        r ? r->n_runs : -1, r ? r->now.n_made : -1, r ? r->now.n_stages : -1);
  fl_record_free(r);
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

/* Lines that are none are left out; what is behind the mark is of the run before, and stays no longer; what
 * was shown is no line. */
static void test_broken(void) {
  const char *text = FL_RECORD_HEAD RUN
      "run x ended\nrun\nmade\nstage train run\nstage train run yes 1 5 100 -1 20 4096 70000 0\nfoo\n" MADE
          FL_RECORD_BEFORE STAGE FL_RECORD_SHOWN "text 1 0 1 30\n" RUN;
  check_read(text, 1, 1, 0);
  check_put(FL_RECORD_HEAD RUN MADE FL_RECORD_BEFORE STAGE FL_RECORD_SHOWN RUN, false, RUN);
  check_put(FL_RECORD_HEAD RUN MADE FL_RECORD_BEFORE STAGE, true, MADE);
  check_put(FL_RECORD_HEAD RUN "made cut off", true, "");
  check_put("flow run 0\n" RUN, false, "");
  check_put("", false, "");
  check(!fl_record_read(FL_RECORD_HEAD MADE, strlen(FL_RECORD_HEAD MADE)), "of no run there is none");
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
