// Makes every change that a public client can, and checks the jobs that the service or console reports.
import { expect } from "vitest";
import {
  asRecord,
  asRecords,
  createColorGraph,
  createWaitGraph,
  readJob,
  waitForEnd,
  waitForStart,
} from "@/tests/integration/service/support";
import { type Controls, type Graph } from "./public-clients";
import { type Client } from "./service";

/** Cancels and deletes jobs. `client` belongs to the same user, who has no other jobs. One job runs at a time. */
export async function revertAllChanges(client: Client, controls: Controls): Promise<void> {
  const submit = (graph: object) => controls.submit(graph as Graph);
  const getStates = (ids: string[]) => Promise.all(ids.map(async (id) => (await readJob(client, id)).status));
  const first = await submit(createWaitGraph(600, 1));
  await waitForStart(client, first);
  if (controls.removeFromQueue && controls.clearQueue) {
    const queuedIds: string[] = [];
    for (const color of [2, 3, 4]) queuedIds.push(await submit(createWaitGraph(600, color)));
    await controls.removeFromQueue(queuedIds[1] ?? "");
    expect(await getStates([first, ...queuedIds])).toEqual(["in_progress", "pending", "cancelled", "pending"]);
    await controls.clearQueue();
    expect(await getStates([first, ...queuedIds])).toEqual(["in_progress", "cancelled", "cancelled", "cancelled"]);
  }
  await controls.interrupt(first);
  expect((await waitForEnd(client, first)).status).toBe("cancelled");

  const doneIds: string[] = [];
  for (const color of [5, 6]) doneIds.push(await submit(createColorGraph(color)));
  const [deletedId = "", keptId = ""] = doneIds;
  for (const id of doneIds) expect((await waitForEnd(client, id)).status).toBe("completed");
  expect(await controls.getHistoryEntry(deletedId)).toMatchObject({ status: { status_str: "success" } });
  await controls.deleteFromHistory(deletedId);
  expect(await controls.getHistoryEntry(deletedId)).toBeUndefined();
  expect(await controls.getHistoryEntry(keptId)).toMatchObject({ status: { status_str: "success" } });
  await controls.clearHistory();
  expect(await controls.getHistoryEntry(keptId)).toBeUndefined();
  expect(asRecords(asRecord((await client.get("/api/history_v2")).body).history)).toEqual([]);
  await controls.freeMemory?.();
}
