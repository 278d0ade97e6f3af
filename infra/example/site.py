"""The example's service: one page, and /health, which asks the heartbeat agent on this machine.

The load balancer's probe travels the path of the visitors' requests, and is answered with what the agent's local checks say. An agent that
does not answer says nothing about the page: that its heartbeats are missing is told by Holdfast, and the members go on serving.
"""

import http.client
import http.server
import sys

AGENT = ("127.0.0.1", 9180)
PAGE = b"Holdfast guards this page.\n"


def verdict():
    """200 or 503, within a second."""
    agent = http.client.HTTPConnection(*AGENT, timeout=1)
    try:
        agent.request("GET", "/health")
        return 503 if agent.getresponse().status == 503 else 200
    except (OSError, http.client.HTTPException):
        return 200
    finally:
        agent.close()


class Site(http.server.BaseHTTPRequestHandler):
    """Answers without its name and version."""

    timeout = 10

    def do_GET(self):
        if self.path == "/health":
            self.answer(verdict(), b"")
        elif self.path == "/":
            self.answer(200, PAGE)
        else:
            self.answer(404, b"")

    def answer(self, status, body):
        self.send_response_only(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Site).serve_forever()
