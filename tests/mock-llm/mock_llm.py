#!/usr/bin/env python3
"""mock_llm.py - a scripted, offline stand-in for the model services that coding-agent CLIs talk to.

Python 3 standard library only. It binds 127.0.0.1 and nothing else.

One process speaks five wire dialects, told apart by the request path:

    POST .../v1/messages                        Anthropic Messages          (claude)
    POST .../v1/messages/count_tokens           Anthropic token counting    (claude)
    POST .../responses                          OpenAI Responses            (codex, copilot, opencode)
    POST .../chat/completions                   OpenAI Chat Completions     (opencode, qwen, copilot, aider, ygg)
    POST .../api/chat                           Ollama, not streamed        (ygg)
    GET  .../api/tags                           Ollama's models             (ygg asks whether it is there)
    POST .../models/M:streamGenerateContent     Gemini                      (gemini)
    POST .../models/M:generateContent           Gemini, not streamed        (gemini)
    POST .../models/M:countTokens               Gemini token counting       (gemini)
    GET  .../models                             a model list in the caller's dialect

What is answered comes from a JSON file of *scenarios*; see README.md beside this file for the
format. Which scenario a request belongs to is decided in this order:

    1. the marker [[scenario:NAME]] in a user message (the last one that has one);
    2. a path prefix /s/NAME/... (put it in the CLI's base URL);
    3. --scenario NAME (default "default").

Which reply of a scenario is given is decided by the request alone: it is the number of assistant
turns already in its history. So any number of agents can share one server, retries get the same
reply again, and a resumed session goes on where its history ends.
"""

import argparse
import gzip
import hashlib
import json
import os
import re
import signal
import socket
import sys
import threading
import time
import uuid
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

# --------------------------------------------------------------------------- scenarios

BUILTIN = {
    "default": {
        "replies": [
            {
                "text": "I will run a command.",
                "tool": {"name": "shell", "args": {"command": "echo hello"}},
                "usage": {"input": 1200, "output": 45},
            },
            {"text": "Done: the command printed hello.", "usage": {"input": 1300, "output": 12}},
        ]
    }
}

DEFAULT_USAGE = {"input": 100, "output": 10, "cache_read": 0, "cache_write": 0, "reasoning": 0}

# What a service says for a status when the script gives no wording of its own.
ERROR_WORDS = {
    400: ("invalid_request_error", "mock: bad request"),
    401: ("authentication_error", "mock: invalid x-api-key"),
    403: ("permission_error", "mock: forbidden"),
    404: ("not_found_error", "mock: no such model"),
    413: ("request_too_large", "mock: request too large"),
    429: ("rate_limit_error", "mock: rate limited"),
    500: ("api_error", "mock: internal server error"),
    503: ("api_error", "mock: service unavailable"),
    529: ("overloaded_error", "mock: overloaded"),
}

# Abstract tool names a script may use, and the names the CLIs give to the same thing (first one
# that the request offers is used). Anything else in "name" is sent as it stands.
TOOL_NAMES = {
    "shell": ["Bash", "exec_command", "shell_command", "shell", "local_shell", "bash",
              "run_shell_command", "terminal"],
    "write": ["Write", "write", "write_file", "create"],
    "read": ["Read", "read", "read_file", "view"],
}


def usage_of(reply):
    u = dict(DEFAULT_USAGE)
    u.update(OPTS.usage)
    u.update(reply.get("usage") or {})
    return u


def load_scenarios(path):
    if not path:
        return BUILTIN
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    if "scenarios" in data:
        return data["scenarios"]
    return {"default": data}


# --------------------------------------------------------------------------- reading a request

def text_of(content):
    """All text in a message's content, whatever the dialect wraps it in."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_of(c) for c in content)
    if isinstance(content, dict):
        for k in ("text", "content", "parts"):
            if k in content:
                return text_of(content[k])
    return ""


class Request:
    """The parts of a model request that matter here, dialect removed."""

    def __init__(self, dialect, body, path):
        self.dialect = dialect
        self.body = body
        self.tools = {}        # name -> JSON schema of its arguments
        self.custom = set()    # names of OpenAI 'custom' (free text) tools
        self.namespace = {}    # tool name -> its namespace (OpenAI Responses)
        self.user = []         # texts of user messages
        self.step = 0          # assistant turns already in the history
        self.model = body.get("model") or ""
        self.stream = bool(body.get("stream"))
        self.system = ""
        getattr(self, "_read_" + dialect)(path)
        self.first_user = next((t for t in self.user if t.strip()), "")
        self.key = hashlib.sha256("\0".join(self.user[:1] or [""]).encode()).hexdigest()[:12]

    def _count(self, kinds):
        """kinds: 'a' (assistant's) or 'u' (anything else) per history item; runs of 'a' are a turn."""
        last = "u"
        for k in kinds:
            if k == "a" and last != "a":
                self.step += 1
            last = k

    def _read_anthropic(self, path):
        b = self.body
        self.system = text_of(b.get("system", ""))
        for t in b.get("tools") or []:
            self.tools[t.get("name", "")] = t.get("input_schema") or {}
        for m in b.get("messages") or []:
            if m.get("role") == "system":
                self.system += text_of(m.get("content"))
            if m.get("role") == "user":
                self.user.append(text_of(m.get("content")))
        self._count("a" if m.get("role") == "assistant" else "u" for m in b.get("messages") or [])

    def _read_chat(self, path):
        b = self.body
        for t in b.get("tools") or []:
            f = t.get("function") or {}
            self.tools[f.get("name", "")] = f.get("parameters") or {}
        for m in b.get("messages") or []:
            if m.get("role") in ("system", "developer"):
                self.system += text_of(m.get("content"))
            if m.get("role") == "user":
                self.user.append(text_of(m.get("content")))
        # older qwen and gemini versions open every chat with a made-up assistant turn: not counted
        self._count("a" if m.get("role") == "assistant" and not (
            text_of(m.get("content")).startswith("Got it. Thanks for the context"))
            else "u" for m in b.get("messages") or [])

    def _read_ollama(self, path):
        self._read_chat(path)
        self.stream = bool(self.body.get("stream", True))

    def _read_responses(self, path):
        b = self.body
        self.system = b.get("instructions") or ""
        items = b.get("input") or []
        if isinstance(items, str):
            items = [{"role": "user", "content": items}]
        self._tool_list(b.get("tools") or [])
        for it in items:                     # newer codex models: the tools come as an input item
            if it.get("type") == "additional_tools":
                self._tool_list(it.get("tools") or [])
        kinds = []
        for it in items:
            t, role = it.get("type", "message"), it.get("role")
            mine = role == "assistant" or t in (
                "function_call", "custom_tool_call", "local_shell_call", "reasoning")
            kinds.append("a" if mine else "u")
            if t == "message" and role == "user":
                self.user.append(text_of(it.get("content")))
            if role in ("system", "developer"):
                self.system += text_of(it.get("content"))
        self._count(kinds)

    def _tool_list(self, tools, namespace=None):
        for t in tools:
            if t.get("type") == "namespace":
                self._tool_list(t.get("tools") or [], t.get("name"))
                continue
            name = t.get("name") or t.get("type") or ""
            self.tools[name] = t.get("parameters") or {}
            if t.get("type") == "custom":
                self.custom.add(name)
            if namespace:
                self.namespace[name] = namespace

    def _read_gemini(self, path):
        b = self.body
        m = re.search(r"models/([^/:]+):", path)
        self.model = m.group(1) if m else ""
        self.stream = "streamGenerateContent" in path
        self.system = text_of(b.get("systemInstruction") or "")
        for t in b.get("tools") or []:
            for f in t.get("functionDeclarations") or []:
                self.tools[f.get("name", "")] = (
                    f.get("parameters") or f.get("parametersJsonSchema") or {})
        for c in b.get("contents") or []:
            if c.get("role", "user") == "user":
                self.user.append(text_of(c))
        self._count("a" if c.get("role") == "model" and not (
            text_of(c).startswith("Got it. Thanks for the context"))
            else "u" for c in b.get("contents") or [])

    def cwd(self):
        """The working folder the CLI told its model about, else ''."""
        for hay in [self.system] + self.user:
            for pat in (r"(?:[Pp]rimary )?[Ww]orking directory:\s*`?([^\s`<]+)",
                        r"<cwd>([^<]+)</cwd>",
                        r"working in the directory:\s*`?([^\s`<]+)",
                        r"[Ww]orkspace [Dd]irectories:\*{0,2}\s*-?\s*`?([^\s`<]+)"):
                m = re.search(pat, hay)
                if m:
                    return m.group(1)
        return ""


def said(reply, req):
    """What the model says. A program that takes its tool calls as JSON text (ygg) gets 'decision'."""
    if "decision" in reply:
        return json.dumps(fill(reply["decision"], req))
    return fill(reply.get("text") or "", req)


def fill(value, req):
    """Replace {{cwd}}, {{model}}, {{step}} and --var placeholders in every string of value."""
    if isinstance(value, str):
        table = {"cwd": req.cwd(), "model": req.model, "step": req.step}
        table.update(OPTS.vars)
        return re.sub(r"\{\{(\w+)\}\}", lambda m: str(table.get(m.group(1), m.group(0))), value)
    if isinstance(value, list):
        return [fill(v, req) for v in value]
    if isinstance(value, dict):
        return {k: fill(v, req) for k, v in value.items()}
    return value


def tool_calls(reply, req):
    """The reply's tool calls as (id, name, args, is_custom), names and args fitted to the CLI."""
    calls = list(reply.get("tools") or ([reply["tool"]] if reply.get("tool") else []))
    out = []
    for c in calls:
        name, args = c["name"], fill(c.get("args") or {}, req)
        if name in TOOL_NAMES and req.dialect == "responses":
            name, args = codex_tool(name, args, req)
        if name in TOOL_NAMES:
            known = [n for n in TOOL_NAMES[name] if n in req.tools]
            name = known[0] if known else TOOL_NAMES[name][0]
            props = (req.tools.get(name) or {}).get("properties") or {}
            if isinstance(args, dict):
                args = adapt_args(args, props)
        out.append((c.get("id"), name, args, name in req.custom))
    return out


def codex_tool(kind, args, req):
    """codex has no file-writing tool but a patch command, and its newer models have but one tool,
    'exec', which takes JavaScript ("code mode")."""
    known = req.tools
    codex = "exec_command" in known or ("exec" in known and "exec" in req.custom)
    if not codex or kind not in ("shell", "write"):
        return kind, args
    if kind == "write":
        patch = "*** Begin Patch\n*** Add File: %s\n%s\n*** End Patch" % (
            args["file_path"], "\n".join("+" + x for x in args["content"].rstrip("\n").split("\n")))
        if "exec" in req.custom:
            return "exec", "text(await tools.apply_patch(%s))" % json.dumps(patch)
        return "exec_command", {"cmd": "apply_patch <<'EOF'\n%s\nEOF\n" % patch}
    if "exec" in req.custom:
        return "exec", "const r = await tools.exec_command(%s); text(r.output ?? r)" % json.dumps(
            {"cmd": args["command"]})
    return kind, args


def adapt_args(args, props):
    """Fit {command|file_path|content} to the argument names that this CLI's tool declares."""
    a = dict(args)
    if not props:
        return a
    if "command" in a and "command" not in props and "cmd" in props:       # codex exec_command
        a["cmd"] = a.pop("command")
    if "command" in a and (props.get("command") or {}).get("type") == "array":  # codex shell
        a["command"] = ["bash", "-lc", a["command"]]
    if "file_path" in a and "file_path" not in props:
        for k in ("filePath", "path", "absolute_path"):
            if k in props:
                a[k] = a.pop("file_path")
                break
    if "content" in a and "content" not in props and "file_text" in props:
        a["file_text"] = a.pop("content")
    if "description" in props and "description" not in a:
        a["description"] = "mock call"
    if "is_background" in props and "is_background" not in a:              # gemini, qwen
        a["is_background"] = False
    return a


# --------------------------------------------------------------------------- choosing a reply

ATTEMPTS = {}
LOCK = threading.Lock()
COUNTER = [0]
LOG_LOCK = threading.Lock()


def wanted_schema(req):
    """The JSON schema that the request wants its answer to follow, {} for any JSON, else None."""
    b = req.body
    g = b.get("generationConfig") or {}
    if "json" in (g.get("responseMimeType") or ""):
        return g.get("responseJsonSchema") or g.get("responseSchema") or {}
    rf = b.get("response_format") or {}
    if rf.get("type") in ("json_schema", "json_object"):
        return (rf.get("json_schema") or {}).get("schema") or {}
    for f in ((b.get("text") or {}).get("format"), (b.get("output_config") or {}).get("format"),
              b.get("output_format")):
        if isinstance(f, dict) and f.get("type") == "json_schema":
            return f.get("schema") or {}
    return None


def smallest(schema):
    """The least value that follows a (plain) JSON schema."""
    kind = schema.get("type", "object")
    kind = (kind[0] if isinstance(kind, list) else kind).lower()
    if schema.get("enum"):
        return schema["enum"][0]
    if kind == "object":
        props = schema.get("properties") or {}
        return {k: smallest(props.get(k) or {"type": "string"})
                for k in schema.get("required") or list(props)}
    return {"array": [], "string": "mock", "number": 0, "integer": 0, "boolean": False}.get(kind)


def pick(req, scenario_name):
    """-> (reply, step, is_side)"""
    sc = SCENARIOS.get(scenario_name)
    if sc is None:
        return {"error": {"status": 404, "message": "mock: no scenario " + scenario_name}}, 0, False
    side = sc.get("side")
    # A request without tools is a helper request of the CLI (session title, topic, summary)
    # where the scenario says so by having a "side" reply.
    if side is not None and not req.tools:
        schema = wanted_schema(req)
        if schema is not None:
            return dict(side, text=json.dumps(smallest(schema))), 0, True
        return side, 0, True
    replies = sc.get("replies") or [{}]
    step = req.step
    if OPTS.index == "counter":
        with LOCK:
            step = COUNTER[0]
            COUNTER[0] += 1
    if step < len(replies):
        return replies[step], step, False
    if sc.get("loop"):
        return replies[step % len(replies)], step, False
    return replies[-1], step, False


def attempt_no(*key):
    with LOCK:
        ATTEMPTS[key] = ATTEMPTS.get(key, 0) + 1
        return ATTEMPTS[key]


def chunks(text, n):
    return [text[i:i + n] for i in range(0, len(text), n)] or [""]


# --------------------------------------------------------------------------- the dialects
#
# Each writer is a generator of (event name or None, JSON object) for the streamed form, and each
# *_whole function builds the unstreamed answer.

def anthropic_usage(u):
    return {
        "input_tokens": u["input"],
        "cache_creation_input_tokens": u["cache_write"],
        "cache_read_input_tokens": u["cache_read"],
        "cache_creation": {"ephemeral_5m_input_tokens": u["cache_write"],
                           "ephemeral_1h_input_tokens": 0},
        "output_tokens": u["output"] + u["reasoning"],
        "service_tier": "standard",
    }


def anthropic_blocks(reply, req):
    blocks = []
    if reply.get("thinking"):
        blocks.append({"type": "thinking", "thinking": reply["thinking"], "signature": "bW9jaw=="})
    if reply.get("text"):
        blocks.append({"type": "text", "text": fill(reply["text"], req)})
    for cid, name, args, _ in tool_calls(reply, req):
        blocks.append({"type": "tool_use", "id": cid or "toolu_" + uuid.uuid4().hex[:24],
                       "name": name, "input": args})
    return blocks


# A script says why a reply ended in Anthropic's words; here are the other dialects' words for it.
STOPS = {
    "chat": {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length",
             "refusal": "content_filter"},
    "gemini": {"end_turn": "STOP", "tool_use": "STOP", "max_tokens": "MAX_TOKENS",
               "refusal": "SAFETY"},
}


def stop_of(reply, dialect="anthropic"):
    s = reply.get("stop") or ("tool_use" if reply.get("tool") or reply.get("tools") else "end_turn")
    return STOPS.get(dialect, {}).get(s, s)


def anthropic_whole(reply, req):
    return {"id": "msg_" + uuid.uuid4().hex[:24], "type": "message", "role": "assistant",
            "model": req.model, "content": anthropic_blocks(reply, req),
            "stop_reason": stop_of(reply), "stop_sequence": None,
            "usage": anthropic_usage(usage_of(reply))}


def anthropic_stream(reply, req, size):
    u = anthropic_usage(usage_of(reply))
    first = dict(u, output_tokens=1)
    msg = {"id": "msg_" + uuid.uuid4().hex[:24], "type": "message", "role": "assistant",
           "model": req.model, "content": [], "stop_reason": None, "stop_sequence": None,
           "usage": first}
    yield "message_start", {"type": "message_start", "message": msg}
    yield "ping", {"type": "ping"}
    for i, b in enumerate(anthropic_blocks(reply, req)):
        if b["type"] == "text":
            start, deltas = {"type": "text", "text": ""}, [
                {"type": "text_delta", "text": c} for c in chunks(b["text"], size)]
        elif b["type"] == "thinking":
            start = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": c} for c in chunks(b["thinking"], size)]
            deltas.append({"type": "signature_delta", "signature": b["signature"]})
        else:
            start = dict(b, input={})
            deltas = [{"type": "input_json_delta", "partial_json": c}
                      for c in chunks(json.dumps(b["input"]), size)]
        yield "content_block_start", {"type": "content_block_start", "index": i,
                                      "content_block": start}
        for d in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": i, "delta": d}
        yield "content_block_stop", {"type": "content_block_stop", "index": i}
    yield "message_delta", {"type": "message_delta",
                            "delta": {"stop_reason": stop_of(reply), "stop_sequence": None},
                            "usage": {k: v for k, v in u.items() if k.endswith("_tokens")}}
    yield "message_stop", {"type": "message_stop"}


def chat_usage(u):
    prompt = u["input"] + u["cache_read"] + u["cache_write"]
    done = u["output"] + u["reasoning"]
    return {"prompt_tokens": prompt, "completion_tokens": done, "total_tokens": prompt + done,
            "prompt_tokens_details": {"cached_tokens": u["cache_read"]},
            "completion_tokens_details": {"reasoning_tokens": u["reasoning"]}}


def chat_calls(reply, req):
    return [{"index": i, "id": cid or "call_" + uuid.uuid4().hex[:20], "type": "function",
             "function": {"name": name,
                          "arguments": args if isinstance(args, str) else json.dumps(args)}}
            for i, (cid, name, args, _) in enumerate(tool_calls(reply, req))]


def chat_whole(reply, req):
    msg = {"role": "assistant", "content": said(reply, req)}
    calls = chat_calls(reply, req)
    if calls:
        msg["tool_calls"] = calls
    return {"id": "chatcmpl-" + uuid.uuid4().hex[:20], "object": "chat.completion",
            "created": int(time.time()), "model": req.model,
            "choices": [{"index": 0, "message": msg, "finish_reason": stop_of(reply, "chat")}],
            "usage": chat_usage(usage_of(reply))}


def chat_stream(reply, req, size):
    base = {"id": "chatcmpl-" + uuid.uuid4().hex[:20], "object": "chat.completion.chunk",
            "created": int(time.time()), "model": req.model}

    def part(delta, finish=None):
        return None, dict(base, choices=[{"index": 0, "delta": delta, "finish_reason": finish}])

    yield part({"role": "assistant", "content": ""})
    if reply.get("thinking"):
        for c in chunks(reply["thinking"], size):
            yield part({"reasoning_content": c})
    text = said(reply, req)
    if text:
        for c in chunks(text, size):
            yield part({"content": c})
    for call in chat_calls(reply, req):
        args = call["function"]["arguments"]
        yield part({"tool_calls": [dict(call, function={"name": call["function"]["name"],
                                                        "arguments": ""})]})
        for c in chunks(args, size):
            yield part({"tool_calls": [{"index": call["index"], "function": {"arguments": c}}]})
    yield part({}, stop_of(reply, "chat"))
    yield None, dict(base, choices=[], usage=chat_usage(usage_of(reply)))
    yield None, "[DONE]"


def ollama_whole(reply, req):
    u = usage_of(reply)
    return {"model": req.model, "created_at": "2025-01-01T00:00:00Z", "done": True, "done_reason": "stop",
            "message": {"role": "assistant", "content": said(reply, req)},
            "prompt_eval_count": u["input"], "eval_count": u["output"]}


def ollama_stream(reply, req, size):
    for c in chunks(said(reply, req), size):
        yield {"model": req.model, "message": {"role": "assistant", "content": c}, "done": False}
    yield dict(ollama_whole(reply, req), message={"role": "assistant", "content": ""})


def responses_usage(u):
    given = u["input"] + u["cache_read"] + u["cache_write"]
    done = u["output"] + u["reasoning"]
    return {"input_tokens": given, "input_tokens_details": {"cached_tokens": u["cache_read"]},
            "output_tokens": done,
            "output_tokens_details": {"reasoning_tokens": u["reasoning"]},
            "total_tokens": given + done}


def responses_items(reply, req):
    items = []
    if reply.get("thinking"):
        items.append({"type": "reasoning", "id": "rs_" + uuid.uuid4().hex[:24],
                      "summary": [{"type": "summary_text", "text": reply["thinking"]}],
                      "encrypted_content": None})
    if reply.get("text"):
        items.append({"type": "message", "id": "msg_" + uuid.uuid4().hex[:24], "role": "assistant",
                      "status": "completed",
                      "content": [{"type": "output_text", "text": fill(reply["text"], req),
                                   "annotations": []}]})
    for cid, name, args, custom in tool_calls(reply, req):
        call_id = cid or "call_" + uuid.uuid4().hex[:20]
        if custom:
            items.append({"type": "custom_tool_call", "id": "ctc_" + uuid.uuid4().hex[:24],
                          "call_id": call_id, "name": name, "status": "completed",
                          "input": args if isinstance(args, str) else args.get("input", "")})
            if name in req.namespace:
                items[-1]["namespace"] = req.namespace[name]
        else:
            items.append({"type": "function_call", "id": "fc_" + uuid.uuid4().hex[:24],
                          "call_id": call_id, "name": name, "status": "completed",
                          "arguments": args if isinstance(args, str) else json.dumps(args)})
    return items


def responses_whole(reply, req, rid=None):
    why = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}.get(stop_of(reply))
    return {"id": rid or "resp_" + uuid.uuid4().hex[:24], "object": "response",
            "created_at": int(time.time()), "status": "incomplete" if why else "completed",
            "model": req.model, "output": responses_items(reply, req),
            "usage": responses_usage(usage_of(reply)), "error": None,
            "incomplete_details": {"reason": why} if why else None}


def responses_stream(reply, req, size):
    rid = "resp_" + uuid.uuid4().hex[:24]
    whole = responses_whole(reply, req, rid)
    seq = [0]

    def ev(name, **kw):
        kw.update(type=name, sequence_number=seq[0])
        seq[0] += 1
        return name, kw

    started = dict(whole, status="in_progress", output=[], usage=None)
    yield ev("response.created", response=started)
    yield ev("response.in_progress", response=started)
    for i, it in enumerate(whole["output"]):
        empty = dict(it)
        if it["type"] == "message":
            empty.update(status="in_progress", content=[])
        elif it["type"] == "function_call":
            empty.update(status="in_progress", arguments="")
        elif it["type"] == "custom_tool_call":
            empty.update(status="in_progress", input="")
        elif it["type"] == "reasoning":
            empty.update(summary=[])
        yield ev("response.output_item.added", output_index=i, item=empty)
        if it["type"] == "message":
            text = it["content"][0]["text"]
            yield ev("response.content_part.added", output_index=i, content_index=0,
                     item_id=it["id"], part={"type": "output_text", "text": "", "annotations": []})
            for c in chunks(text, size):
                yield ev("response.output_text.delta", output_index=i, content_index=0,
                         item_id=it["id"], delta=c)
            yield ev("response.output_text.done", output_index=i, content_index=0,
                     item_id=it["id"], text=text)
            yield ev("response.content_part.done", output_index=i, content_index=0,
                     item_id=it["id"], part=it["content"][0])
        elif it["type"] == "reasoning":
            text = it["summary"][0]["text"]
            yield ev("response.reasoning_summary_part.added", output_index=i, summary_index=0,
                     item_id=it["id"], part={"type": "summary_text", "text": ""})
            for c in chunks(text, size):
                yield ev("response.reasoning_summary_text.delta", output_index=i, summary_index=0,
                         item_id=it["id"], delta=c)
            yield ev("response.reasoning_summary_text.done", output_index=i, summary_index=0,
                     item_id=it["id"], text=text)
        elif it["type"] == "function_call":
            for c in chunks(it["arguments"], size):
                yield ev("response.function_call_arguments.delta", output_index=i,
                         item_id=it["id"], delta=c)
            yield ev("response.function_call_arguments.done", output_index=i, item_id=it["id"],
                     arguments=it["arguments"])
        elif it["type"] == "custom_tool_call":
            for c in chunks(it["input"], size):
                yield ev("response.custom_tool_call_input.delta", output_index=i,
                         item_id=it["id"], delta=c)
            yield ev("response.custom_tool_call_input.done", output_index=i, item_id=it["id"],
                     input=it["input"])
        yield ev("response.output_item.done", output_index=i, item=it)
    yield ev("response." + whole["status"], response=whole)


def gemini_usage(u):
    prompt = u["input"] + u["cache_read"] + u["cache_write"]
    out = {"promptTokenCount": prompt, "candidatesTokenCount": u["output"],
           "totalTokenCount": prompt + u["output"] + u["reasoning"]}
    if u["cache_read"]:
        out["cachedContentTokenCount"] = u["cache_read"]
    if u["reasoning"]:
        out["thoughtsTokenCount"] = u["reasoning"]
    return out


def gemini_part(parts, req, finish=None, usage=None):
    cand = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        cand["finishReason"] = finish
    out = {"candidates": [cand], "modelVersion": req.model, "responseId": uuid.uuid4().hex[:16]}
    if usage:
        out["usageMetadata"] = usage
    return out


def gemini_fcalls(reply, req):
    return [{"functionCall": {"id": cid or "fc_" + uuid.uuid4().hex[:12], "name": name,
                              "args": args}}
            for cid, name, args, _ in tool_calls(reply, req)]


def gemini_whole(reply, req):
    parts = []
    if reply.get("text"):
        parts.append({"text": fill(reply["text"], req)})
    parts += gemini_fcalls(reply, req)
    return gemini_part(parts or [{"text": ""}], req, stop_of(reply, "gemini"),
                       gemini_usage(usage_of(reply)))


def gemini_stream(reply, req, size):
    u = gemini_usage(usage_of(reply))
    if reply.get("thinking"):
        yield None, gemini_part([{"text": reply["thinking"], "thought": True}], req)
    if reply.get("text"):
        for c in chunks(fill(reply["text"], req), size):
            yield None, gemini_part([{"text": c}], req)
    calls = gemini_fcalls(reply, req)
    yield None, gemini_part(calls or [{"text": ""}], req, stop_of(reply, "gemini"), u)


WHOLE = {"anthropic": anthropic_whole, "chat": chat_whole, "responses": responses_whole,
         "gemini": gemini_whole, "ollama": ollama_whole}
STREAM = {"anthropic": anthropic_stream, "chat": chat_stream, "responses": responses_stream,
          "gemini": gemini_stream}


def error_body(dialect, status, kind, message):
    if dialect == "ollama":
        return {"error": message}
    if dialect == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message},
                "request_id": "req_mock"}
    if dialect == "gemini":
        words = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
                 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}
        return {"error": {"code": status, "message": message, "status": words.get(status, kind)}}
    return {"error": {"message": message, "type": kind, "param": None,
                      "code": "invalid_api_key" if status == 401 else kind}}


def stream_error(dialect, err):
    """The event with which a service breaks off a stream it had begun."""
    kind = err.get("type", "overloaded_error")
    message = err.get("message", "mock: overloaded (in the stream)")
    if dialect == "anthropic":
        return "error", {"type": "error", "error": {"type": kind, "message": message}}
    if dialect == "responses":
        return "response.failed", {"type": "response.failed", "sequence_number": 99,
                                   "response": {"id": "resp_mock", "object": "response",
                                                "status": "failed", "output": [],
                                                "error": {"code": kind, "message": message}}}
    if dialect == "gemini":
        return None, {"error": {"code": 503, "message": message, "status": "UNAVAILABLE"}}
    return None, {"error": {"message": message, "type": kind, "code": kind}}


# --------------------------------------------------------------------------- the server

def dialect_of(path):
    if path.endswith("/messages"):
        return "anthropic"
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/api/chat"):
        return "ollama"
    if path.endswith("/responses"):
        return "responses"
    if re.search(r":(streamGenerateContent|generateContent)$", path):
        return "gemini"
    return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "mock-llm"
    sys_version = ""

    def log_message(self, *a):  # stdout and stderr stay quiet; --log has it all
        pass

    # -- small helpers

    def note(self, **kw):
        if not OPTS.log:
            return
        kw = dict({"t": round(time.time(), 3), "method": self.command, "path": self.path,
                   "ua": self.headers.get("User-Agent", ""),
                   "retry": self.headers.get("X-Stainless-Retry-Count")}, **kw)
        with LOG_LOCK, open(OPTS.log, "a", encoding="utf-8") as f:
            f.write(json.dumps(kw) + "\n")

    def send_json(self, status, obj, extra=()):
        data = json.dumps(obj).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("request-id", "req_mock")
        for k, v in extra:
            self.send_header(k, v)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            data = b""
            while True:
                n = int(self.rfile.readline().split(b";")[0].strip() or b"0", 16)
                piece = self.rfile.read(n)
                self.rfile.readline()
                if n == 0:
                    break
                data += piece
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        enc = self.headers.get("Content-Encoding", "").lower()
        if enc == "gzip":
            data = gzip.decompress(data)
        elif enc == "deflate":
            data = zlib.decompress(data)
        return data

    def split_path(self):
        """-> (scenario from the path or None, the rest of the path without its query)"""
        p = urlsplit(self.path).path
        m = re.match(r"^/s/([\w.-]+)(/.*)?$", p)
        return (m.group(1), m.group(2) or "/") if m else (None, p)

    # -- verbs

    def do_HEAD(self):
        self.note(outcome="head")
        self.send_json(200, {})

    def do_GET(self):
        _, p = self.split_path()
        self.note(outcome="get")
        names = OPTS.models
        if p.endswith("/models"):
            if "/v1beta" in p:
                return self.send_json(200, {"models": [
                    {"name": "models/" + n, "supportedGenerationMethods": ["generateContent"]}
                    for n in names]})
            return self.send_json(200, {"object": "list", "has_more": False, "data": [
                {"id": n, "object": "model", "type": "model", "display_name": n, "created": 0,
                 "created_at": "2025-01-01T00:00:00Z", "owned_by": "mock"} for n in names]})
        if p.endswith("/api/tags"):
            return self.send_json(200, {"models": [{"name": n, "model": n} for n in names]})
        if p.endswith("/mock/health"):
            return self.send_json(200, {"ok": True, "scenarios": sorted(SCENARIOS)})
        return self.send_json(404, {"error": {"message": "mock: nothing at " + p}})

    def do_POST(self):
        try:
            self.post()
        except (BrokenPipeError, ConnectionResetError):
            self.note(outcome="client went away")
            self.close_connection = True

    def post(self):
        raw = self.body()
        from_path, p = self.split_path()
        if p.endswith("/count_tokens"):
            self.note(outcome="count_tokens")
            return self.send_json(200, {"input_tokens": max(1, len(raw) // 4)})
        if p.endswith(":countTokens"):
            self.note(outcome="count_tokens")
            return self.send_json(200, {"totalTokens": max(1, len(raw) // 4)})
        dialect = dialect_of(p)
        if dialect is None:
            self.note(outcome="unknown path", bytes=len(raw))
            return self.send_json(404, {"error": {"message": "mock: nothing at " + p}})
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            self.note(outcome="not JSON", bytes=len(raw))
            return self.send_json(400, error_body(dialect, 400, "invalid_request_error",
                                                  "mock: the body is not JSON"))
        if OPTS.key is not None:
            given = (self.headers.get("x-api-key") or self.headers.get("x-goog-api-key")
                     or self.headers.get("Authorization", "").replace("Bearer ", ""))
            if given != OPTS.key:
                self.note(outcome="401 wrong key", dialect=dialect)
                return self.send_json(401, error_body(dialect, 401, *ERROR_WORDS[401]))
        req = Request(dialect, body, p)
        marks = re.findall(r"\[\[scenario:([\w.-]+)\]\]", "\n".join(req.user))
        name = marks[-1] if marks else (from_path or OPTS.scenario)
        reply, step, is_side = pick(req, name)
        n = attempt_no(name, req.key, step, is_side)
        info = dict(dialect=dialect, scenario=name, step=step, attempt=n, side=is_side,
                    model=req.model, stream=req.stream, tools=len(req.tools), bytes=len(raw))
        if OPTS.dump:
            os.makedirs(OPTS.dump, exist_ok=True)
            path = os.path.join(OPTS.dump, "%s-%s-%d-%d-%d.json" % (
                dialect, name, step, n, int(time.time() * 1000) % 10**7))
            with open(path, "w", encoding="utf-8") as f:
                json.dump({"path": self.path, "headers": {
                    k: v for k, v in self.headers.items()
                    if k.lower() not in ("authorization", "x-api-key", "x-goog-api-key")},
                    "body": body}, f, indent=1)
        # errors: the command line's first, then the reply's own
        err = OPTS.error if OPTS.error and not is_side else reply.get("error")
        if err and n <= err.get("times", 10**9):
            status = err["status"]
            kind, message = ERROR_WORDS.get(status, ("api_error", "mock: error"))
            extra = []
            if "retry_after" in err:
                extra.append(("retry-after", str(err["retry_after"])))
            self.note(outcome="error %d" % status, **info)
            return self.send_json(status, error_body(dialect, status, err.get("type", kind),
                                                     err.get("message", message)), extra)
        hang = reply.get("hang", OPTS.hang)
        if hang:
            self.note(outcome="hang", **info)
            self.wait_gone(None if hang is True else float(hang))
            if hang is True:
                self.close_connection = True
                return
        time.sleep(reply.get("first_delay_ms", OPTS.first_delay_ms) / 1000)
        self.note(outcome="reply", **info)
        if not req.stream:
            return self.send_json(200, WHOLE[dialect](reply, req))
        if dialect == "ollama":
            return self.send_lines(ollama_stream(reply, req, size=reply.get("chunk", OPTS.chunk)))
        self.stream(dialect, reply, req)

    def stream(self, dialect, reply, req):
        delay = reply.get("delay_ms", OPTS.delay_ms) / 1000
        size = reply.get("chunk", OPTS.chunk)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("request-id", "req_mock")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        broken = reply.get("stream_error")
        stop_at = reply.get("drop_after", (broken or {}).get("after"))
        stall_at = reply.get("stall_after")
        for i, (name, obj) in enumerate(STREAM[dialect](reply, req, size)):
            if stall_at is not None and i >= stall_at:
                self.note(outcome="stall")
                self.wait_gone(None)
                self.close_connection = True
                return
            if stop_at is not None and i >= stop_at:
                if broken:
                    self.event(*stream_error(dialect, broken))
                    break
                self.close_connection = True   # cut the connection in mid-stream
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.event(name, obj)
            if delay:
                time.sleep(delay)
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def send_lines(self, objects):
        """Ollama's streams are one JSON object a line."""
        data = "".join(json.dumps(o) + "\n" for o in objects).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def event(self, name, obj):
        data = obj if isinstance(obj, str) else json.dumps(obj)
        out = (("event: %s\n" % name) if name else "") + "data: " + data + "\n\n"
        out = out.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(out), out))
        self.wfile.flush()

    def wait_gone(self, seconds):
        """Say nothing until the client hangs up, or for so many seconds."""
        end = None if seconds is None else time.time() + seconds
        self.connection.settimeout(0.2)
        while end is None or time.time() < end:
            try:
                if self.connection.recv(1, socket.MSG_PEEK) == b"":
                    break
                time.sleep(0.2)
            except (TimeoutError, socket.timeout):
                continue
            except OSError:
                break
        try:
            self.connection.settimeout(None)
        except OSError:
            pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        if isinstance(sys.exc_info()[1], (ConnectionError, BrokenPipeError)):
            return
        super().handle_error(request, client_address)


def parse_usage(s):
    """'input=1000,output=50,cache_read=10' -> dict"""
    out = {}
    for part in filter(None, (s or "").split(",")):
        k, v = part.split("=")
        out[k.strip()] = int(v)
    return out


def parse_error(s):
    """'529' or '529:2' (the first two attempts of each step) or '429:2:1' (with retry-after 1)"""
    if not s:
        return None
    bits = s.split(":")
    out = {"status": int(bits[0])}
    if len(bits) > 1 and bits[1]:
        out["times"] = int(bits[1])
    if len(bits) > 2:
        out["retry_after"] = bits[2]
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--port", type=int, default=0, help="0 (default) takes a free port and prints it")
    ap.add_argument("--port-file", help="also write the port number to this file")
    ap.add_argument("--script", help="JSON file of scenarios (built in: one shell call, then text)")
    ap.add_argument("--scenario", default="default", help="for requests that name none")
    ap.add_argument("--index", choices=["history", "counter"], default="history",
                    help="history: the reply follows from the request; counter: one after another")
    ap.add_argument("--delay-ms", type=float, default=0, help="pause after each streamed event")
    ap.add_argument("--first-delay-ms", type=float, default=0, help="pause before answering")
    ap.add_argument("--chunk", type=int, default=16, help="characters in a streamed text delta")
    ap.add_argument("--usage", default="", help="defaults, e.g. input=1000,output=50,cache_read=0")
    ap.add_argument("--error", default="", help="STATUS[:TIMES[:RETRY_AFTER]] for every main request")
    ap.add_argument("--hang", action="store_true", help="accept model requests, never answer")
    ap.add_argument("--key", help="answer 401 to any other API key")
    ap.add_argument("--var", action="append", default=[], metavar="NAME=VALUE",
                    help="value for {{NAME}} in the script")
    ap.add_argument("--models", default="mock-model,gpt-5-codex,claude-sonnet-4-5",
                    help="ids for GET /models")
    ap.add_argument("--log", help="append one JSON line per request to this file")
    ap.add_argument("--dump", help="folder for whole request bodies (keys left out)")
    ap.add_argument("--max-seconds", type=float, default=3600, help="stop by itself after this")
    ap.add_argument("--exit-with-stdin", action="store_true", help="stop when stdin closes")
    global OPTS, SCENARIOS
    OPTS = ap.parse_args()
    OPTS.usage = parse_usage(OPTS.usage)
    OPTS.error = parse_error(OPTS.error)
    OPTS.vars = dict(v.split("=", 1) for v in OPTS.var)
    OPTS.models = [m for m in OPTS.models.split(",") if m]
    SCENARIOS = load_scenarios(OPTS.script)

    srv = Server(("127.0.0.1", OPTS.port), Handler)
    port = srv.server_address[1]
    if OPTS.port_file:
        tmp = OPTS.port_file + ".tmp"
        with open(tmp, "w") as f:
            f.write("%d\n" % port)
        os.replace(tmp, OPTS.port_file)
    print("MOCK_LLM_PORT=%d" % port, flush=True)
    print("MOCK_LLM_URL=http://127.0.0.1:%d" % port, flush=True)

    for sig in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sig, lambda *_: os._exit(0))
    if OPTS.exit_with_stdin:
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    if OPTS.max_seconds:
        t = threading.Timer(OPTS.max_seconds, lambda: os._exit(0))
        t.daemon = True
        t.start()
    srv.serve_forever()


OPTS = None
SCENARIOS = BUILTIN

if __name__ == "__main__":
    main()
