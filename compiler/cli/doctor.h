/* doctor.h: what flowc doctor says: a line for each thing, or JSON. */
#ifndef FL_DOCTOR_H
#define FL_DOCTOR_H

#include <jansson.h>

typedef enum FlDoctorState {
  FL_DOCTOR_OK,
  FL_DOCTOR_MISSING, /* scripts that use it do not run; others do */
  FL_DOCTOR_WRONG,   /* what every script needs, or with hosts all ranks */
  FL_DOCTOR_STATES
} FlDoctorState;

typedef struct FlDoctor {
  json_t *checks; /* NULL: lines are printed */
  int of[FL_DOCTOR_STATES];
} FlDoctor;

/* `host`: of which machine, NULL: this one; `help`: what to do; "": nothing. */
void fl_doctor_say(FlDoctor *doctor, FlDoctorState state, const char *host, const char *name,
                   const char *found, const char *help);

/* doctor_hosts.c: all that ranks need on machines that are named as --hosts of a script has them. 0, or 2
 * after a message: they cannot be read. */
int fl_doctor_hosts(FlDoctor *doctor, const char *hosts);

#endif
