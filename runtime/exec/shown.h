/* shown.h: what a run showed, as its record has it behind FL_RECORD_SHOWN: tables by columns, as their values
 * lie in memory, and all else as it was printed; for `flowc diff`.
 *
 *   shown  := (table | text)*      in the order in which they were shown
 *   table  := "table" line of rows kept columns (name type)* NL column*
 *             line: of the script, 0: none; of: fl_record_line of that line; kept: 1: as many columns follow;
 *             0: their values would be more than the record has room for
 *   column := "column" length NL head valid? values NL       length: of the bytes between the two NL
 *   head   := dtype:u8 flags:u8 each:u64     each: elements of a cell; flags: FL_CELL_VALID: there is
 *             `valid`, FL_CELL_ARRAY: cells are arrays
 *   valid  := a byte an element, 0: null
 *   values := as in memory; of texts their lengths, u32 each, then their bytes; of lists their lengths, i64
 *   text   := "text" line of kept length NL bytes NL
 *
 * Words are as in report/record.h; integers of columns as every supported CPU has them. */
#ifndef FL_SHOWN_H
#define FL_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bounds of a record: cells of one table, of all; bytes of one text, of all texts and cells; how many. */
enum {
  FL_SHOWN_TABLE_CELLS = 20000,
  FL_SHOWN_CELLS = 60000,
  FL_SHOWN_TEXT = 1 << 16,
  FL_SHOWN_BYTES = 1 << 21,
  FL_SHOWN_MOST = 2000
};

/* Of the head of a column. */
enum { FL_CELL_VALID = 1, FL_CELL_ARRAY = 2, FL_CELL_HEAD = 10 };

typedef struct FlShown {
  bool is_table, kept;
  int line;
  uint64_t of;
  int64_t rows;
  int n_columns;
  const char **names, **types;
  const char **cells; /* [rows][n_columns], in full as people read them, NULL: null; without `kept` NULL */
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
