/* lsp.h: the language server: what an editor asks while somebody writes, by the protocol of that name (3.17).
 *
 * In: messages of an editor. Out: answers, and messages about the texts that are open, whether they are saved
 * or not. What always holds: it writes no file, runs no command and loads no library of a script; an answer
 * depends on the texts that are open and the files that they read, not on how they came to be; a message that
 * is wrong gets an error and ends nothing. */
#ifndef FL_LSP_H
#define FL_LSP_H

/* Serves until the editor says exit or closes its end. 0: it had said shutdown before; 1: it had not; 4:
 * there is no memory, or what is written reaches nobody. */
int fl_lsp_serve(int in, int out);

#endif
