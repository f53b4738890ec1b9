/* profile.h: flowc explain --profile: what the last run of a script took, line by line. */
#ifndef FL_PROFILE_H
#define FL_PROFILE_H

#include "diag/diag.h"
#include "report/record.h"

/* Adds a line for each line of the script where the run did something; found by their text, where that has
 * changed since: `same` is false. limit: bytes a second of this machine's memory
 * (bandwidth.h); 0: not known. */
void fl_explain_profile(FlText1 *out, FlArena *arena, const FlRecord *record, const FlSource *script,
                        bool same, double limit);

#endif
