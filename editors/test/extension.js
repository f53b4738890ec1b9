// The extension of VS Code without VS Code: stand-ins for what it asks of the editor and of the client record what it does; then the server
// that it names is started (FLOWC) and greeted. Ends with N passed, N failed.
const assert = require("assert");
const { execFileSync, spawn } = require("child_process");
const Module = require("module");
const fs = require("fs");
const path = require("path");

const seen = { lenses: [], sessions: [], commands: {}, clients: [], lines: [], warnings: [] };
const settings = { path: process.env.FLOWC || "flowc", lastRun: false };
const uri = (text) => ({
  scheme: "file", path: text.replace("file://", ""), fsPath: text.replace("file://", ""), toString: () => text,
});
const vscode = {
  workspace: { getConfiguration: () => ({ get: (name) => settings[name] }), textDocuments: [], onDidChangeConfiguration: (f) => { seen.changed = f; } },
  languages: { registerCodeLensProvider: (of, provider) => { seen.lenses.push([of, provider]); } },
  CodeLens: class { constructor(range, command) { Object.assign(this, { range, command }); } },
  Range: class { constructor(line) { this.line = line; } },
  commands: { registerCommand: (name, f) => { seen.commands[name] = f; } },
  window: {
    terminals: [], activeTextEditor: { document: { uri: uri("file:///w/a b/x.flow") } },
    showWarningMessage: (text) => seen.warnings.push(text),
    createTerminal: (options) => {
      const said = options.shellPath ? (line) => seen.sessions.push([options, line]) : (line) => seen.lines.push([options.cwd, line]);
      const terminal = { name: options.name, show() {}, sendText: said };
      vscode.window.terminals.push(terminal);
      return terminal;
    },
  },
  Uri: { parse: uri, joinPath: (of) => ({ fsPath: path.dirname(of.fsPath) }) },
};
class LanguageClient {
  constructor(id, name, server, client) { Object.assign(this, { id, server, client }); seen.clients.push(this); }
  async start() { this.on = true; if (this.server.run.command === "nowhere") throw new Error("ENOENT"); }
  async stop() { this.on = false; }
}
const load = Module._load;
Module._load = (name, ...rest) => name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...rest);

let passed = 0;
const failures = [];
function check(what, f) {
  try { f(); passed++; } catch (error) { failures.push(`${what}: ${error.message}`); }
}

// The server's answer to a greeting.
function greet(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args);
    let text = "";
    const timer = setTimeout(() => child.kill(), 20000);
    child.on("error", () => resolve(""));
    child.stdout.on("data", (data) => { text += data; if (text.includes("capabilities")) { child.kill(); } });
    child.on("close", () => { clearTimeout(timer); resolve(text); });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { processId: null, rootUri: null, capabilities: {} } });
    child.stdin.on("error", () => {});
    child.stdin.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
  });
}

// The folder, and the words that a shell makes of the line.
function words([folder, line]) {
  return [folder, ...execFileSync("sh", ["-c", `printf '%s\\n' ${line}`], { encoding: "utf8" }).trimEnd().split("\n")];
}

// A document with cells, the cursor in a line.
function edited(text, line) {
  const lines = text.split("\n");
  return { document: { uri: uri("file:///w/a b/x.flow"), lineCount: lines.length, lineAt: (k) => ({ text: lines[k] }) }, selection: { active: { line } } };
}

const CELLS = `let t = table(a = [3, 1, 2])
# %% sorted
let s = t
  |> sort(a)
# %%
show(s)
print(len(t))`;

// What a session says of what was loaded into it, in this order.
function session(lines) {
  return execFileSync(process.env.FLOWC, ["repl"], { input: lines.join("\n") + "\n", encoding: "utf8", env: { ...process.env, FLOW_CACHE: "" } });
}

async function cells() {
  const [[of, provider]] = seen.lenses;
  const lenses = provider.provideCodeLenses(edited(CELLS, 0).document);
  check("lenses over each cell", () => assert.deepStrictEqual([of, lenses.map((l) => [l.range.line, l.command.command, l.command.arguments[0]])],
    [{ language: "flow" }, [0, 1, 4].flatMap((line) => [[line, "flow.runCell", line], [line, "flow.runCellsTo", line]])]));
  check("and none without a mark", () => assert.deepStrictEqual(provider.provideCodeLenses(edited("let x = 1\n#%d\n", 0).document), []));
  const { activeTextEditor } = vscode.window;
  vscode.window.activeTextEditor = edited(CELLS, 5);
  const loaded = () => fs.readFileSync(seen.sessions[seen.sessions.length - 1][1].replace(":load ", ""), "utf8");
  await seen.commands["flow.runCell"](0);
  check("the cell before the first mark", () => assert.strictEqual(loaded(), "let t = table(a = [3, 1, 2])\n"));
  await seen.commands["flow.runCell"](1);
  check("a cell in the middle", () => assert.strictEqual(loaded(), "# %% sorted\nlet s = t\n  |> sort(a)\n"));
  await seen.commands["flow.runCell"]();
  check("the cell of the cursor, the last", () => assert.strictEqual(loaded(), "# %%\nshow(s)\nprint(len(t))\n"));
  const one = seen.sessions.map(([, line]) => line);
  check("in one session in the script's folder", () => assert.deepStrictEqual([vscode.window.terminals.filter((t) => t.name === "flow session of x.flow").length,
    seen.sessions[0][0].cwd, seen.sessions[0][0].shellPath, seen.sessions[0][0].shellArgs], [1, "/w/a b", settings.path, ["repl"]]));
  await seen.commands["flow.runCellsTo"](1);
  check("all up to a cell, anew", () => assert.deepStrictEqual([seen.sessions[3][1], loaded()], [":reset", CELLS.split("\n").slice(0, 4).join("\n") + "\n"]));
  vscode.window.activeTextEditor = edited("let x = 1\nprint(x)", 1);
  await seen.commands["flow.runCell"]();
  check("a script without cells is one", () => assert.strictEqual(loaded(), "let x = 1\nprint(x)\n"));
  vscode.window.activeTextEditor = activeTextEditor;
  if (!process.env.FLOWC) return;
  check("a session runs them", () => assert.match(session(one), /\n *1\n *2\n *3\n[^]*3\n$/));
}

async function main() {
  const extension = require("../vscode/extension.js");
  const manifest = require("../vscode/package.json");
  await extension.activate({ subscriptions: [] });
  const [first] = seen.clients;
  check("a client of flowc lsp", () => assert.deepStrictEqual([first.on, first.server.run.args, first.client.documentSelector], [true, ["lsp"], [{ language: "flow" }]]));
  check("its options", () => assert.deepStrictEqual(first.client.initializationOptions, { lastRun: false, rows: true }));
  check("the commands of the manifest", () => assert.deepStrictEqual(manifest.contributes.commands.map((c) => c.command).sort(), Object.keys(seen.commands).sort()));
  check("files of the manifest", () => {
    const { grammars, snippets, languages } = manifest.contributes;
    for (const file of [manifest.main, grammars[0].path, snippets[0].path, languages[0].configuration]) require("fs").accessSync(path.join(__dirname, "../vscode", file));
  });
  await seen.commands["flow.run"]("file:///w/it's/y.flow");
  await seen.commands["flow.run"]();
  check("runs the script of a lens", () => assert.deepStrictEqual(words(seen.lines[0]), ["/w/it's", settings.path, "run", "y.flow"]));
  check("runs what is edited", () => assert.deepStrictEqual(words(seen.lines[1]), ["/w/a b", settings.path, "run", "x.flow"]));
  await cells();
  settings.path = "nowhere";
  await seen.changed({ affectsConfiguration: () => true });
  check("a setting starts another client", () => assert.deepStrictEqual([first.on, seen.clients.length, seen.warnings.length], [false, 2, 1]));
  await extension.deactivate();
  if (process.env.FLOWC) {
    const answer = await greet(first.server.run.command, first.server.run.args);
    check("the server answers", () => assert.match(answer, /"capabilities"/));
  }
  for (const failure of failures) console.log("FAILED:", failure);
  console.log(`${passed} passed, ${failures.length} failed`);
  process.exit(failures.length ? 1 : 0);
}

main();
