/* wire.h: messages of JSON with their length before them, as the protocol frames them. */
#ifndef FL_LSP_WIRE_H
#define FL_LSP_WIRE_H

#include "base/base.h"

#include <jansson.h>

typedef struct FlWire {
  int in, out;
  FlText1 got; /* bytes that were read and belong to no message yet */
  bool lost;   /* what was written did not arrive */
} FlWire;

typedef enum FlWireGot {
  FL_WIRE_MESSAGE,
  FL_WIRE_NO_JSON, /* a frame that holds none: `why` says it */
  FL_WIRE_END
} FlWireGot;

/* The next message, the caller's. Lines that are no header are passed over. */
FlWireGot fl_wire_read(FlWire *w, json_t **message, char why[JSON_ERROR_TEXT_LENGTH]);
/* Whether more is there to be read, so that what is computed now may be of no use. */
bool fl_wire_waits(const FlWire *w);
/* Writes a message and lets go of it. */
void fl_wire_write(FlWire *w, json_t *message);
void fl_wire_reset(FlWire *w);

#endif
