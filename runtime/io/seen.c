/* seen.c: the type of a column from what its values were seen to be.
 *
 * In: the union of FL_SEEN_*, from any format that is text. Out: a type that holds all of them. */
#include "io/io_internal.h"

FlDtype fl_io_seen_dtype(int seen) {
  switch (seen & ~(FL_SEEN_EMPTY | FL_SEEN_WORD)) {
  case FL_SEEN_BOOL: return FL_BOOL;
  case FL_SEEN_INT: return FL_I64;
  case FL_SEEN_FLOAT:
  case FL_SEEN_INT | FL_SEEN_FLOAT: return FL_F64;
  case FL_SEEN_DURATION: return FL_DURATION;
  case FL_SEEN_DATE: return FL_DATE;
  case FL_SEEN_DATETIME:
  case FL_SEEN_DATE | FL_SEEN_DATETIME: return FL_DATETIME;
  default: return FL_TEXT;
  }
}
