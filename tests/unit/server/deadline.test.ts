import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createDeadline } from "@/lib/server/upstream/deadline";

test("a caller who makes many calls gathers no listener for each, and still ends the last of them with their own reason", () => {
  const caller = new AbortController();
  const deadlines = Array.from({ length: 50 }, () => createDeadline(60_000, caller.signal));
  for (const deadline of deadlines) deadline.clear();
  expect(getEventListeners(caller.signal, "abort")).toEqual([]);
  const reason = new Error("gone");
  caller.abort(reason);
  const last = deadlines.at(-1);
  expect([last?.signal.aborted, last?.signal.reason, last?.expired]).toEqual([true, reason, false]);
});
