// Every change that a public client can make, and the resulting jobs reported by the service or console.
import { expect } from "vitest";
import { asRecord, asRecords, canvas, readJob, waitForEnd, waitForStart, waitGraph } from "@/tests/integration/service/support";
import { type Controls, type Graph } from "./public-clients";
import { type Client } from "./service";

/** `client` belongs to the same user, who has no other job; one job runs at a time. */
export async function takeEverythingBack(client: Client, controls: Controls): Promise<void> {
  const submit = (graph: object) => controls.submit(graph as Graph);
  const states = (ids: string[]) => Promise.all(ids.map(async (id) => (await readJob(client, id)).status));
  const first = await submit(waitGraph(600, 1));
  await waitForStart(client, first);
  if (controls.unqueue && controls.clearQueue) {
    const behind: string[] = [];
    for (const color of [2, 3, 4]) behind.push(await submit(waitGraph(600, color)));
    await controls.unqueue(behind[1] ?? "");
    expect(await states([first, ...behind])).toEqual(["in_progress", "pending", "cancelled", "pending"]);
    await controls.clearQueue();
    expect(await states([first, ...behind])).toEqual(["in_progress", "cancelled", "cancelled", "cancelled"]);
  }
  await controls.interrupt(first);
  expect((await waitForEnd(client, first)).status).toBe("cancelled");

  const doneIds: string[] = [];
  for (const color of [5, 6]) doneIds.push(await submit(canvas(color)));
  const [left = "", second = ""] = doneIds;
  for (const id of doneIds) expect((await waitForEnd(client, id)).status).toBe("completed");
  expect(await controls.entry(left)).toMatchObject({ status: { status_str: "success" } });
  await controls.forget(left);
  expect(await controls.entry(left)).toBeUndefined();
  expect(await controls.entry(second)).toMatchObject({ status: { status_str: "success" } });
  await controls.clearHistory();
  expect(await controls.entry(second)).toBeUndefined();
  expect(asRecords(asRecord((await client.get("/api/history_v2")).body).history)).toEqual([]);
  await controls.free?.();
}
