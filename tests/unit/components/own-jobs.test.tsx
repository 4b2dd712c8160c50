import { act, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { notificationChoice, OwnJobs } from "@/components/frame/own-jobs";
import { Toasts } from "@/components/ui/toasts";
import { notifyResponse } from "@/lib/browser/api";
import { liveState } from "@/lib/browser/live/live-state";
import { liveModule } from "@/lib/browser/live/use-live";
import { type JobListItem } from "@/lib/contract/schemas/job";
import { LIVE_INTERVAL_MS } from "@/tests/support/mock-live";
import { advanceTime, press, renderScreen } from "./render-screen";

type Row = Pick<JobListItem, "id" | "status" | "progress" | "expected_run">;
let running: Row[];
let runs: string[];
let queueTotal: number | undefined;
let endStates: Record<string, string>;
let notifications: { title: string; body?: string; tag?: string; notice: { onclick?: () => void; close: () => void } }[];
let visibility: DocumentVisibilityState;

beforeEach(() => {
  vi.useFakeTimers();
  liveState.setState({ isLive: true });
  [running, runs, endStates, notifications, visibility, queueTotal] = [[], [], {}, [], "visible", undefined];
  document.title = "Jobs";
  // jsdom has no window.focus.
  window.focus = () => undefined;
  vi.spyOn(document, "visibilityState", "get").mockImplementation(() => visibility);
  vi.stubGlobal("fetch", async (path: string) => {
    if (path.startsWith("/api/console/queue"))
      return Response.json({ running, pending: [], source: "queue", canStop: true, total: queueTotal });
    const [, runId] = /^\/api\/apps\/poster\/runs(?:\/([^?]+))?/.exec(path) ?? [];
    const getState = (value: string) => endStates[value] ?? "in_progress";
    if (runId !== undefined) return Response.json({ run: { id: runId, state: getState(runId) } });
    if (path.startsWith("/api/apps/poster/runs"))
      return Response.json({ runs: runs.map((run) => ({ id: run, state: getState(run), progress: 0.25 })) });
    const id = /^\/api\/jobs\/([^?]+)/.exec(path)?.[1] ?? "";
    return endStates[id]
      ? Response.json({ id, status: endStates[id] })
      : Response.json({ code: "NOT_FOUND", message: "" }, { status: 404 });
  });
  vi.stubGlobal("Notification", createNotificationClass("granted"));
});

function createNotificationClass(permission: NotificationPermission) {
  return class {
    static permission = permission;
    static requestPermission = async () => (this.permission = "granted");
    onclick?: () => void;
    close = () => undefined;
    constructor(title: string, options: { body?: string; tag?: string }) {
      notifications.push({ title, ...options, notice: this });
    }
  };
}

const push = vi.fn();
const show = () =>
  renderScreen(
    <>
      <OwnJobs />
      <Toasts />
    </>,
    { connectionId: "c1", router: { push } },
  );
async function submit(ids: string[], batch?: string) {
  await act(async () => {
    for (const id of ids) notifyResponse({ path: "/api/prompt", method: "POST", status: 200, action: batch, value: { prompt_id: id } });
  });
  running = [...running, ...ids.map((id) => ({ id, status: "in_progress" }))];
  await advanceTime(2 * LIVE_INTERVAL_MS);
}
async function endJobs(states: Record<string, string>) {
  running = running.filter(({ id }) => !(id in states));
  endStates = { ...endStates, ...states };
  await advanceTime(2 * LIVE_INTERVAL_MS);
}
async function setVisibility(state: DocumentVisibilityState) {
  visibility = state;
  await act(async () => void document.dispatchEvent(new Event("visibilitychange")));
}

it("shows the progress and results of own jobs in a hidden tab's title", async () => {
  await show();
  await submit(["a", "b", "c"]);
  await setVisibility("hidden");
  running = running.map((row) => ({ ...row, progress: { value: 0.42 } }));
  await advanceTime(LIVE_INTERVAL_MS);
  expect(document.title).toBe("42% · Jobs");
  // The expected duration takes precedence over the progress by nodes.
  const expected_run = { low_ms: 900_000, median_ms: 1_000_000, high_ms: 1_100_000, late_ms: 1_200_000 };
  running = running.map((row) => ({ ...row, progress: { ...row.progress, start_time: Date.now() - 500_000 }, expected_run }));
  await advanceTime(LIVE_INTERVAL_MS);
  expect(document.title).toBe("50% · Jobs");
  await endJobs({ a: "completed", b: "failed", c: "completed" });
  expect(document.title).toBe("✕ 1 failed · ✓ 2 finished · Jobs");
  await setVisibility("visible");
  expect(document.title).toBe("Jobs");
});

it("reports all results when the queue is truncated and a read fails", async () => {
  vi.spyOn(liveModule, "load").mockResolvedValue({ watchLive: () => () => undefined, restartLive: () => undefined });
  queueTotal = 5;
  await show();
  await act(async () => {
    for (const id of ["a", "b"]) notifyResponse({ path: "/api/prompt", method: "POST", status: 200, value: { prompt_id: id } });
  });
  await setVisibility("hidden");
  endStates = { a: "in_progress", b: "in_progress" };
  await advanceTime(10_000);
  expect(document.title).toBe("Jobs");
  endStates = { a: "completed", b: "completed" };
  await advanceTime(5_000);
  expect(document.title).toBe("✓ 2 finished · Jobs");
});

it("omits other members' jobs and cancelled jobs from the title", async () => {
  await show();
  await submit(["a"]);
  await setVisibility("hidden");
  running = [...running, { id: "other-member", status: "in_progress" }];
  await advanceTime(LIVE_INTERVAL_MS);
  await endJobs({ a: "cancelled", "other-member": "completed" });
  expect(document.title).toBe("Jobs");
});

it("sends one notification per batch and opens the list or the single job", async () => {
  notificationChoice.set("all");
  await show();
  await submit(["a", "b"], "copies");
  await submit(["single"]);
  await setVisibility("hidden");
  await endJobs({ a: "completed" });
  expect(notifications).toEqual([]);
  await endJobs({ b: "failed" });
  expect(notifications.map(({ body }) => body)).toEqual(["✕ 1 failed · ✓ 1 finished"]);
  notifications[0]?.notice.onclick?.();
  expect(push.mock.lastCall?.[0]).toBe("/jobs?connection=c1");
  await endJobs({ single: "completed" });
  expect(notifications.map(({ body }) => body).slice(1)).toEqual(["✓ 1 finished"]);
  notifications[1]?.notice.onclick?.();
  expect(push.mock.lastCall?.[0]).toBe("/jobs/single?connection=c1");
});

it.each([
  ["off", "failed", 0],
  ["failed", "completed", 0],
  ["failed", "failed", 1],
] as const)("applies the choice %s to a job that is %s: sends %i", async (choice, state, count) => {
  notificationChoice.set(choice);
  await show();
  await submit(["a"]);
  await setVisibility("hidden");
  await endJobs({ a: state });
  expect(notifications).toHaveLength(count);
});

it("reports the runs of an app and opens the app", async () => {
  notificationChoice.set("all");
  await show();
  runs = ["r1", "r2", "r3"];
  for (const id of runs)
    await act(async () =>
      notifyResponse({ path: "/api/apps/poster/runs", method: "POST", status: 201, value: { run: { id, state: "sending" } } }),
    );
  await setVisibility("hidden");
  await advanceTime(2 * LIVE_INTERVAL_MS);
  expect(document.title).toBe("25% · Jobs");
  await endJobs({ r1: "completed", r2: "failed", r3: "refused" });
  expect(document.title).toBe("✕ 1 failed · ✓ 1 finished · Jobs");
  expect(notifications.map(({ body }) => body)).toEqual(["✓ 1 finished", "✕ 1 failed"]);
  notifications[0]?.notice.onclick?.();
  expect(push.mock.lastCall?.[0]).toBe("/apps/poster");
});

it("follows the newest of more than 1,000 jobs", async () => {
  const jobs = Array.from({ length: 1_000 }, (_, index) => ({ id: `n${index}`, connection: "c1", batch: "b", atMs: Date.now() }));
  running = jobs.map(({ id }) => ({ id, status: "in_progress" }));
  sessionStorage.setItem("lightdesk.own-jobs", JSON.stringify(jobs));
  await show();
  await submit(["newest"]);
  await setVisibility("hidden");
  await endJobs({ newest: "completed" });
  expect(document.title).toBe("✓ 1 finished · Jobs");
});

it("neither offers nor sends notifications when the browser can't create them", async () => {
  const NotificationClass = createNotificationClass("default");
  vi.stubGlobal(
    "Notification",
    class extends NotificationClass {
      constructor() {
        super("", {});
        throw new TypeError("Illegal constructor");
      }
    },
  );
  await show();
  await submit(["a"]);
  await advanceTime(10_000 + 2 * LIVE_INTERVAL_MS);
  await act(() => vi.dynamicImportSettled());
  expect(screen.queryByText("Get notified when your jobs finish?")).toBeNull();
  notificationChoice.set("all");
  await Notification.requestPermission();
  await setVisibility("hidden");
  await endJobs({ a: "completed" });
  expect(document.title).toBe("✓ 1 finished · Jobs");
});

it("offers notifications when a job runs for more than 10 seconds", async () => {
  vi.stubGlobal("Notification", createNotificationClass("default"));
  await show();
  await submit(["a"]);
  expect(screen.queryByText("Get notified when your jobs finish?")).toBeNull();
  await advanceTime(10_000 + 2 * LIVE_INTERVAL_MS);
  await act(() => vi.dynamicImportSettled());
  expect(screen.getByText("Get notified when your jobs finish?")).toBeDefined();
  await press("Notify me");
  expect(notificationChoice.get()).toBe("all");
  expect(Notification.permission).toBe("granted");
});
