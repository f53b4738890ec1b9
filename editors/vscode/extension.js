// The client of `flowc lsp` in VS Code, and the command behind its lens, which runs a script in a terminal.
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

// The script of a lens, or the one that is edited; it runs in its own folder, as data files are looked for there.
async function run(uri) {
  const script = uri ? vscode.Uri.parse(String(uri)) : vscode.window.activeTextEditor && vscode.window.activeTextEditor.document.uri;
  if (!script || script.scheme !== "file") return;
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === script.toString());
  if (open && open.isDirty && !(await open.save())) return;
  const folder = vscode.Uri.joinPath(script, "..").fsPath;
  const name = script.path.slice(script.path.lastIndexOf("/") + 1);
  const terminal = vscode.window.terminals.find((one) => one.name === `flow ${name}` && one.exitStatus === undefined) ||
    vscode.window.createTerminal({ name: `flow ${name}`, cwd: folder });
  terminal.show(true);
  terminal.sendText(`${quoted(setting("path") || "flowc")} run ${quoted(name)}`);
}

async function activate(context) {
  context.subscriptions.push(
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

module.exports = { activate, deactivate: stop };
