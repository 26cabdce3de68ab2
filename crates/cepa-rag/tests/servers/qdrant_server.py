"""Routes of Qdrant's REST API, executed by the local mode of its published client.

    python qdrant_server.py KEY

Bodies are read by the client's own models, which are made from the published API and refuse what it does not know.
Prints its port. Ends when its input does.
"""

import json
import os
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from pydantic import ValidationError
from qdrant_client import QdrantClient
from qdrant_client.http import models

KEY = sys.argv[1]
CLIENT = QdrantClient(":memory:")
# Local mode has no indexes: what was asked for is told, as the server does.
INDEXES = {}
LOCK = threading.Lock()


class Refusal(Exception):
    def __init__(self, status, words):
        super().__init__(words)
        self.status = status


def plain(value):
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else [plain(one) for one in value]


def waits(query):
    if query.get("wait") != ["true"]:
        raise Refusal(400, "this test wants what it wrote to be there")


def collection(name):
    if not CLIENT.collection_exists(name):
        raise Refusal(404, f"Not found: Collection `{name}` doesn't exist!")
    return name


def known(name, query, body):
    info = plain(CLIENT.get_collection(collection(name)))
    info["payload_schema"] = INDEXES[name]
    return info


def create(name, query, body):
    wanted = models.CreateCollection.model_validate(body)
    if CLIENT.collection_exists(name):
        raise Refusal(409, f"Wrong input: Collection `{name}` already exists!")
    INDEXES[name] = {}
    return CLIENT.create_collection(name, vectors_config=wanted.vectors)


def index(name, query, body):
    waits(query)
    wanted = models.CreateFieldIndex.model_validate(body)
    CLIENT.create_payload_index(collection(name), wanted.field_name, wanted.field_schema)
    INDEXES[name][wanted.field_name] = {"data_type": wanted.field_schema, "points": 0}
    return {"operation_id": 0, "status": "completed"}


def upsert(name, query, body):
    waits(query)
    points = models.PointsList.model_validate(body).points
    size = CLIENT.get_collection(collection(name)).config.params.vectors.size
    for point in points:
        if len(point.vector) != size:
            raise Refusal(400, f"Wrong input: Vector dimension error: expected dim: {size}, got {len(point.vector)}")
    return plain(CLIENT.upsert(name, points))


def delete(name, query, body):
    waits(query)
    return plain(CLIENT.delete(collection(name), models.FilterSelector.model_validate(body)))


def search(name, query, body):
    wanted = models.QueryRequest.model_validate(body)
    return plain(
        CLIENT.query_points(
            collection(name),
            query=wanted.query,
            query_filter=wanted.filter,
            search_params=wanted.params,
            limit=wanted.limit,
            with_payload=wanted.with_payload,
            with_vectors=wanted.with_vector,
        )
    )


def scroll(name, query, body):
    wanted = models.ScrollRequest.model_validate(body)
    points, following = CLIENT.scroll(
        collection(name),
        scroll_filter=wanted.filter,
        limit=wanted.limit,
        offset=wanted.offset,
        with_payload=wanted.with_payload,
        with_vectors=wanted.with_vector,
    )
    return {"points": plain(points), "next_page_offset": following}


def retrieve(name, query, body):
    wanted = models.PointRequest.model_validate(body)
    # The server does not promise an order.
    return plain(CLIENT.retrieve(collection(name), wanted.ids, with_payload=wanted.with_payload))[::-1]


ROUTES = {
    ("GET", ""): known,
    ("PUT", ""): create,
    ("PUT", "/index"): index,
    ("PUT", "/points"): upsert,
    ("POST", "/points"): retrieve,
    ("POST", "/points/delete"): delete,
    ("POST", "/points/query"): search,
    ("POST", "/points/scroll"): scroll,
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body go out at once; apart, the second waits for the first to be acknowledged.
    wbufsize = -1

    def answer(self, status, body):
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_any(self):
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            if self.headers.get("api-key") != KEY:
                raise Refusal(401, "Must provide an API key or an Authorization bearer token")
            match = re.fullmatch(r"/collections/([^/]+)(/.*)?", url.path)
            route = match and ROUTES.get((self.command, match[2] or ""))
            if not route:
                raise Refusal(404, f"no such route: {self.command} {url.path}")
            with LOCK:
                result = route(match[1], parse_qs(url.query), json.loads(body or b"null"))
            self.answer(200, {"result": result, "status": "ok", "time": 0.0})
        except Refusal as refusal:
            self.answer(refusal.status, {"status": {"error": str(refusal)}, "time": 0.0})
        except (ValidationError, ValueError) as error:
            self.answer(400, {"status": {"error": f"Format error in JSON body: {error}"}, "time": 0.0})

    do_GET = do_PUT = do_POST = handle_any

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
server.serve_forever()
