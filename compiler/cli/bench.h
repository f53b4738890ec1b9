/* bench.h: what several runs of a script took, by stages: least and median times, rows a second, peaks; as
 * JSON, which is also what is kept for the next time, and as a table for people. */
#ifndef FL_CLI_BENCH_H
#define FL_CLI_BENCH_H

#include "base/base.h"
#include "report/record.h"

#include <jansson.h>

/* One run: what its record says, and what its process took. */
typedef struct FlBenchRun {
  FlRecord *record;
  double cpu;   /* seconds of processors, of the process */
  int64_t peak; /* bytes */
} FlBenchRun;

/* {"script": its path, "runs": n, "began": microseconds since 1970, "workers": n, "source": digest of its
 *  text, "words": of its command line, "data": what it read, "seconds": {"least", "median"}, "processor": the
 *  median of seconds, "peak": the most bytes, "stages": [{"name", "calls", "seconds": {"least", "median"},
 *  "rows": that go in, else out, "rows_a_second", "held": bytes}]}; rows and what follows of them only where
 *  they are known and the same in all runs. NULL: no memory. */
json_t *fl_bench_sum(const char *script, const char *words, const FlBenchRun *runs, int n);

/* before: the last such object of the script, or NULL. */
void fl_bench_print(FlText1 *out, const json_t *now, const json_t *before);

/* How many times as long a thing took now, by the least times; 0: the one before does not say. name: of a
 * stage, NULL: all of it. */
double fl_bench_ratio(const json_t *now, const json_t *before, const char *name);

#endif
