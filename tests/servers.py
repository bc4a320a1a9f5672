"""A real server process."""

import http.client
import json
import os
import re
import signal
import sys
import threading
from urllib.parse import urlencode, urlsplit

from patience import patience
from processes import CONTEXT


def _serve(arguments, error):
    """What the command does; it says what it says to the writing end of a pipe."""
    os.dup2(error.fileno(), 2)
    sys.stderr = os.fdopen(2, "w", buffering=1)
    sys.argv = ["setsearch", "serve", *arguments]
    from setsearch.cli.app import main

    main()


class Server:
    """`setsearch serve` in a process of its own."""

    def __init__(self, database, *options):
        said, error = CONTEXT.Pipe(duplex=False)
        self.process = CONTEXT.Process(target=_serve, args=[[str(database), "--port", "0", *map(str, options)], error])
        self.process.start()
        error.close()
        self._said = os.fdopen(os.dup(said.fileno()), encoding="utf-8")
        said.close()
        self.lines, found = [], None
        while found is None:  # it may say that it is getting ready
            self.lines.append(self._said.readline())
            assert self.lines[-1], self.lines
            found = re.search(r"http://\S+/", self.lines[-1])
        self.url = found.group()
        self.port = urlsplit(self.url).port
        self._reader = threading.Thread(target=lambda: self.lines.extend(self._said))
        self._reader.start()

    def ask(self, path, method="GET", body=None, headers=(), **query):
        """(status, headers, body) of a request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience(30))
        target = path + ("?" + urlencode(query, doseq=True) if query else "")
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        more = {"content-type": "application/json"} if isinstance(body, (dict, list)) else {}
        connection.request(method, target, data, more | dict(headers))
        answer = connection.getresponse()
        found = answer.status, dict(answer.headers), answer.read().decode()
        connection.close()
        return found

    def json(self, path, status=200, **given):
        """The JSON of an answer that has this status."""
        found, _, text = self.ask(path, **given)
        assert found == status, (found, text)
        return json.loads(text) if text else None

    @property
    def runs(self):
        return self._reader.is_alive()

    def stop(self):
        """End it as a person does; whatever it said."""
        os.kill(self.process.pid, signal.SIGINT)
        code = self._ended()
        assert code == 0, (code, self.lines)
        said = "".join(self.lines)
        assert "Traceback" not in said, said
        return said

    def kill(self):
        """End it as a system does that has no memory left."""
        self.process.kill()
        self._ended()

    def _ended(self):
        self.process.join(patience(20))
        code = self.process.exitcode
        self._reader.join()
        self._said.close()
        self.process.close()
        return code
