"""An S3 server on loopback that may be slow and may fail: run by a Python of its own, which has moto.

python bucket_server.py BUCKET [SECONDS [SHARE]]: every request takes so long, and such a share of them fails, half of
these after they have done their work (but for uploads in parts, which S3 lets one complete again, and moto does not).
Its address is the first line that it prints.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

FAILURE = b'<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Too many requests.</Message></Error>'


class Unsteady:
    """A server that answers late, and some requests not at all."""

    def __init__(self, application: Any, seconds: float, share: float) -> None:
        self.application, self.seconds, self.share = application, seconds, share
        self.pick, self.lock = random.Random(1), threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        with self.lock:
            fails, afterwards = self.pick.random() < self.share, self.pick.random() < 0.5
        time.sleep(self.seconds)
        if fails:
            if afterwards and environ["REQUEST_METHOD"] == "PUT" and "uploadId" not in environ["QUERY_STRING"]:
                list(self.application(environ, lambda *answer: None))
            start_response("503 Slow Down", [("Content-Type", "application/xml")])
            return [FAILURE]
        answer: Iterable[bytes] = self.application(environ, start_response)
        return answer


def main() -> None:
    import boto3

    bucket = sys.argv[1]
    seconds, share = map(float, [*sys.argv[2:4], "0", "0"][:2])
    calm = Unsteady(DomainDispatcherApplication(create_backend_app), 0, 0)
    server = make_server("127.0.0.1", 0, calm, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.port}"
    boto3.client("s3", endpoint_url=address).create_bucket(Bucket=bucket)
    calm.seconds, calm.share = seconds, share
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    sys.stdin.read()  # until whoever started it closes the pipe


if __name__ == "__main__":
    main()
