"""MLflow's client, whose trouble is told in one line: a server or a database that goes down between two calls, too."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from optimizer.errors import UnreachableError

if TYPE_CHECKING:
    from mlflow import MlflowClient

# before mlflow is imported: a call waits for half a minute in all while a server is started again, not for four
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "4")
PASSING = ("INTERNAL_ERROR", "TEMPORARILY_UNAVAILABLE", "DEADLINE_EXCEEDED")  # what a later call may not meet


class WatchedClient:
    """Every method of MLflow's client; what may pass, if it is called again later, is an UnreachableError."""

    def __init__(self, client: MlflowClient, uri: str) -> None:
        self._client, self._uri = client, uri

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._client, name)
        return self._watch(value) if callable(value) else value

    def _watch(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*values: Any, **named: Any) -> Any:
            import requests
            from mlflow.exceptions import MlflowException

            try:
                return call(*values, **named)
            except MlflowException as error:
                if error.error_code not in PASSING:
                    raise
                raise self._unreachable(error) from None
            except requests.RequestException as error:  # of artifacts, which go beside the calls
                raise self._unreachable(error) from None

        return called

    def _unreachable(self, error: Exception) -> UnreachableError:
        address = address_of(self._uri)
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0].replace(self._uri, address)
        return UnreachableError(f"MLflow at {address} is in trouble ({reason[:300]}); mend it, then run again")


def address_of(uri: str) -> str:
    """Return where a store is, without a password.

    >>> address_of("http://me:secret@host:5000/"), address_of("sqlite:////a/mlflow.db")
    ('http://host:5000', 'sqlite:////a/mlflow.db')
    """
    place = urlsplit(uri)
    return f"{place.scheme}://{place.netloc.rpartition('@')[2]}" if place.netloc else uri
