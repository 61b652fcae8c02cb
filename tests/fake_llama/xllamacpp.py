"""Stands for xllamacpp in tests: the same few names, and a server that answers without a model.

It answers "fine" with the prompt's last word, and obeys a prompt that is one word: `die` kills the
process in mid-answer, `hang` never answers. FAKE_LLAMA_DIES names a file that holds a number: the
process is killed at that request, once, for the file goes with it. FAKE_LLAMA_STARTED names the
diary of servers. A model file that holds `unloadable` is refused as llama.cpp does it.
"""

import json
import os
import signal
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class CommonParams:
    def __init__(self):
        self.model = types.SimpleNamespace(path="")
        self.cpuparams = types.SimpleNamespace(n_threads=-1)
        self.cpuparams_batch = types.SimpleNamespace(n_threads=-1)
        self.hostnames, self.port = [], 0
        self.n_ctx, self.n_parallel, self.verbosity = 0, -1, 3
        self.cache_prompt, self.cache_ram_mib = True, 8192


class Handler(BaseHTTPRequestHandler):
    answered = 0

    def do_GET(self):
        self._send({"status": "ok"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = body["messages"][-1]["content"]
        Handler.answered += 1
        deadly = Path(os.environ.get("FAKE_LLAMA_DIES", "none"))
        if deadly.exists() and Handler.answered == int(deadly.read_text()):
            deadly.unlink()
            asked = "die"
        if asked == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if asked == "hang":
            threading.Event().wait()
        message = {"role": "assistant", "content": f"fine {asked.split()[-1]}"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
        self._send({"choices": [choice], "usage": usage, "model": body["model"]})

    def _send(self, data):
        raw = json.dumps(data).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_):
        pass


class Server:
    def __init__(self, params):
        if b"unloadable" in Path(params.model.path).read_bytes():
            raise RuntimeError("Failed to init server, please check the input params.")
        started = os.environ.get("FAKE_LLAMA_STARTED")
        if started:  # a line per server: its process and how it was set up
            with Path(started).open("a") as file:
                settings = [params.n_ctx, params.n_parallel, params.cpuparams.n_threads]
                settings += [params.cpuparams_batch.n_threads, params.cache_prompt]
                file.write(json.dumps([os.getpid(), os.getppid(), *settings]) + "\n")
        server = ThreadingHTTPServer((params.hostnames[0], params.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://{params.hostnames[0]}:{params.port}"
