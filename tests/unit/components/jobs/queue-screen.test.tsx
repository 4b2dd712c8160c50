import "@/components/ui/toast-stack";
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { Suspense } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { type JobRow, toQueueList } from "@/components/jobs/job-row";
import { QueueScreen } from "@/components/jobs/queue/queue-screen";
import { UNDO_WINDOW_MS } from "@/components/ui/hooks/use-pending-undo";
import { Toasts } from "@/components/ui/toasts";
import { type QueueView } from "@/lib/contract/console";
import { failed, ok } from "@/lib/shared/result";
import { renderInApp } from "../render";
import { busyQueue, createRow, mockQueueApi, press, showBusyQueue, showQueue } from "./render-queue";

// jsdom has no media queries. The test uses a narrow screen, where rows have a second line.
beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }));
});

it("hides the counts and Clear when the queue can't be read", async () => {
  await showQueue(Promise.resolve(failed({ code: "UPSTREAM_UNREACHABLE", message: "no", status: 502 })));
  expect(screen.getByText("The service cannot be reached")).toBeDefined();
  expect(screen.queryByText(/0 running/)).toBeNull();
  expect(screen.queryByText("The queue is empty")).toBeNull();
  expect(screen.queryByRole("button", { name: "Clear" })).toBeNull();
});

it("shows a message when the queue is empty", async () => {
  await showQueue(
    Promise.resolve(ok({ value: { running: [], pending: [], pendingTotal: 0, isSortedBySubmission: false, canStop: false }, atMs: 1 })),
  );
  expect(screen.getByText("0 running, 0 pending")).toBeDefined();
  expect(screen.getByText("The queue is empty")).toBeDefined();
  expect(screen.getByRole("link", { name: "Run a workflow" }).getAttribute("href")).toBe("/run");
});

it("disables Clear when a cancel can still be undone", async () => {
  const requests = await showBusyQueue(false);
  press("Cancel job wait-1");
  press("Clear 2 pending jobs");
  expect(screen.queryByRole("dialog")).toBeNull();
  await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS));
  expect(requests).toHaveLength(1);
});

it("gives each cancelled job its own Undo", async () => {
  const requests = await showBusyQueue(false);
  renderInApp(<Toasts />);
  press("Cancel job wait-1");
  await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS - 1_000));
  press("Cancel job wait-2");
  expect(screen.getAllByText("Cancelling 1 job")).toHaveLength(2);
  expect(requests).toEqual([]);
  await act(() => vi.advanceTimersByTimeAsync(1_000));
  expect(requests).toMatchObject([{ json: { delete: ["wait-1"] } }]);
  press("Undo cancelling job wait-2");
  await act(() => vi.advanceTimersByTimeAsync(0));
  expect(screen.getByText("Kept 1 job")).toBeDefined();
  await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS));
  expect(requests).toHaveLength(1);
});

it("restores one job with the row's Undo and all with the action's Undo", async () => {
  const requests = await showBusyQueue(false);
  renderInApp(<Toasts />);
  const cancelBoth = () => {
    for (const id of ["wait-1", "wait-2"]) fireEvent.click(screen.getByRole("checkbox", { name: `Select job ${id}` }));
    press("Cancel");
  };
  cancelBoth();
  press("Undo");
  await act(() => vi.advanceTimersByTimeAsync(0));
  expect(screen.getByText("Kept 2 jobs")).toBeDefined();
  cancelBoth();
  press("Undo cancelling job wait-1");
  expect(screen.getByText("Cancelling 1 job")).toBeDefined();
  await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS));
  expect(requests).toMatchObject([{ json: { delete: ["wait-2"] } }]);
});

it("sends pending cancels with keepalive when the page closes", async () => {
  const requests = await showBusyQueue(false);
  press("Cancel job wait-1");
  press("Cancel job wait-2");
  await act(async () => void window.dispatchEvent(new Event("pagehide")));
  expect(requests).toMatchObject([
    { json: { delete: ["wait-1"] }, keepalive: true },
    { json: { delete: ["wait-2"] }, keepalive: true },
  ]);
  cleanup();
  expect(requests).toHaveLength(2);
});

it("offers Stop only when the service supports it", async () => {
  await showBusyQueue(false);
  expect(screen.queryByRole("button", { name: "Stop job runs-1" })).toBeNull();
  cleanup();
  const requests = await showBusyQueue(true);
  press("Stop job runs-1");
  await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS));
  expect(requests).toMatchObject([{ path: expect.stringContaining("/api/console/jobs/stop"), json: { ids: ["runs-1"] } }]);
  expect(screen.getByText("1 stopped")).toBeDefined();
});

/** Returns the text of a job's cell in the column "Waited". */
function getWaitedText(id: string): string | null | undefined {
  const index = screen.getAllByRole("columnheader").findIndex(({ textContent }) => textContent === "Waited");
  return screen.getByTitle(id).closest("tr")?.children[index]?.textContent;
}

it("shows how long a job waited, or a dash when unknown", async () => {
  vi.useFakeTimers({ now: 100_000 });
  mockQueueApi();
  const running: JobRow[] = [
    { ...createRow("immediate", "in_progress"), createdMs: 40_000, startedMs: 40_000 },
    { ...createRow("later", "in_progress"), createdMs: 30_000, startedMs: 42_500 },
    { ...createRow("unknown", "in_progress"), createdMs: 30_000 },
  ];
  const pending = [{ ...createRow("waits", "pending"), createdMs: 58_000 }];
  await showQueue(
    Promise.resolve(ok({ value: { running, pending, pendingTotal: 1, isSortedBySubmission: false, canStop: false }, atMs: 100_000 })),
  );
  expect(["immediate", "later", "unknown", "waits"].map(getWaitedText)).toEqual(["0.0 s", "12.5 s", "–", "42 s"]);
});

it("pauses the clocks when the service is unreachable", async () => {
  const nowMs = 1_800_000_000_000;
  vi.useFakeTimers({ now: nowMs });
  const waits = { id: "waits", status: "pending", create_time: nowMs - 42_000 };
  const list: QueueView = { pending: [waits], running: [], source: "queue", canStop: false };
  let isUnavailable = true;
  vi.stubGlobal("fetch", async () =>
    isUnavailable ? Response.json({ code: "UPSTREAM_UNREACHABLE", message: "no" }, { status: 502 }) : Response.json(list),
  );
  const queue = Promise.resolve(ok({ value: toQueueList(list), atMs: nowMs }));
  await act(async () => {
    renderInApp(
      <ConnectionProvider currentId="away" connections={[{ id: "away", name: "Away", embedded: true }]}>
        <Suspense>
          <QueueScreen canCancel queue={queue} />
        </Suspense>
      </ConnectionProvider>,
    );
    await queue;
  });
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  expect(screen.getByText(/^not updated since/)).toBeDefined();
  expect(getWaitedText("waits")).toBe("42 s");
  isUnavailable = false;
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  expect(screen.getByText("live")).toBeDefined();
  expect(getWaitedText("waits")).toMatch(/^2m/);
});

it("shows the runner's queue position when a runner has queued the job", async () => {
  const waits = { state: "queued", runners: ["GPU 1"], ahead: 1, message: "" } as const;
  const pending = [{ ...createRow("queued-1", "pending"), waiting: { ...waits, runners: [...waits.runners] } }];
  mockQueueApi();
  await showQueue(
    Promise.resolve(ok({ value: { running: [], pending, pendingTotal: 1, isSortedBySubmission: false, canStop: false }, atMs: 1 })),
  );
  const index = screen.getAllByRole("columnheader").findIndex(({ textContent }) => textContent === "May start");
  expect(screen.getByTitle("queued-1").closest("tr")?.children[index]?.textContent).toBe("queued on GPU 1, behind 1 job");
});

/** Requests fail until `network.isBroken` is false. */
function breakNetwork() {
  const network = { isBroken: true };
  const requests = mockQueueApi();
  const originalFetch = globalThis.fetch;
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    if (network.isBroken) throw new TypeError("offline");
    return originalFetch(path, init);
  });
  return { network, sent: requests };
}

it("explains a failed cancel and sends it again on Retry", async () => {
  vi.useFakeTimers();
  const { network, sent } = breakNetwork();
  await showQueue(Promise.resolve(ok({ value: { ...busyQueue, pendingTotal: 2, isSortedBySubmission: false, canStop: false }, atMs: 1 })));
  press("Cancel job wait-1");
  await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS));
  // The lookup code is loaded after the response is lost.
  await act(() => vi.dynamicImportSettled());
  expect(screen.getByText("1 with an unknown result")).toBeDefined();
  expect(screen.getByText(/^Lightdesk cannot be reached/)).toBeDefined();
  network.isBroken = false;
  press("Retry 1");
  await act(() => vi.advanceTimersByTimeAsync(0));
  expect(sent).toMatchObject([{ json: { delete: ["wait-1"] } }]);
  expect(screen.getByText("1 cancelled")).toBeDefined();
});

it("reports a cancel that fails when the page closes", async () => {
  vi.useFakeTimers();
  breakNetwork();
  renderInApp(<Toasts />);
  await showQueue(Promise.resolve(ok({ value: { ...busyQueue, pendingTotal: 2, isSortedBySubmission: false, canStop: false }, atMs: 1 })));
  press("Cancel job wait-1");
  await act(async () => void window.dispatchEvent(new Event("pagehide")));
  await act(() => vi.advanceTimersByTimeAsync(0));
  expect(screen.getByText(/^1 with an unknown result: Lightdesk cannot be reached/)).toBeDefined();
});

it("keeps the dialog open when clearing fails, and retries", async () => {
  vi.useFakeTimers();
  const { network, sent } = breakNetwork();
  await showQueue(Promise.resolve(ok({ value: { ...busyQueue, pendingTotal: 2, isSortedBySubmission: false, canStop: false }, atMs: 1 })));
  press("Clear 2 pending jobs");
  const dialog = within(screen.getByRole("dialog"));
  const confirm = () => act(async () => void fireEvent.click(dialog.getByRole("button", { name: "Clear 2 pending jobs" })));
  await confirm();
  expect(dialog.getByRole("alert").textContent).toContain("Lightdesk cannot be reached");
  network.isBroken = false;
  await confirm();
  expect(sent).toMatchObject([{ json: { clear: true } }]);
  expect(screen.queryByRole("alert")).toBeNull();
  expect(screen.getByText("1 cancelled, 1 had already started")).toBeDefined();
});
