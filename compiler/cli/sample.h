/* sample.h: rows of a table of a script that is being written, for the language server: an FlLspSampler. */
#ifndef FL_CLI_SAMPLE_H
#define FL_CLI_SAMPLE_H

#include "lsp/lsp.h"

bool fl_sample_show(const FlLspSample *asked, FlText1 *out);

#endif
