// Renders the queue page, by default with one running and two pending jobs.
import { act, fireEvent, screen } from "@testing-library/react";
import { Suspense } from "react";
import { vi } from "vitest";
import { type JobRow } from "@/components/jobs/job-row";
import { QueueScreen } from "@/components/jobs/queue/queue-screen";
import { ok } from "@/lib/shared/result";
import { renderInApp } from "../render";

export async function showQueue(queue: Parameters<typeof QueueScreen>[0]["queue"]) {
  await act(async () => {
    renderInApp(
      <Suspense>
        <QueueScreen canCancel queue={queue} />
      </Suspense>,
    );
    await queue;
  });
  await act(() => vi.dynamicImportSettled());
}

export const createRow = (id: string, state: "pending" | "in_progress"): JobRow => ({ id, rawStatus: state, state, createdMs: 1 });
export const busyQueue = {
  running: [createRow("runs-1", "in_progress")],
  pending: [createRow("wait-1", "pending"), createRow("wait-2", "pending")],
};

/** Replaces `fetch`: records requests and responds like the console. */
export function mockQueueApi() {
  const requests: { path: string; json: unknown; keepalive: boolean }[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    if (init.method === "POST") requests.push({ path, json: JSON.parse(String(init.body)), keepalive: init.keepalive === true });
    if (init.method !== "POST") return Response.json({ running: [], pending: [], source: "jobs", canStop: false });
    if (path.startsWith("/api/queue")) return Response.json({ deleted: ["wait-1"], cleared: false });
    return Response.json({ stopped: ["runs-1"], stopping: [], over: [], unable: [], together: 0 });
  });
  return requests;
}
export async function showBusyQueue(canStop: boolean) {
  vi.useFakeTimers();
  const requests = mockQueueApi();
  await showQueue(Promise.resolve(ok({ value: { ...busyQueue, pendingTotal: 2, isSortedBySubmission: false, canStop }, atMs: 1 })));
  return requests;
}
export const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));
