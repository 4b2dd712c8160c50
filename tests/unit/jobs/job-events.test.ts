// The first message to a listener while the queue is still being counted.
import { expect, it } from "vitest";
import { createJobEvents, createNoPeerEvents } from "@/lib/service/events/job-events";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const typesOf = (received: readonly (string | Uint8Array)[]) =>
  received.map((one) => (typeof one === "string" ? (JSON.parse(one) as { type: string }).type : "preview"));

const job = { id: "job", userId: 1, clientId: undefined };

it("a listener gets the state of the queue before anything else, and loses nothing that was sent while it was counted", async () => {
  let count: (n: number) => void = () => undefined;
  const events = createJobEvents(() => new Promise((resolve) => (count = resolve)), createNoPeerEvents(), log);
  const received: (string | Uint8Array)[] = [];
  const listening = events.listen(1, undefined, (one) => void received.push(one));
  expect(events.hasListeners(job)).toBe(true);
  events.tell(job, "execution_start", {});
  events.show(job, new Uint8Array(4));
  expect(received).toEqual([]);
  count(3);
  const stop = await listening;
  events.tell(job, "execution_success", {});
  expect(typesOf(received)).toEqual(["status", "execution_start", "preview", "execution_success"]);
  expect(JSON.parse(String(received[0]))).toMatchObject({ data: { status: { exec_info: { queue_remaining: 3 } } } });
  stop();
  events.tell(job, "execution_start", {});
  expect(received).toHaveLength(4);
  events.stop();
});

it("where the queue cannot be counted, nobody goes on listening", async () => {
  const events = createJobEvents(() => Promise.reject(new Error("the database does not answer")), createNoPeerEvents(), log);
  await expect(events.listen(1, undefined, () => undefined)).rejects.toThrow("does not answer");
  expect(events.hasListeners(job)).toBe(false);
  events.stop();
});
