/* table_stats.h: what the columns of a data file hold, for people who look at it first. */
#ifndef FL_TABLE_STATS_H
#define FL_TABLE_STATS_H

#include "io/io.h"

enum { FL_STATS_SHOWN = 48, FL_STATS_DISTINCT = 1000000, FL_STATS_HEAD = 64 << 20 };

typedef struct FlColumnStats {
  int64_t nulls, nans;
  int64_t distinct; /* of values that are not null; FL_STATS_DISTINCT + 1: more than that */
  bool range;       /* low and high are there: the smallest and the largest, texts cut */
  char low[FL_STATS_SHOWN], high[FL_STATS_SHOWN];
} FlColumnStats;

/* Of a column of n_rows values (a category: its codes, with `levels`); texts go by their bytes. */
void fl_column_stats(const FlArray *values, const FlArray *valid, const FlArray *levels, FlColumnStats *out);

/* Reads the table at `path`, whose schema is `schema`, on all cores, and fills one of `out` for each of its
 * columns. Of a CSV file of more than 4 FL_STATS_HEAD bytes only the first FL_STATS_HEAD: *whole is false
 * then. n_left_out: rows, with the option on_error = collect and `whole`. false: *error says why, the first
 * value that does not fit the schema for example. */
bool fl_io_table_stats(const char *path, const char *reader, FlOptions options, const FlIoSchema *schema,
                       FlColumnStats *out, int64_t *n_rows, int64_t *n_left_out, bool *whole,
                       FlIoError *error);
/* Of all elements of the one array `a` in a file of arrays. */
bool fl_io_array_stats(const char *path, const char *reader, const FlIoArray *a, FlColumnStats *out,
                       FlIoError *error);

#endif
