"""The mem0 engine (PyPI mem0ai) behind the REST routes of its own open-source server, for tests on loopback.

Users, keys and settings pages are left out. Memories live in a local folder, so no database is needed.

    python mem0_server.py DATA_DIR OPENAI_BASE_URL [API_KEY]

OPENAI_BASE_URL serves /embeddings of 384 dimensions and, for infer=true, /chat/completions. The port is printed.
"""
import os
import socket
import sys

DATA, BASE = os.path.abspath(sys.argv[1]), sys.argv[2]
KEY = sys.argv[3] if len(sys.argv) > 3 else None
os.makedirs(DATA, exist_ok=True)
os.environ.update(MEM0_TELEMETRY="false", MEM0_DIR=DATA, OPENAI_API_KEY="local")

import uvicorn
from fastapi import Depends, FastAPI, Header, HTTPException
from mem0 import Memory

memory = Memory.from_config({
    "history_db_path": f"{DATA}/history.db",
    "vector_store": {"provider": "qdrant", "config": {"path": f"{DATA}/qdrant", "on_disk": True, "collection_name": "mem", "embedding_model_dims": 384}},
    "llm": {"provider": "openai", "config": {"model": "scripted", "openai_base_url": BASE, "max_tokens": 256}},
    "embedder": {"provider": "openai", "config": {"model": "words", "openai_base_url": BASE, "embedding_dims": 384}},
})


def check(x_api_key: str | None = Header(default=None)) -> None:
    if KEY and x_api_key != KEY:
        raise HTTPException(401, "Invalid API key")


app = FastAPI(dependencies=[Depends(check)])
IDS = ("user_id", "agent_id", "run_id")


@app.post("/memories")
def add(body: dict):
    ids = {k: body[k] for k in IDS if body.get(k)}
    if not ids:
        raise HTTPException(400, "At least one identifier (user_id, agent_id, run_id) is required.")
    extra = {k: body[k] for k in ("metadata", "infer", "prompt", "memory_type") if body.get(k) is not None}
    try:
        return memory.add(body["messages"], **ids, **extra)
    except Exception as e:  # the language model's trouble is a 502 there
        raise HTTPException(502, str(e)) from e


@app.get("/memories")
def all_memories(user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None, top_k: int = 100):
    filters = {k: v for k, v in zip(IDS, (user_id, agent_id, run_id)) if v}
    if not filters:
        raise HTTPException(400, "At least one identifier is required.")
    return memory.get_all(filters=filters, top_k=top_k)


@app.get("/memories/{memory_id}")
def one(memory_id: str):
    return memory.get(memory_id)


@app.post("/search")
def search(body: dict):
    filters = dict(body.get("filters") or {})
    filters.update({k: body[k] for k in IDS if body.get(k)})
    if not any(k in filters for k in IDS):
        raise HTTPException(400, "filters must contain at least one of user_id, agent_id, run_id.")
    extra = {k: body[k] for k in ("top_k", "threshold") if body.get(k) is not None}
    return memory.search(body["query"], filters=filters, **extra)


@app.put("/memories/{memory_id}")
def update(memory_id: str, body: dict):
    return memory.update(memory_id, body["text"])


@app.get("/memories/{memory_id}/history")
def history(memory_id: str):
    return memory.history(memory_id)


@app.delete("/memories/{memory_id}")
def delete(memory_id: str):
    memory.delete(memory_id)
    return {"message": "Memory deleted successfully"}


@app.delete("/memories")
def delete_all(user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None):
    memory.delete_all(**{k: v for k, v in zip(IDS, (user_id, agent_id, run_id)) if v})
    return {"message": "All relevant memories deleted"}


# Who reads this line may connect: what comes before the server runs waits.
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
