/* graph.h: flowc graph: what in a script is made of what. */
#ifndef FL_GRAPH_H
#define FL_GRAPH_H

#include "driver.h"
#include "report/record.h"

typedef enum FlGraphKind {
  FL_GRAPH_PARAM,
  FL_GRAPH_FILE,  /* it reads one */
  FL_GRAPH_STAGE, /* it calls a stage */
  FL_GRAPH_VALUE,
  FL_GRAPH_OUTPUT /* it has an effect: prints, shows, writes, checks */
} FlGraphKind;

/* A statement of the script. */
typedef struct FlGraphNode {
  FlGraphKind kind;
  int line;
  const char *name; /* what it binds or assigns to; "" for none */
  const char *text; /* the statement on one line; of a binding, its value */
  bool changes;     /* it may give a variable another value */
  const char *last; /* what the last run said of it: "1.2 ms", "remembered"; "" for nothing */
  FlVec(int) from;  /* the nodes that it uses, ascending */
} FlGraphNode;

typedef struct FlGraph {
  const char *name; /* of the script */
  FlVec(FlGraphNode)
      nodes; /* in the order of the text; each uses earlier ones alone, but for cycles by assignment */
} FlGraph;

/* Checks a script that was read (fl_compilation_init). false: it does not compile, its messages are in the
 * sink, or it lacks. `last`: the record of the last run, or NULL. */
bool fl_graph_make(FlCompilation *c, const FlRecord *last, FlGraph *out);

/* The forms that there are; false: there is no such form. */
bool fl_graph_draw(FlText1 *out, const FlGraph *graph, const char *form);
extern const char *const fl_graph_forms; /* their names, for messages */

#endif
