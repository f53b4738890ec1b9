"""A client of `flowc lsp` for tests: requests and notices in order, and what an editor must do with texts, by itself."""
import itertools
import json
import os
import pathlib
import subprocess
import sys

from scenario_kit import FLOWC, ROOT


def units(text, utf8):
    return len(text.encode()) if utf8 else len(text.encode("utf-16-le")) // 2


def place(text, index, utf8=False):
    """The position of the protocol of the index-th character."""
    line = text.count("\n", 0, index)
    return {"line": line, "character": units(text[text.rfind("\n", 0, index) + 1:index], utf8)}


def index_of(text, position, utf8=False):
    lines = text.split("\n")
    start = sum(len(line) + 1 for line in lines[:position["line"]])
    n = 0
    while units(lines[position["line"]][:n], utf8) < position["character"]:
        n += 1
    return start + n


def applied(text, edits, utf8=False):
    """The text after TextEdits, none of which overlap."""
    spots = sorted(((index_of(text, e["range"]["start"], utf8), index_of(text, e["range"]["end"], utf8), e["newText"]) for e in edits), reverse=True)
    for start, end, new in spots:
        text = text[:start] + new + text[end:]
    return text


def uri_of(path):
    return pathlib.Path(path).absolute().as_uri()


def protocol():
    """A function that looks at a message by the types of the protocol: (method, message) -> what is wrong with it, or None. Nothing is
    ever wrong, with a note, where the package lsprotocol is not there."""
    sys.path.append(str(ROOT / "build/protocol"))
    try:
        from lsprotocol import converters, types
    except ImportError:
        print("left out: messages against the protocol's types (pip install --target build/protocol lsprotocol)")
        return lambda method, message: None
    converter, rows = converters.get_converter(), types.METHOD_TO_TYPES

    def wrong(method, message):
        if method not in rows:
            return None
        row = rows[method]
        kind = row[0] if "method" in message else types.ResponseErrorMessage if "error" in message else row[1]
        try:
            converter.structure(message, kind)
        except Exception as e:  # whatever the library raises
            return f"{e!r}\n{json.dumps(message)[:600]}"
        return None

    return wrong


class Client:
    def __init__(self, folder, utf8=False, env=None, start=True, check=None, options=None):
        """`check`: called with (method, message) for each answer and notice that comes. options: the initialization options."""
        self.process = subprocess.Popen([FLOWC, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/",
                                        env=dict(os.environ, **(env or {})))
        self.utf8, self.check, self.said, self.asked, self.version = utf8, check, {}, {}, 1
        self.numbers = itertools.count(1)
        if start:
            encodings = ["utf-8", "utf-16"] if utf8 else ["utf-16"]
            self.info = self.ask("initialize", processId=None, rootUri=uri_of(folder), capabilities={"general": {"positionEncodings": encodings}},
                                 initializationOptions=dict({"rowsWithin": 20000}, **(options or {})))
            self.tell("initialized")

    def send(self, message):
        data = json.dumps(dict({"jsonrpc": "2.0"}, **message), ensure_ascii=False).encode()
        self.raw(b"Content-Length: %d\r\n\r\n" % len(data) + data)

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self):
        """The next message; None: the server has ended."""
        length = None
        while True:
            line = self.process.stdout.readline()
            if not line:
                return None
            if line == b"\r\n":
                break
            name, value = line.split(b":")
            if name == b"Content-Length":
                length = int(value)
        message = json.loads(self.process.stdout.read(length))
        if self.check:
            number = message.get("id")
            self.check(message.get("method") or (self.asked.get(number) if isinstance(number, int) else None), message)
        if message.get("method") == "textDocument/publishDiagnostics":
            self.said[message["params"]["uri"]] = message["params"]
        return message

    def ask_whole(self, method, **params):
        number = next(self.numbers)
        self.asked[number] = method
        self.send({"id": number, "method": method, "params": params})
        while (message := self.read()) is not None:
            if message.get("id") == number:
                return message
        raise EOFError(method)

    def ask(self, method, **params):
        return self.ask_whole(method, **params).get("result")

    def tell(self, method, **params):
        self.send({"method": method, "params": params})

    def open(self, uri, text):
        self.version += 1
        self.tell("textDocument/didOpen", textDocument={"uri": uri, "languageId": "flow", "version": self.version, "text": text})

    def change(self, uri, *changes):
        self.version += 1
        self.tell("textDocument/didChange", textDocument={"uri": uri, "version": self.version}, contentChanges=list(changes))

    def about(self, request, uri, **params):
        return self.ask("textDocument/" + request, textDocument={"uri": uri}, **params)

    def messages(self, uri):
        """The messages about a text, once all that was sent is done: those of a version of its own."""
        self.change(uri)
        while self.said.get(uri, {}).get("version") != self.version:
            if self.read() is None:
                raise EOFError
        return self.said[uri]["diagnostics"]

    def end(self):
        self.ask("shutdown")
        self.tell("exit")
        self.process.stdin.close()
        status = self.process.wait(timeout=60)
        self.process.stdout.close()
        return status

    def drop(self):
        """The editor is gone."""
        self.process.stdin.close()
        status = self.process.wait(timeout=60)
        self.process.stdout.close()
        return status
