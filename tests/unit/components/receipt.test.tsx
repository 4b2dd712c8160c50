// @vitest-environment jsdom
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { ClearReceipt } from "@/components/jobs/queue/queue-screen";
import { renderInApp } from "./render";

afterEach(cleanup);

const ids = (count: number) => Array.from({ length: count }, (_, index) => `job-${index}`);

const show = (asked: number, outcome: Parameters<typeof ClearReceipt>[0]["outcome"], waiting = 0) => {
  renderInApp(<ClearReceipt asked={asked} outcome={outcome} waiting={waiting} onDismiss={() => undefined} />);
  const text = screen.getByRole("status").textContent;
  cleanup();
  return text;
};
const answered = (deleted: string[] | undefined) => ({ kind: "answered" as const, answer: { deleted, cleared: false } });

describe("the receipt of clearing the queue", () => {
  it.each([
    [10, 8, "8 cancelled, 2 had already started"],
    [3, 3, "3 cancelled"],
    [2, 3, "3 cancelled"],
    [9, 7, "7 cancelled, 2 had already started"],
  ])("of %i asked and %i cancelled it says: %s", (asked, cancelled, words) => {
    expect(show(asked, answered(ids(cancelled)))).toBe(words);
  });

  it.each([
    [3, 0, "None of the 3 jobs is waiting. The service's answer did not arrive"],
    [3, 3, "3 jobs are still waiting. The service's answer did not arrive"],
  ])("of %i asked, where the answer did not arrive and %i wait afterwards, it says: %s", (asked, waiting, words) => {
    expect(show(asked, { kind: "lost", left: waiting }, waiting)).toBe(words);
  });

  it.each([
    [1, 0, "The job is no longer waiting. The service does not say which it cancelled"],
    [3, 0, "None of the 3 jobs is waiting. The service does not say which it cancelled"],
    [3, 2, "2 jobs are still waiting. The service does not say which it cancelled"],
  ])("of %i asked, where the service names nothing and %i still wait, it says: %s", (asked, waiting, words) => {
    for (const deleted of [undefined, []]) expect(show(asked, answered(deleted), waiting)).toBe(words);
  });
});
