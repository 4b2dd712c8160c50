import "@/components/ui/toast-stack";
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { toQueueList } from "@/components/jobs/job-row";
import { QueueScreen } from "@/components/jobs/queue/queue-screen";
import { UNDO_WINDOW_MS } from "@/components/ui/hooks/use-pending-undo";
import { Toasts } from "@/components/ui/toasts";
import { type QueueView } from "@/lib/contract/console";
import { failed } from "@/lib/shared/result";
import { renderInApp } from "../render";
import { advanceTime, renderScreen, stubScreenWidth } from "../render-screen";
import { click, createRow, mockQueueApi, showBusyQueue, showQueue } from "./render-queue";

let requests: ReturnType<typeof mockQueueApi>["requests"];
let network: ReturnType<typeof mockQueueApi>["network"];
beforeEach(() => {
  // On narrow screens, rows have a second line.
  stubScreenWidth(false);
  ({ requests, network } = mockQueueApi());
});

it("hides the counts and Clear when the queue can't be read", async () => {
  const failure = failed({ code: "UPSTREAM_UNREACHABLE", message: "no", status: 502 });
  await renderScreen(<QueueScreen canCancel queue={Promise.resolve(failure)} />);
  await act(() => vi.dynamicImportSettled());
  expect(screen.getByText("Couldn't reach the service")).toBeDefined();
  expect(screen.queryByText(/0 running/)).toBeNull();
  expect(screen.queryByText("The queue is empty")).toBeNull();
  expect(screen.queryByRole("button", { name: "Clear" })).toBeNull();
});

it("shows a message when the queue is empty", async () => {
  await showQueue({});
  expect(screen.getByText("0 running, 0 pending")).toBeDefined();
  expect(screen.getByText("The queue is empty")).toBeDefined();
  expect(screen.getByRole("link", { name: "Run a workflow" }).getAttribute("href")).toBe("/run");
});

it("disables Clear when a cancel can still be undone", async () => {
  await showBusyQueue();
  click("Cancel job wait-1");
  click("Clear 2 pending jobs");
  expect(screen.queryByRole("dialog")).toBeNull();
  await advanceTime(UNDO_WINDOW_MS);
  expect(requests).toHaveLength(1);
});

it("shows a separate Undo for each cancelled job", async () => {
  await showBusyQueue();
  renderInApp(<Toasts />);
  click("Cancel job wait-1");
  await advanceTime(UNDO_WINDOW_MS - 1_000);
  click("Cancel job wait-2");
  expect(screen.getAllByText("Cancelling 1 job")).toHaveLength(2);
  expect(requests).toEqual([]);
  await advanceTime(1_000);
  expect(requests).toMatchObject([{ json: { delete: ["wait-1"] } }]);
  click("Undo cancelling job wait-2");
  await advanceTime(0);
  expect(screen.getByText("Kept 1 job")).toBeDefined();
  await advanceTime(UNDO_WINDOW_MS);
  expect(requests).toHaveLength(1);
});

it("restores one job with the row's Undo and all with the action's Undo", async () => {
  await showBusyQueue();
  renderInApp(<Toasts />);
  const cancelBoth = () => {
    for (const id of ["wait-1", "wait-2"]) fireEvent.click(screen.getByRole("checkbox", { name: `Select job ${id}` }));
    click("Cancel");
  };
  cancelBoth();
  click("Undo");
  await advanceTime(0);
  expect(screen.getByText("Kept 2 jobs")).toBeDefined();
  cancelBoth();
  click("Undo cancelling job wait-1");
  expect(screen.getByText("Cancelling 1 job")).toBeDefined();
  await advanceTime(UNDO_WINDOW_MS);
  expect(requests).toMatchObject([{ json: { delete: ["wait-2"] } }]);
});

it("sends pending cancels with keepalive when the page closes", async () => {
  await showBusyQueue();
  click("Cancel job wait-1");
  click("Cancel job wait-2");
  await act(async () => void window.dispatchEvent(new Event("pagehide")));
  expect(requests).toMatchObject([
    { json: { delete: ["wait-1"] }, keepalive: true },
    { json: { delete: ["wait-2"] }, keepalive: true },
  ]);
  cleanup();
  expect(requests).toHaveLength(2);
});

it("offers Stop only when the service supports it", async () => {
  await showBusyQueue();
  expect(screen.queryByRole("button", { name: "Stop job runs-1" })).toBeNull();
  cleanup();
  await showBusyQueue(true);
  click("Stop job runs-1");
  await advanceTime(UNDO_WINDOW_MS);
  expect(requests).toMatchObject([{ path: expect.stringContaining("/api/console/jobs/stop"), json: { ids: ["runs-1"] } }]);
  expect(screen.getByText("1 stopped")).toBeDefined();
});

/** Returns the text of a job's cell in a column. */
function getCellText(id: string, column: string): string | null | undefined {
  const index = screen.getAllByRole("columnheader").findIndex(({ textContent }) => textContent === column);
  return screen.getByTitle(id).closest("tr")?.children[index]?.textContent;
}

it("shows how long a job waited, or a dash when unknown", async () => {
  vi.useFakeTimers({ now: 100_000 });
  const running = [
    { ...createRow("immediate", "in_progress"), createdMs: 40_000, startedMs: 40_000 },
    { ...createRow("later", "in_progress"), createdMs: 30_000, startedMs: 42_500 },
    { ...createRow("unknown", "in_progress"), createdMs: 30_000 },
  ];
  await showQueue({ running, pending: [{ ...createRow("waits", "pending"), createdMs: 58_000 }] });
  const waitedTexts = ["immediate", "later", "unknown", "waits"].map((id) => getCellText(id, "Waited"));
  expect(waitedTexts).toEqual(["0.0 s", "12.5 s", "–", "42 s"]);
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
  await showQueue(toQueueList(list), "away");
  await advanceTime(60_000);
  expect(screen.getByText(/^not updated since/)).toBeDefined();
  expect(getCellText("waits", "Waited")).toBe("42 s");
  isUnavailable = false;
  await advanceTime(60_000);
  expect(screen.getByText("live")).toBeDefined();
  expect(getCellText("waits", "Waited")).toMatch(/^2m/);
});

it("shows the runner's queue position when a runner has queued the job", async () => {
  const waiting = { state: "queued" as const, runners: ["GPU 1"], ahead: 1, message: "" };
  await showQueue({ pending: [{ ...createRow("queued-1", "pending"), waiting }] });
  expect(getCellText("queued-1", "Estimated start")).toBe("queued on GPU 1, behind 1 job");
});

it("reports a cancel that fails when the page closes", async () => {
  network.isBroken = true;
  renderInApp(<Toasts />);
  await showBusyQueue();
  click("Cancel job wait-1");
  await act(async () => void window.dispatchEvent(new Event("pagehide")));
  await advanceTime(0);
  expect(screen.getByText(/^1 with an unknown result: Couldn't reach Lightdesk/)).toBeDefined();
});
