/* shown.h: what a run showed, as its record has it behind FL_RECORD_SHOWN: tables cell by cell, and all else
 * as it was printed; for `flowc diff`.
 *
 *   shown := (table row* | text)*      in the order in which they were shown
 *   table := "table" line of rows kept columns (name type)*
 *            line: of the script, 0: none; of: fl_record_line of that line; kept: 1: its rows follow; 0: they
 *            would be more than the record has room for
 *   row   := "row" cell*               in full, as people read values; %- is null
 *   text  := "text" line of kept value
 *
 * Words are as in record.h. */
#ifndef FL_SHOWN_H
#define FL_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FL_RECORD_SHOWN "===\n"

/* Bounds of a record: cells of one table, of all; bytes of one text, of all texts and cells; how many. */
enum {
  FL_SHOWN_TABLE_CELLS = 20000,
  FL_SHOWN_CELLS = 60000,
  FL_SHOWN_TEXT = 1 << 16,
  FL_SHOWN_BYTES = 1 << 21,
  FL_SHOWN_MOST = 2000
};

typedef struct FlShown {
  bool is_table, kept;
  int line;
  uint64_t of;
  int64_t rows;
  int n_columns;
  const char **names, **types;
  const char **cells; /* [rows][n_columns], NULL: null; without `kept` NULL */
  const char *text;   /* of what is no table; "" without `kept` */
} FlShown;

typedef struct FlShownList {
  FlShown *at;
  int n;
  void *memory;
} FlShownList;

/* What a record says was shown; nothing where it says nothing. false: no memory. To be reset in any case. */
bool fl_shown_read(const char *record, size_t len, FlShownList *out);
void fl_shown_reset(FlShownList *list);

#endif
