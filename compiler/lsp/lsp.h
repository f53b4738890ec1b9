/* lsp.h: the language server: what an editor asks while somebody writes, by the protocol of that name (3.17).
 *
 * In: messages of an editor. Out: answers, and messages about the texts that are open, whether they are saved
 * or not. What always holds: it writes no file, runs no command and loads no library of a script; an answer
 * depends on the texts that are open and the files that they read, not on how they came to be; a message that
 * is wrong gets an error and ends nothing. */
#ifndef FL_LSP_H
#define FL_LSP_H

#include "base/base.h"

/* A program that prints some rows of a table of a script that is being written. */
typedef struct FlLspSample {
  const char *path; /* of the script: what it reads lies where that reads it */
  const FlText1 *text;
  struct FlLspWorld *world; /* document.h */
  int ms;                   /* how long it may take */
} FlLspSample;

/* Runs such a program on what its files begin with, and adds to `out` a line for each file of which only that
 * was read, an empty line, and what it printed. false: it did not come to its end in its time, failed, or
 * would have done more than print. */
typedef bool FlLspSampler(const FlLspSample *asked, FlText1 *out);

/* Serves until the editor says exit or closes its end. 0: it had said shutdown before; 1: it had not; 4:
 * there is no memory, or what is written reaches nobody. sample: NULL: no rows are shown. */
int fl_lsp_serve(int in, int out, FlLspSampler *sample);

#endif
