/* parse.c: what the grammar says of files. For tests; built with parser.c, scanner.c and the library
 * tree-sitter.
 *
 * parse FILE ...        a line each: `good PATH` or `bad PATH LINE`, where the first error node is
 * parse -q QUERY ...    does each query compile? A line each: `good PATH` or `bad PATH OFFSET`
 * parse -c QUERY FILE   what is captured in the file: `LINE COLUMN capture text`, LINE and COLUMN from 0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_flow(void);

static char *read_all(const char *path, uint32_t *len) {
  FILE *f = fopen(path, "rb");
  if (!f) {
    perror(path);
    exit(2);
  }
  fseek(f, 0, SEEK_END);
  *len = (uint32_t)ftell(f);
  rewind(f);
  char *text = malloc(*len + 1);
  if (!text || fread(text, 1, *len, f) != *len) exit(2);
  fclose(f);
  text[*len] = 0;
  return text;
}

/* The line of the first error of a tree, from 1. */
static uint32_t first_error(TSNode node) {
  for (uint32_t i = 0; i < ts_node_child_count(node); i++) {
    TSNode child = ts_node_child(node, i);
    if (ts_node_is_missing(child) || !strcmp(ts_node_type(child), "ERROR"))
      return ts_node_start_point(child).row + 1;
    if (ts_node_has_error(child)) return first_error(child);
  }
  return ts_node_start_point(node).row + 1;
}

static void parse(TSParser *parser, const char *path) {
  uint32_t len;
  char *text = read_all(path, &len);
  TSTree *tree = ts_parser_parse_string(parser, NULL, text, len);
  TSNode root = ts_tree_root_node(tree);
  if (ts_node_has_error(root)) printf("bad %s %u\n", path, first_error(root));
  else printf("good %s\n", path);
  ts_tree_delete(tree);
  free(text);
}

static TSQuery *read_query(const char *path) {
  uint32_t len, offset;
  TSQueryError error;
  char *text = read_all(path, &len);
  TSQuery *query = ts_query_new(tree_sitter_flow(), text, len, &offset, &error);
  free(text);
  if (query) printf("good %s\n", path);
  else printf("bad %s %u\n", path, offset);
  return query;
}

static void captures(TSParser *parser, const char *query_path, const char *path) {
  TSQuery *query = read_query(query_path);
  if (!query) return;
  uint32_t len, at;
  char *text = read_all(path, &len);
  TSTree *tree = ts_parser_parse_string(parser, NULL, text, len);
  TSQueryCursor *cursor = ts_query_cursor_new();
  ts_query_cursor_exec(cursor, query, ts_tree_root_node(tree));
  TSQueryMatch match;
  while (ts_query_cursor_next_capture(cursor, &match, &at)) {
    TSNode node = match.captures[at].node;
    TSPoint place = ts_node_start_point(node);
    uint32_t from = ts_node_start_byte(node), to = ts_node_end_byte(node), n;
    const char *name = ts_query_capture_name_for_id(query, match.captures[at].index, &n);
    printf("%u %u %.*s %.*s\n", place.row, place.column, (int)n, name,
           (int)strcspn(text + from, "\n") < (int)(to - from) ? (int)strcspn(text + from, "\n")
                                                              : (int)(to - from),
           text + from);
  }
  ts_query_cursor_delete(cursor);
  ts_tree_delete(tree);
  ts_query_delete(query);
  free(text);
}

int main(int argc, char **argv) {
  TSParser *parser = ts_parser_new();
  if (!ts_parser_set_language(parser, tree_sitter_flow())) return 2;
  if (argc > 3 && !strcmp(argv[1], "-c")) captures(parser, argv[2], argv[3]);
  else if (argc > 1 && !strcmp(argv[1], "-q"))
    for (int i = 2; i < argc; i++) ts_query_delete(read_query(argv[i]));
  else
    for (int i = 1; i < argc; i++) parse(parser, argv[i]);
  ts_parser_delete(parser);
  return 0;
}
