// Renders the queue page, by default with one running and two pending jobs.
import { act, fireEvent, screen } from "@testing-library/react";
import { vi } from "vitest";
import { type JobRow, type QueueList } from "@/components/jobs/job-row";
import { QueueScreen } from "@/components/jobs/queue/queue-screen";
import { createReadResult, renderScreen } from "../render-screen";

export const createRow = (id: string, state: "pending" | "in_progress"): JobRow => ({ id, rawStatus: state, state, createdMs: 1 });
const busyQueue = {
  running: [createRow("runs-1", "in_progress")],
  pending: [createRow("wait-1", "pending"), createRow("wait-2", "pending")],
};

export async function showQueue(queue: Partial<QueueList>, connectionId?: string) {
  const defaults = { running: [], pending: [], pendingTotal: queue.pending?.length ?? 0, isSortedBySubmission: false, canStop: false };
  await renderScreen(<QueueScreen canCancel queue={createReadResult({ ...defaults, ...queue })} />, { connectionId });
  await act(() => vi.dynamicImportSettled());
}
export async function showBusyQueue(canStop = false) {
  vi.useFakeTimers();
  await showQueue({ ...busyQueue, canStop });
}

/** Replaces `fetch`: records POST requests and responds like the console. */
export function mockQueueApi() {
  const network = { isBroken: false };
  const requests: { path: string; json: unknown; keepalive: boolean }[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    if (network.isBroken) throw new TypeError("offline");
    if (init.method !== "POST") return Response.json({ running: [], pending: [], source: "jobs", canStop: false });
    requests.push({ path, json: JSON.parse(String(init.body)), keepalive: init.keepalive === true });
    if (path.startsWith("/api/queue")) return Response.json({ deleted: ["wait-1"], cleared: false });
    return Response.json({ stopped: ["runs-1"], stopping: [], over: [], unable: [], together: 0 });
  });
  return { network, requests };
}
export const click = (name: string) => fireEvent.click(screen.getByRole("button", { name }));
