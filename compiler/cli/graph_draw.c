/* graph_draw.c: a graph as text, DOT, Mermaid and SVG. See graph.h. */
#include "cli/graph.h"

#include "base/width.h"

#include <stdlib.h>

const char *const fl_graph_forms = "text, dot, mermaid or svg";

/* What a node is called where another uses it. */
static void add_name(FlText1 *out, const FlGraphNode *node) {
  if (node->name[0]) fl_text_addz(out, node->name);
  else fl_text_addf(out, "line %d", node->line);
}

/* ---- text ---- */

static void draw_text(FlText1 *out, const FlGraph *g) {
  int width = 0;
  for (int i = 0; i < g->nodes.n; i++) {
    int w = (int)strlen(g->nodes.at[i].name);
    if (w > width && w <= 24) width = w;
  }
  for (int i = 0; i < g->nodes.n; i++) {
    const FlGraphNode *n = &g->nodes.at[i];
    static const char *const marks[] = {[FL_GRAPH_PARAM] = "?",
                                        [FL_GRAPH_FILE] = "<",
                                        [FL_GRAPH_STAGE] = "*",
                                        [FL_GRAPH_VALUE] = " ",
                                        [FL_GRAPH_OUTPUT] = ">"};
    fl_text_addf(out, "%5d %s %-*s  %s\n", n->line, marks[n->kind], width, n->name, n->text);
    if (!n->from.n && !n->last[0]) continue;
    fl_text_addf(out, "%*s", width + 10, "");
    for (int k = 0; k < n->from.n; k++) {
      fl_text_addz(out, k ? ", " : "from ");
      add_name(out, &g->nodes.at[n->from.at[k]]);
    }
    if (n->last[0]) fl_text_addf(out, "%s%s", n->from.n ? "; " : "", n->last);
    fl_text_addc(out, '\n');
  }
}

/* ---- DOT and Mermaid ---- */

/* A text with what the form has marks for escaped. */
static void add_escaped(FlText1 *out, const char *text, const char *(*escape)(char)) {
  for (const char *c = text; *c; c++) {
    const char *as = escape(*c);
    if (as) fl_text_addz(out, as);
    else fl_text_addc(out, *c);
  }
}

static void add_label(FlText1 *out, const FlGraphNode *n, const char *line, const char *(*escape)(char)) {
  add_escaped(out, n->name, escape);
  if (n->name[0] && n->text[0]) fl_text_addz(out, line);
  add_escaped(out, n->text, escape);
  if (n->last[0]) fl_text_addz(out, line);
  add_escaped(out, n->last, escape);
}

static const char *escape_dot(char c) { return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : NULL; }

static void draw_dot(FlText1 *out, const FlGraph *g) {
  static const char *const shapes[] = {[FL_GRAPH_PARAM] = "ellipse",
                                       [FL_GRAPH_FILE] = "cylinder",
                                       [FL_GRAPH_STAGE] = "box3d",
                                       [FL_GRAPH_VALUE] = "box",
                                       [FL_GRAPH_OUTPUT] = "note"};
  fl_text_addz(out, "digraph flow {\n  node [fontname=\"sans-serif\", fontsize=11];\n");
  for (int i = 0; i < g->nodes.n; i++) {
    fl_text_addf(out, "  n%d [shape=%s, label=\"", i, shapes[g->nodes.at[i].kind]);
    add_label(out, &g->nodes.at[i], "\\n", escape_dot);
    fl_text_addz(out, "\"];\n");
  }
  for (int i = 0; i < g->nodes.n; i++)
    for (int k = 0; k < g->nodes.at[i].from.n; k++)
      fl_text_addf(out, "  n%d -> n%d;\n", g->nodes.at[i].from.at[k], i);
  fl_text_addz(out, "}\n");
}

static const char *escape_mermaid(char c) {
  switch (c) {
  case '"': return "#quot;";
  case '#': return "#35;";
  case '<': return "#lt;";
  case '>': return "#gt;";
  case '&': return "#amp;";
  default: return NULL;
  }
}

static void draw_mermaid(FlText1 *out, const FlGraph *g) {
  static const char *const shapes[][2] = {[FL_GRAPH_PARAM] = {"([\"", "\"])"},
                                          [FL_GRAPH_FILE] = {"[(\"", "\")]"},
                                          [FL_GRAPH_STAGE] = {"[[\"", "\"]]"},
                                          [FL_GRAPH_VALUE] = {"[\"", "\"]"},
                                          [FL_GRAPH_OUTPUT] = {"[/\"", "\"/]"}};
  fl_text_addz(out, "flowchart TD\n");
  for (int i = 0; i < g->nodes.n; i++) {
    const char *const *shape = shapes[g->nodes.at[i].kind];
    fl_text_addf(out, "  n%d%s", i, shape[0]);
    add_label(out, &g->nodes.at[i], "<br/>", escape_mermaid);
    fl_text_addf(out, "%s\n", shape[1]);
  }
  for (int i = 0; i < g->nodes.n; i++)
    for (int k = 0; k < g->nodes.at[i].from.n; k++)
      fl_text_addf(out, "  n%d --> n%d\n", g->nodes.at[i].from.at[k], i);
}

/* ---- SVG ---- */

enum { CHARACTER = 7, PADDING = 10, LINE = 16, GAP_X = 24, GAP_Y = 48, MARGIN = 16 };

typedef struct Box {
  int layer, x, y, w, h;
} Box;

static int wider(int a, const char *text) {
  int b = fl_width_text(text, strlen(text));
  return a > b ? a : b;
}

/* A layer below all that it uses; boxes of a layer beside each other in the order of the text. */
static void place_boxes(const FlGraph *g, Box *boxes, int *width, int *height) {
  int layers = 0;
  for (int i = 0; i < g->nodes.n; i++) {
    const FlGraphNode *n = &g->nodes.at[i];
    Box *b = &boxes[i];
    for (int k = 0; k < n->from.n; k++)
      if (n->from.at[k] < i && boxes[n->from.at[k]].layer >= b->layer)
        b->layer = boxes[n->from.at[k]].layer + 1;
    b->w = CHARACTER * wider(wider(wider(0, n->name), n->text), n->last) + 2 * PADDING;
    b->h = LINE * ((n->name[0] != 0) + (n->text[0] != 0) + (n->last[0] != 0)) + PADDING;
    if (b->layer >= layers) layers = b->layer + 1;
  }
  *width = 0;
  int y = MARGIN;
  for (int layer = 0; layer < layers; layer++) {
    int x = MARGIN, tallest = 0;
    for (int i = 0; i < g->nodes.n; i++) {
      if (boxes[i].layer != layer) continue;
      boxes[i].x = x;
      boxes[i].y = y;
      x += boxes[i].w + GAP_X;
      if (boxes[i].h > tallest) tallest = boxes[i].h;
    }
    if (x > *width) *width = x;
    y += tallest + GAP_Y;
  }
  *width += MARGIN - GAP_X;
  *height = y - GAP_Y + MARGIN;
}

static const char *escape_svg(char c) {
  return c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : NULL;
}

static int add_line(FlText1 *out, const Box *b, int y, const char *class, const char *text) {
  if (!text[0]) return y;
  fl_text_addf(out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, b->x + PADDING, y);
  add_escaped(out, text, escape_svg);
  fl_text_addz(out, "</text>");
  return y + LINE;
}

static void draw_svg(FlText1 *out, const FlGraph *g) {
  static const char *const classes[] = {[FL_GRAPH_PARAM] = "param",
                                        [FL_GRAPH_FILE] = "file",
                                        [FL_GRAPH_STAGE] = "stage",
                                        [FL_GRAPH_VALUE] = "value",
                                        [FL_GRAPH_OUTPUT] = "output"};
  Box *boxes = fl_piece_new((size_t)g->nodes.n + 1, sizeof *boxes);
  int width, height;
  place_boxes(g, boxes, &width, &height);
  fl_text_addf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
               "role=\"img\">\n<title>",
               width, height, width, height);
  add_escaped(out, g->name, escape_svg);
  fl_text_addz(out,
               "</title>\n<style>\n"
               "svg { background: #fff; --ink: #222; --line: #888; --fill: #f4f4f4 } text { font: 12px "
               "monospace; fill: var(--ink) }\n"
               "rect { fill: var(--fill); stroke: var(--line); rx: 4px } path { fill: none; stroke: "
               "var(--line) } .name { font-weight: bold }\n"
               ".last { fill: var(--line) } .param rect { stroke-dasharray: 4 } .stage rect { stroke: #0a7; "
               "stroke-width: 2 }\n"
               ".file rect { stroke: #06c; stroke-width: 2 } .output rect { stroke: #a50; stroke-width: 2 }\n"
               "@media (prefers-color-scheme: dark) { svg { background: #181818; --ink: #ddd; --line: #999; "
               "--fill: #262626 } }\n</style>\n"
               "<defs><marker id=\"to\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" "
               "markerHeight=\"8\" orient=\"auto\">"
               "<path d=\"M0 0L8 4L0 8\"/></marker></defs>\n");
  for (int i = 0; i < g->nodes.n; i++) {
    for (int k = 0; k < g->nodes.at[i].from.n; k++) {
      const Box *a = &boxes[g->nodes.at[i].from.at[k]], *b = &boxes[i];
      int x1 = a->x + a->w / 2, y1 = a->y + a->h, x2 = b->x + b->w / 2, middle = (y1 + b->y) / 2;
      fl_text_addf(out, "<path marker-end=\"url(#to)\" d=\"M%d %dC%d %d %d %d %d %d\"/>\n", x1, y1, x1,
                   middle, x2, middle, x2, b->y);
    }
  }
  for (int i = 0; i < g->nodes.n; i++) {
    const FlGraphNode *n = &g->nodes.at[i];
    const Box *b = &boxes[i];
    fl_text_addf(out,
                 "<g class=\"%s\"><title>line %d</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
                 classes[n->kind], n->line, b->x, b->y, b->w, b->h);
    int y = add_line(out, b, b->y + LINE, "name", n->name);
    y = add_line(out, b, y, "text", n->text);
    add_line(out, b, y, "last", n->last);
    fl_text_addz(out, "</g>\n");
  }
  fl_text_addz(out, "</svg>\n");
  fl_piece_free(boxes);
}

/* ---- all ---- */

bool fl_graph_draw(FlText1 *out, const FlGraph *graph, const char *form) {
  static const struct {
    const char *name;
    void (*draw)(FlText1 *, const FlGraph *);
  } forms[] = {{"text", draw_text}, {"dot", draw_dot}, {"mermaid", draw_mermaid}, {"svg", draw_svg}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (strcmp(form, forms[i].name) != 0) continue;
    forms[i].draw(out, graph);
    return true;
  }
  return false;
}
