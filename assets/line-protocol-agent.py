#!/usr/bin/env python3
"""An example agent that speaks Fleet's line protocol: it counts the words of its task.

    fleet run "count these four words" -- python3 line-protocol-agent.py

Each structured line is one JSON object that begins with {"fleet":. Everything else it prints is text for people.
"""

import json
import os
import sys


def tell(kind, **fields):
    """Prints one line of the protocol; flushed at once, so that Fleet sees it while the agent works."""
    line = {"fleet": kind, **fields}
    if "FLEET_TOKEN" in os.environ:  # Set under --strict-protocol.
        line["token"] = os.environ["FLEET_TOKEN"]
    print(json.dumps(line), flush=True)


def main():
    # The file holds a task of any length; the variable FLEET_TASK only a short one.
    with open(os.environ["FLEET_TASK_FILE"], encoding="utf-8") as file:
        task = file.read()
    print("counting words")
    tell("session", id="example-1")
    tell("step", tool="count", text="words of the task", state="start")
    words = len(task.split())
    tell("step", tool="count", text="words of the task", state="end")
    tell("usage", id="m1", model="none", input_tokens=words, output_tokens=1, cost_usd=0.0001)
    tell("text", role="assistant", text=f"I counted {words} words.")
    tell("smoke", ok=words == len(task.split()), text="counted twice with the same result")
    tell("result", completed=True, answer=f"{words} words", files_changed=[], error="", reason="completed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
