// Lists that can no longer be read, most of them empty.
import { act, cleanup, screen } from "@testing-library/react";
import { type ReactNode, Suspense } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { everyApp } from "@/components/apps/apps-address";
import { AppsScreen } from "@/components/apps/apps-screen";
import { FilesScreen } from "@/components/files/files-screen";
import { toFilesView } from "@/components/files/files-view";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { type JobsView } from "@/components/jobs/job-row";
import { HistoryScreen } from "@/components/jobs/list/history-screen";
import { JobsScreen } from "@/components/jobs/list/jobs-screen";
import { readList } from "@/components/jobs/list/list-address";
import { QueueScreen } from "@/components/jobs/queue/queue-screen";
import { RunnersScreen } from "@/components/settings/runners/runners-screen";
import { UsageScreen } from "@/components/settings/usage/usage-screen";
import { recordSkipped } from "@/lib/contract/json/readers";
import { ok } from "@/lib/shared/result";
import { AtPage } from "@/tests/support/at-page";
import { LIVE_MS } from "@/tests/support/mock-live";
import { renderInApp } from "./render";
import { builtInRunner } from "./settings/runners";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("offline")));
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
});

const filesQuery = { dir: "/", all: false, name: "", sort: "name", order: "asc", offset: 0 } as const;
const resolveRead = <T,>(value: T) => Promise.resolve(ok({ value, atMs: Date.now() }));
const jobsQuery = { sort_by: "create_time", sort_order: "desc", offset: 0, limit: 100, status: ["failed" as const] } as const;
const jobsScreen = (view: JobsView) => (
  <JobsScreen isTeam={false} canRun query={{ ...jobsQuery, status: [...jobsQuery.status] }} ignored={[]} first={resolveRead(view)} />
);
const lists: [string, string, () => ReactNode][] = [
  ["jobs", "No jobs match these filters", () => jobsScreen({ rows: [], total: 0, hasMore: false, unreadable: 0 })],
  [
    "history",
    "No entries match these filters",
    () => (
      <HistoryScreen
        isTeam={false}
        canRun
        ignored={[]}
        query={readList("history", new URLSearchParams("status=failed")).query}
        first={resolveRead({ rows: [], unreadable: 0 })}
      />
    ),
  ],
  ["files", "No files yet", () => <FilesScreen canChange query={filesQuery} files={resolveRead(toFilesView([], filesQuery))} />],
  ["apps", "No apps yet", () => <AppsScreen canCreate search={everyApp} apps={resolveRead({ apps: [], tags: [] })} />],
  ["runners", "Only the built-in runner so far", () => <RunnersScreen role="admin" canChange runners={resolveRead([builtInRunner])} />],
  [
    "queue",
    "The queue is empty",
    () => (
      <QueueScreen
        canCancel
        queue={resolveRead({ running: [], pending: [], pendingTotal: 0, isSortedBySubmission: false, canStop: false })}
      />
    ),
  ],
];

async function show(list: ReactNode, connection = "home") {
  const home = { id: connection, name: "Studio", embedded: true };
  await act(async () => {
    renderInApp(
      <AtPage search={new URLSearchParams("status=failed")}>
        <ConnectionProvider currentId={connection} connections={[home]}>
          <Suspense>{list}</Suspense>
        </ConnectionProvider>
      </AtPage>,
    );
  });
}

it.each(lists)("of %s report a failure instead of being empty", async (_, nothing, list) => {
  await show(list());
  await act(() => vi.dynamicImportSettled());
  expect(screen.getByText(nothing)).toBeDefined();
  await act(() => vi.advanceTimersByTimeAsync(LIVE_MS * 2));
  expect(screen.getByText("Lightdesk cannot be reached")).toBeDefined();
  expect(screen.queryByText(nothing)).toBeNull();
  // No number is shown either.
  expect(screen.queryByText(/^0( bytes in total| running, 0 pending)?$/)).toBeNull();
});

it("count unreadable rows of files, also after the next response", async () => {
  const respond = () => Promise.resolve(new Response("[]", { headers: { "x-lightdesk-unreadable": "3" } }));
  vi.stubGlobal("fetch", respond);
  await show(<FilesScreen canChange query={filesQuery} files={resolveRead(toFilesView(recordSkipped([], 1), filesQuery))} />, "damaged");
  expect(screen.getByText("1 entry couldn't be read.")).toBeDefined();
  expect(screen.queryByText("No files yet")).toBeNull();
  await act(() => vi.advanceTimersByTimeAsync(LIVE_MS * 2));
  expect(screen.getByText("3 entries couldn't be read.")).toBeDefined();
});

it.each([
  ["jobs", () => jobsScreen({ rows: [], unreadable: 2 })],
  [
    "history",
    () => (
      <HistoryScreen
        isTeam={false}
        canRun
        ignored={[]}
        query={readList("history", new URLSearchParams("status=failed")).query}
        first={resolveRead({ rows: [], unreadable: 2 })}
      />
    ),
  ],
  [
    "queue",
    () => {
      const none = { running: [], pending: [], pendingTotal: 0, isSortedBySubmission: false, canStop: false };
      return <QueueScreen canCancel queue={resolveRead({ ...none, unreadable: 2 })} />;
    },
  ],
])("of %s count unreadable rows and are not shown as empty", async (_, list) => {
  await show(list(), "partly");
  await act(() => vi.dynamicImportSettled());
  expect(screen.getByText("2 entries couldn't be read.")).toBeDefined();
  expect(screen.queryByText(/^(No jobs match these filters|No jobs yet|No entries match these filters|The queue is empty)$/)).toBeNull();
});

it("keeps rows under one notice when usage cannot be read", async () => {
  const none = { fromMs: 0, toMs: 1, rows: [], isOfAll: true };
  const row = { member: { id: "m", name: "Ada" }, connection: { kind: "removed" as const }, runs: 7 };
  const figures = { failed: { value: 0 }, seconds: {}, outputs: {}, bytes: {} };
  for (const usage of [none, { ...none, rows: [{ ...row, ...figures }] }]) {
    await show(<UsageScreen query={{ within: 720 }} usage={resolveRead(usage)} />);
    expect(screen.queryByText("No jobs in this period") === null).toBe(usage.rows.length > 0);
    await act(() => vi.advanceTimersByTimeAsync(LIVE_MS * 10));
    expect(screen.getByText("Lightdesk cannot be reached")).toBeDefined();
    expect(screen.queryByText("No jobs in this period")).toBeNull();
    expect(screen.queryAllByText("Ada")).toHaveLength(usage.rows.length);
    cleanup();
  }
});

it("stops clocks of a failing list at its last response", async () => {
  // A whole second, since the page shows whole seconds.
  vi.setSystemTime(1_800_000_000_000);
  const startedMs = Date.now() - 24_000;
  const row = { id: "job-1", word: "in_progress", state: "in_progress" as const, outputs: 0, startedMs };
  const query = { ...jobsQuery, status: [...jobsQuery.status] };
  await show(
    <JobsScreen
      isTeam={false}
      canRun
      query={query}
      ignored={[]}
      first={resolveRead({ rows: [row], total: 1, hasMore: false, unreadable: 0 })}
    />,
    "other",
  );
  expect(screen.getByText("24 s")).toBeDefined();
  await act(() => vi.advanceTimersByTimeAsync(LIVE_MS * 2));
  expect(screen.getByText("Lightdesk cannot be reached")).toBeDefined();
  expect(screen.getByText("24 s")).toBeDefined();
});
