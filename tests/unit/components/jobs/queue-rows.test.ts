import { describe, expect, it } from "vitest";
import { toQueueList } from "@/components/jobs/job-row";
import { jobListItemSchema } from "@/lib/contract/schemas/job";

const job = (id: string, createdSeconds: number, position?: number) => ({
  ...jobListItemSchema.parse({ id, status: "pending", create_time: 1_700_000_000 + createdSeconds }),
  position,
});
const order = (rows: readonly { id: string; position?: number }[]) => rows.map(({ id, position }) => [id, position]);

describe("the rows of the queue", () => {
  it("stand in the order that the service tells, even against that of submission, and one without a place has no number", () => {
    const list = toQueueList({
      running: [],
      pending: [job("late", 9, 1), job("early", 1, 2), job("unplaced", 5)],
      source: "queue",
      canStop: false,
    });
    expect(order(list.pending)).toEqual([
      ["late", 1],
      ["early", 2],
      ["unplaced", undefined],
    ]);
    expect(list.isBySubmission).toBe(false);
  });

  it("stand in the order of submission where a service tells none, however it lists them", () => {
    const list = toQueueList({ running: [], pending: [job("late", 9), job("early", 1)], source: "jobs", canStop: false });
    expect(order(list.pending)).toEqual([
      ["early", 1],
      ["late", 2],
    ]);
    expect(list.isBySubmission).toBe(true);
  });

  it("count what waits beyond the list", () => {
    const running = [{ ...job("r", 0), status: "executing" }];
    expect(toQueueList({ running, pending: [job("a", 1)], source: "jobs", canStop: false, total: 1_284 }).pendingTotal).toBe(1_283);
    expect(toQueueList({ running, pending: [job("a", 1)], source: "jobs", canStop: false }).pendingTotal).toBe(1);
  });
});
