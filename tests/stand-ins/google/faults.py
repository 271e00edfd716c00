# SPDX-License-Identifier: Apache-2.0
"""Trouble on order: what goes wrong with the nth request of a kind.

A fault is an object: "path" (a regular expression) and "method" say which
requests it is about, "nth" (1) with which of them it begins and "count" (1)
how many it holds for.  "do" is one of

  status       answer "status" with "body" and "headers"; nothing is done
  delay        wait "seconds", then go on as usual
  cut          close the connection; nothing is done
  drop-answer  do it, and close the connection without an answer
  cut-request  as if the second half of the request had never come: do what
               the first half says, and close without an answer
  cut-body     do it, send half of the answer, and close
  stall        do it, send half of the answer, and hang for "seconds"
  garbage      answer with what is no HTTP
  kill         end the process whose number is in "pid-file", and do nothing
  kill-after   do it, and end the process before it is answered
  kill-client  the same of whichever process on this machine has asked
"""

import re
import threading

KINDS = ("status", "delay", "cut", "drop-answer", "cut-request",
         "cut-body", "stall", "garbage", "kill", "kill-after", "kill-client")


class Faults:
    def __init__(self):
        self.lock = threading.Lock()
        self.faults = []

    def set(self, faults):
        for fault in faults:
            if fault.get("do") not in KINDS:
                raise ValueError(f"no such fault: {fault}")
        with self.lock:
            self.faults = [dict(fault, seen=0) for fault in faults]

    def find(self, method, path):
        """The fault for this request, or None.  Counts it."""
        found = None
        with self.lock:
            for fault in self.faults:
                if fault.get("method", method) != method:
                    continue
                if not re.search(fault.get("path", ""), path):
                    continue
                fault["seen"] += 1
                first = fault.get("nth", 1)
                if first <= fault["seen"] < first + fault.get("count", 1):
                    found = found or fault
        return found
