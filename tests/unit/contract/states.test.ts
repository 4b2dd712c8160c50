import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isTerminalWord, jobStates, toJobState } from "@/lib/contract/jobs/job-list";

const table: [word: string, state: string, terminal: boolean][] = [
  ["waiting_to_dispatch", "pending", false],
  ["submitted", "pending", false],
  ["queued_limited", "pending", false],
  ["queued_waiting", "pending", false],
  ["allocated", "pending", false],
  ["preparing", "pending", false],
  ["pending_execution", "pending", false],
  ["pending", "pending", false],
  ["in_progress", "in_progress", false],
  ["executing", "in_progress", false],
  ["executed", "in_progress", false],
  ["erroring", "in_progress", false],
  ["completed", "completed", true],
  ["success", "completed", true],
  ["failed", "failed", true],
  ["error", "failed", true],
  ["non_retryable_error", "failed", true],
  ["lost", "failed", true],
  ["retryable_error", "failed", true],
  ["cancelled", "cancelled", true],
  ["canceled", "cancelled", true],
  ["cancel_requested", "cancelled", false],
  ["cancel_pending", "cancelled", false],
  ["cancelling_preparing", "cancelled", false],
];

describe("job states", () => {
  it.each(table)("%s is shown as %s, terminal: %s", (word, state, terminal) => {
    expect(toJobState(word)).toBe(state);
    expect(isTerminalWord(word)).toBe(terminal);
  });

  it("keeps an unknown word as unknown and never calls it terminal", () => {
    const known = new Set(table.map(([word]) => word));
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom("constructor", "__proto__", "toString", "expired", "")), (word) => {
        fc.pre(!known.has(word));
        expect([toJobState(word), isTerminalWord(word)]).toEqual(["unknown", false]);
      }),
    );
  });

  it("maps each of its own words to itself", () => {
    expect(jobStates.map(toJobState)).toEqual([...jobStates]);
  });
});
