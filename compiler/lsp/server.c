/* server.c: the life of a server, and which function answers which request; see lsp.h.
 *
 * What always holds: each request gets one answer; messages about a text are sent once all that the editor
 * has sent is read, so that what is typed fast is checked once. */
#include "lsp/lsp.h"

#include "flow/version.h"
#include "lsp/answers.h"
#include "lsp/wire.h"

#include <stdlib.h>

typedef enum Life { NEW, RUNS, SHUT, ENDS } Life;

typedef struct Server {
  FlWire wire;
  FlLspDocuments documents;
  Life life;
  int status;
} Server;

/* Of JSON-RPC and the protocol. */
enum {
  PARSE_ERROR = -32700,
  INVALID_REQUEST = -32600,
  METHOD_NOT_FOUND = -32601,
  INVALID_PARAMS = -32602,
  NOT_INITIALIZED = -32002,
  CONTENT_FAILED = -32803
};

static const struct {
  const char *method;
  FlLspAnswer *answer;
} requests[] = {
    {"textDocument/hover", fl_lsp_hover},
    {"textDocument/definition", fl_lsp_definition},
    {"textDocument/references", fl_lsp_references},
    {"textDocument/documentHighlight", fl_lsp_highlight},
    {"textDocument/prepareRename", fl_lsp_prepare_rename},
    {"textDocument/rename", fl_lsp_rename},
    {"textDocument/documentSymbol", fl_lsp_symbols},
    {"textDocument/foldingRange", fl_lsp_folds},
    {"textDocument/formatting", fl_lsp_format},
    {"textDocument/codeAction", fl_lsp_actions},
    {"textDocument/semanticTokens/full", fl_lsp_tokens},
    {"textDocument/completion", fl_lsp_complete},
    {"textDocument/signatureHelp", fl_lsp_signature},
    {"textDocument/inlayHint", fl_lsp_hints},
    {"textDocument/codeLens", fl_lsp_lenses},
};

/* ---- messages out -------------------------------------------------------------------------------------- */

/* `result` goes to the message; NULL is null. */
static void respond(Server *s, const json_t *id, json_t *result) {
  fl_wire_write(&s->wire, json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result",
                                    result ? result : json_null()));
}

static void refuse(Server *s, const json_t *id, int code, const char *why) {
  json_t *none = json_null();
  fl_wire_write(&s->wire, json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id ? id : none,
                                    "error", "code", code, "message", why));
}

static void publish(Server *s, const char *uri, json_int_t version, json_t *messages) {
  json_t *params = json_pack("{s:s, s:o}", "uri", uri, "diagnostics", messages);
  if (version >= 0) json_object_set_new(params, "version", json_integer(version));
  fl_wire_write(&s->wire, json_pack("{s:s, s:s, s:o}", "jsonrpc", "2.0", "method",
                                    "textDocument/publishDiagnostics", "params", params));
}

/* Says what is wrong in the texts that have changed. */
static void publish_all(Server *s) {
  for (FlLspDocument *d = s->documents.first; d && !s->wire.lost; d = d->next) {
    if (!d->stale && !d->unsaid) continue;
    fl_lsp_check(&s->documents, d);
    d->unsaid = false;
    publish(s, d->uri, d->version, fl_lsp_messages(&s->documents, d));
  }
}

/* ---- the life ------------------------------------------------------------------------------------------ */

/* What the editor switches off, and how long rows of a sample may take. */
static void read_options(FlLspDocuments *all, const json_t *options) {
  bool no_last_run = json_is_false(json_object_get(options, "lastRun"));
  const json_t *ms = json_object_get(options, "rowsWithin");
  all->no_hints = no_last_run || json_is_false(json_object_get(options, "hints"));
  all->no_lens = no_last_run || json_is_false(json_object_get(options, "lens"));
  all->no_rows = json_is_false(json_object_get(options, "rows"));
  all->rows_ms =
      json_integer_value(ms) > 0 && json_integer_value(ms) <= 60000 ? (int)json_integer_value(ms) : 50;
}

static json_t *initialize(Server *s, const json_t *params) {
  const char *root = json_string_value(json_object_get(params, "rootUri"));
  const json_t *folders = json_object_get(params, "workspaceFolders");
  if (json_array_size(folders)) root = json_string_value(json_object_get(json_array_get(folders, 0), "uri"));
  if (root && strncmp(root, "file://", 7) == 0) s->documents.root = fl_lsp_path(&s->documents, root);
  const json_t *encodings = json_object_get(
      json_object_get(json_object_get(params, "capabilities"), "general"), "positionEncodings");
  size_t k;
  json_t *encoding;
  json_array_foreach(encodings, k, encoding) {
    const char *name = json_string_value(encoding);
    s->documents.utf8 = s->documents.utf8 || (name && strcmp(name, "utf-8") == 0);
  }
  read_options(&s->documents, json_object_get(params, "initializationOptions"));
  s->life = RUNS;
  json_t *can = json_pack(
      "{s:s, s:{s:b, s:i, s:b}, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:{s:b}, s:{s:[s]}, s:{s:[s, s, s]}, "
      "s:{s:[s, s]}, s:{s:{s:o, s:o}, s:b}, s:b, s:{s:b}}",
      "positionEncoding", s->documents.utf8 ? "utf-8" : "utf-16", "textDocumentSync", "openClose", 1,
      "change", 2, "save", 1, "hoverProvider", 1, "definitionProvider", 1, "referencesProvider", 1,
      "documentHighlightProvider", 1, "documentSymbolProvider", 1, "foldingRangeProvider", 1,
      "documentFormattingProvider", 1, "renameProvider", "prepareProvider", 1, "codeActionProvider",
      "codeActionKinds", "quickfix", "completionProvider", "triggerCharacters", ".", "\"", "/",
      "signatureHelpProvider", "triggerCharacters", "(", ",", "semanticTokensProvider", "legend",
      "tokenTypes", fl_lsp_token_kinds(), "tokenModifiers", fl_lsp_token_modifiers(), "full", 1,
      "inlayHintProvider", !s->documents.no_hints, "codeLensProvider", "resolveProvider", 0);
  if (s->documents.no_lens) json_object_del(can, "codeLensProvider");
  return json_pack("{s:o, s:{s:s, s:s}}", "capabilities", can, "serverInfo", "name", "flow", "version",
                   FL_FLOW_VERSION);
}

static FlLspDocument *document_of(const Server *s, const json_t *params) {
  const char *uri = json_string_value(json_object_get(json_object_get(params, "textDocument"), "uri"));
  return uri ? fl_lsp_find(&s->documents, uri) : NULL;
}

static void opened(Server *s, const json_t *params) {
  const json_t *item = json_object_get(params, "textDocument"), *text = json_object_get(item, "text");
  const char *uri = json_string_value(json_object_get(item, "uri"));
  if (!uri || !json_is_string(text)) return;
  FlLspDocument *d = fl_lsp_open(&s->documents, uri, json_string_value(text), json_string_length(text));
  const json_t *version = json_object_get(item, "version");
  d->version = json_is_integer(version) ? json_integer_value(version) : -1;
  fl_lsp_changed(&s->documents, d->path);
}

static void changed(Server *s, const json_t *params) {
  FlLspDocument *d = document_of(s, params);
  const json_t *changes = json_object_get(params, "contentChanges");
  size_t k;
  json_t *change;
  if (!d) return;
  json_array_foreach(changes, k, change) {
    const json_t *text = json_object_get(change, "text"), *range = json_object_get(change, "range");
    if (!json_is_string(text)) continue;
    if (range) fl_lsp_edit(&s->documents, d, range, json_string_value(text), json_string_length(text));
    else fl_lsp_open(&s->documents, d->uri, json_string_value(text), json_string_length(text));
  }
  const json_t *version = json_object_get(json_object_get(params, "textDocument"), "version");
  if (json_is_integer(version)) d->version = json_integer_value(version);
  d->stale = true;
  fl_lsp_changed(&s->documents, d->path);
}

static void closed(Server *s, const json_t *params) {
  FlLspDocument *d = document_of(s, params);
  if (!d) return;
  publish(s, d->uri, -1, json_array());
  fl_lsp_changed(&s->documents, d->path); /* others read what is saved now */
  fl_lsp_close(&s->documents, d);
}

/* A file was saved, or changed by somebody else: data files among them. */
static void files_changed(Server *s, const json_t *params) {
  (void)params;
  fl_lsp_changed(&s->documents, NULL);
}

static const struct {
  const char *method;
  void (*take)(Server *s, const json_t *params);
} notices[] = {
    {"textDocument/didOpen", opened},
    {"textDocument/didChange", changed},
    {"textDocument/didClose", closed},
    {"textDocument/didSave", files_changed},
    {"workspace/didChangeWatchedFiles", files_changed},
};

static void answer(Server *s, const char *method, const json_t *id, const json_t *params) {
  if (strcmp(method, "initialize") == 0) {
    if (s->life == NEW) respond(s, id, initialize(s, params));
    else refuse(s, id, INVALID_REQUEST, "the server is initialized already");
    return;
  }
  if (s->life != RUNS) {
    refuse(s, id, s->life == NEW ? NOT_INITIALIZED : INVALID_REQUEST,
           s->life == NEW ? "not initialized" : "shut down");
    return;
  }
  if (strcmp(method, "shutdown") == 0) {
    s->life = SHUT;
    respond(s, id, NULL);
    return;
  }
  size_t k = 0, n = sizeof requests / sizeof *requests;
  while (k < n && strcmp(requests[k].method, method) != 0) k++;
  FlLspDocument *d = k < n ? document_of(s, params) : NULL;
  if (k == n) refuse(s, id, METHOD_NOT_FOUND, method);
  else if (!d) refuse(s, id, INVALID_PARAMS, "no such document is open");
  else {
    d->unsaid = d->unsaid || d->stale;
    if (fl_lsp_check(&s->documents, d)) respond(s, id, requests[k].answer(&s->documents, d, params));
    else refuse(s, id, CONTENT_FAILED, "the text cannot be checked");
  }
}

/* One message of the editor. */
static void take(Server *s, const json_t *message) {
  const json_t *id = json_object_get(message, "id"), *params = json_object_get(message, "params");
  const char *method = json_string_value(json_object_get(message, "method"));
  if (!method) {
    bool response = json_object_get(message, "result") || json_object_get(message, "error");
    if (!response) refuse(s, id, INVALID_REQUEST, "a message has a method");
  } else if (id) {
    answer(s, method, id, params);
  } else if (strcmp(method, "exit") == 0) {
    s->status = s->life == SHUT ? 0 : 1;
    s->life = ENDS;
  } else if (s->life == RUNS) {
    for (size_t k = 0; k < sizeof notices / sizeof *notices; k++)
      if (strcmp(notices[k].method, method) == 0) notices[k].take(s, params);
  }
}

static void serve(void *arg) {
  Server *s = arg;
  while (s->life != ENDS && !s->wire.lost) {
    json_t *message;
    char why[JSON_ERROR_TEXT_LENGTH];
    FlWireGot got = fl_wire_read(&s->wire, &message, why);
    if (got == FL_WIRE_END) break;
    if (got == FL_WIRE_NO_JSON) refuse(s, NULL, PARSE_ERROR, why);
    else take(s, message);
    json_decref(message);
    if (s->life == RUNS && !fl_wire_waits(&s->wire)) publish_all(s);
  }
}

int fl_lsp_serve(int in, int out, FlLspSampler *sample) {
  Server s = {.wire = {.in = in, .out = out}, .documents = {.sample = sample}, .status = 1};
  char bug[FL_BUG_TEXT];
  if (!fl_guard_bugs(serve, &s, bug)) return 4;
  int status = s.wire.lost ? 4 : s.status;
  while (s.documents.first) fl_lsp_close(&s.documents, s.documents.first);
  fl_lsp_files_forget(&s.documents);
  fl_piece_free(s.documents.root);
  fl_wire_reset(&s.wire);
  return status;
}
