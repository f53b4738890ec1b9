// The client of `flowc lsp` in VS Code, the command behind its lens, which runs a script in a terminal, and cells: pieces of a script that begin
// with a line `# %%`, which a session in a terminal (flowc repl) runs one by one.
const fs = require("fs");
const os = require("os");
const path = require("path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function setting(name) {
  return vscode.workspace.getConfiguration("flow").get(name);
}

async function start() {
  const command = { command: setting("path") || "flowc", args: ["lsp"] };
  client = new LanguageClient("flow", "flow", { run: command, debug: command }, {
    documentSelector: [{ language: "flow" }],
    initializationOptions: { lastRun: setting("lastRun") !== false, rows: setting("rows") !== false },
  });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showWarningMessage(`${command.command} lsp does not start: ${error.message}. The setting flow.path says where flowc is.`);
  }
}

async function stop() {
  const old = client;
  client = undefined;
  if (old) await old.stop();
}

function quoted(word) {
  return process.platform === "win32" ? `"${word}"` : `'${word.replace(/'/g, "'\\''")}'`;
}

function terminalOf(name, options) {
  return vscode.window.terminals.find((one) => one.name === name && one.exitStatus === undefined) || vscode.window.createTerminal({ name, ...options });
}

// The script of a lens, or the one that is edited; it runs in its own folder, as data files are looked for there.
async function run(uri) {
  const script = uri ? vscode.Uri.parse(String(uri)) : vscode.window.activeTextEditor && vscode.window.activeTextEditor.document.uri;
  if (!script || script.scheme !== "file") return;
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === script.toString());
  if (open && open.isDirty && !(await open.save())) return;
  const folder = vscode.Uri.joinPath(script, "..").fsPath;
  const name = script.path.slice(script.path.lastIndexOf("/") + 1);
  const terminal = terminalOf(`flow ${name}`, { cwd: folder });
  terminal.show(true);
  terminal.sendText(`${quoted(setting("path") || "flowc")} run ${quoted(name)}`);
}

// The first lines of the cells, and behind them the end of the text; what stands before the first mark is a cell, too. Without a mark there are none.
function cells(document) {
  const starts = [];
  for (let line = 0; line < document.lineCount; line++) if (/^#\s*%%/.test(document.lineAt(line).text)) starts.push(line);
  if (!starts.length) return [];
  return [...(starts[0] > 0 ? [0] : []), ...starts, document.lineCount];
}

let folder; // of the texts of cells that sessions read
let sent = 0;

// Enters some lines in the session of a script, in the folder of the script. A file holds them, as what is typed goes on at fewer places.
function enter(document, from, to, anew) {
  if (document.uri.scheme !== "file") return;
  folder = folder || fs.mkdtempSync(path.join(os.tmpdir(), "flow-cells-"));
  const file = path.join(folder, `${++sent}.flow`);
  const lines = [];
  for (let line = from; line < to; line++) lines.push(document.lineAt(line).text);
  fs.writeFileSync(file, lines.join("\n") + "\n");
  const name = document.uri.path.slice(document.uri.path.lastIndexOf("/") + 1);
  const terminal = terminalOf(`flow session of ${name}`, {
    cwd: vscode.Uri.joinPath(document.uri, "..").fsPath, shellPath: setting("path") || "flowc", shellArgs: ["repl"],
  });
  terminal.show(true);
  if (anew) terminal.sendText(":reset");
  terminal.sendText(`:load ${file}`);
}

// The cell at a line, else where the cursor is; `above`: a new session does all up to its end.
function runCell(above, line) {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return;
  const starts = cells(editor.document);
  const at = Number.isInteger(line) ? line : editor.selection.active.line;
  const next = starts.findIndex((start) => start > at);
  const end = next < 0 ? editor.document.lineCount : starts[next];
  enter(editor.document, above || next < 1 ? 0 : starts[next - 1], end, above);
}

const lenses = {
  provideCodeLenses(document) {
    const starts = cells(document);
    return starts.slice(0, -1).flatMap((line) => [["run cell", "flow.runCell"], ["run up to here", "flow.runCellsTo"]].map(([title, command]) =>
      new vscode.CodeLens(new vscode.Range(line, 0, line, 0), { title, command, arguments: [line] })));
  },
};

function removeTexts() {
  if (folder) fs.rmSync(folder, { recursive: true, force: true });
  folder = undefined;
}

async function deactivate() {
  removeTexts();
  await stop();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.languages.registerCodeLensProvider({ language: "flow" }, lenses),
    vscode.commands.registerCommand("flow.runCell", (line) => runCell(false, line)),
    vscode.commands.registerCommand("flow.runCellsTo", (line) => runCell(true, line)),
    vscode.commands.registerCommand("flow.run", run),
    vscode.commands.registerCommand("flow.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (!event.affectsConfiguration("flow")) return;
      await stop();
      await start();
    }),
  );
  await start();
}

module.exports = { activate, deactivate };
