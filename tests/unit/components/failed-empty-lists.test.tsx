// Lists that can't be loaded or have unreadable rows.
import { act, cleanup, screen } from "@testing-library/react";
import { type ReactNode, Suspense } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { AppsScreen } from "@/components/apps/apps-screen";
import { DEFAULT_APPS_SEARCH } from "@/components/apps/apps-urls";
import { FilesScreen } from "@/components/files/files-screen";
import { toFilesView } from "@/components/files/files-view";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { type JobsView } from "@/components/jobs/job-row";
import { HistoryScreen } from "@/components/jobs/list/history-screen";
import { JobsScreen } from "@/components/jobs/list/jobs-screen";
import { parseListQuery } from "@/components/jobs/list/list-urls";
import { QueueScreen } from "@/components/jobs/queue/queue-screen";
import { RunnersScreen } from "@/components/settings/runners/runners-screen";
import { UsageScreen } from "@/components/settings/usage/usage-screen";
import { recordSkipped } from "@/lib/contract/json/readers";
import { ok } from "@/lib/shared/result";
import { LIVE_INTERVAL_MS } from "@/tests/support/mock-live";
import { PageProvider } from "@/tests/support/page-provider";
import { renderInApp } from "./render";
import { builtInRunner } from "./settings/runners";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("offline")));
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
});

const filesQuery = { dir: "/", all: false, name: "", sort: "name", order: "asc", offset: 0 } as const;
const createReadResult = <T,>(value: T) => Promise.resolve(ok({ value, atMs: Date.now() }));
const jobsQuery = { sort_by: "create_time", sort_order: "desc", offset: 0, limit: 100, status: ["failed" as const] } as const;
const jobsScreen = (view: JobsView) => (
  <JobsScreen
    isTeam={false}
    canRun
    query={{ ...jobsQuery, status: [...jobsQuery.status] }}
    ignored={[]}
    initialResponse={createReadResult(view)}
  />
);
const emptyLists: [string, string, () => ReactNode][] = [
  ["jobs", "No jobs match these filters", () => jobsScreen({ rows: [], total: 0, hasMore: false, unreadable: 0 })],
  [
    "history",
    "No entries match these filters",
    () => (
      <HistoryScreen
        isTeam={false}
        canRun
        ignored={[]}
        query={parseListQuery("history", new URLSearchParams("status=failed")).query}
        initialResponse={createReadResult({ rows: [], unreadable: 0 })}
      />
    ),
  ],
  ["files", "No files yet", () => <FilesScreen canChange query={filesQuery} files={createReadResult(toFilesView([], filesQuery))} />],
  ["apps", "No apps yet", () => <AppsScreen canCreate search={DEFAULT_APPS_SEARCH} apps={createReadResult({ apps: [], tags: [] })} />],
  [
    "runners",
    "Only the built-in runner so far",
    () => <RunnersScreen role="admin" canChange runners={createReadResult([builtInRunner])} />,
  ],
  [
    "queue",
    "The queue is empty",
    () => (
      <QueueScreen
        canCancel
        queue={createReadResult({ running: [], pending: [], pendingTotal: 0, isSortedBySubmission: false, canStop: false })}
      />
    ),
  ],
];

async function show(list: ReactNode, connection = "home") {
  const home = { id: connection, name: "Studio", embedded: true };
  await act(async () => {
    renderInApp(
      <PageProvider search={new URLSearchParams("status=failed")}>
        <ConnectionProvider currentId={connection} connections={[home]}>
          <Suspense>{list}</Suspense>
        </ConnectionProvider>
      </PageProvider>,
    );
  });
}

it.each(emptyLists)("shows a failure instead of an empty list of %s", async (_, emptyText, list) => {
  await show(list());
  await act(() => vi.dynamicImportSettled());
  expect(screen.getByText(emptyText)).toBeDefined();
  await act(() => vi.advanceTimersByTimeAsync(LIVE_INTERVAL_MS * 2));
  expect(screen.getByText("Lightdesk cannot be reached")).toBeDefined();
  expect(screen.queryByText(emptyText)).toBeNull();
  // No counts are shown either.
  expect(screen.queryByText(/^0( bytes in total| running, 0 pending)?$/)).toBeNull();
});

it("updates the number of unreadable files with each response", async () => {
  const respond = () => Promise.resolve(new Response("[]", { headers: { "x-lightdesk-unreadable": "3" } }));
  vi.stubGlobal("fetch", respond);
  await show(
    <FilesScreen canChange query={filesQuery} files={createReadResult(toFilesView(recordSkipped([], 1), filesQuery))} />,
    "damaged",
  );
  expect(screen.getByText("1 entry couldn't be read.")).toBeDefined();
  expect(screen.queryByText("No files yet")).toBeNull();
  await act(() => vi.advanceTimersByTimeAsync(LIVE_INTERVAL_MS * 2));
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
        query={parseListQuery("history", new URLSearchParams("status=failed")).query}
        initialResponse={createReadResult({ rows: [], unreadable: 2 })}
      />
    ),
  ],
  [
    "queue",
    () => {
      const none = { running: [], pending: [], pendingTotal: 0, isSortedBySubmission: false, canStop: false };
      return <QueueScreen canCancel queue={createReadResult({ ...none, unreadable: 2 })} />;
    },
  ],
])("counts unreadable rows instead of showing an empty list of %s", async (_, list) => {
  await show(list(), "partly");
  await act(() => vi.dynamicImportSettled());
  expect(screen.getByText("2 entries couldn't be read.")).toBeDefined();
  expect(screen.queryByText(/^(No jobs match these filters|No jobs yet|No entries match these filters|The queue is empty)$/)).toBeNull();
});

it("keeps rows below one notice when usage can't be read", async () => {
  const none = { fromMs: 0, toMs: 1, rows: [], isOfAll: true };
  const row = { member: { id: "m", name: "Ada" }, connection: { kind: "removed" as const }, runs: 7 };
  const counts = { failed: { value: 0 }, seconds: {}, outputs: {}, bytes: {} };
  for (const usage of [none, { ...none, rows: [{ ...row, ...counts }] }]) {
    await show(<UsageScreen query={{ within: 720 }} usage={createReadResult(usage)} />);
    expect(screen.queryByText("No jobs in this period") === null).toBe(usage.rows.length > 0);
    await act(() => vi.advanceTimersByTimeAsync(LIVE_INTERVAL_MS * 10));
    expect(screen.getByText("Lightdesk cannot be reached")).toBeDefined();
    expect(screen.queryByText("No jobs in this period")).toBeNull();
    expect(screen.queryAllByText("Ada")).toHaveLength(usage.rows.length);
    cleanup();
  }
});

it("stops the clocks when the list fails to load", async () => {
  // The page shows whole seconds, so the clock starts at a whole second.
  vi.setSystemTime(1_800_000_000_000);
  const startedMs = Date.now() - 24_000;
  const row = { id: "job-1", rawStatus: "in_progress", state: "in_progress" as const, outputs: 0, startedMs };
  const query = { ...jobsQuery, status: [...jobsQuery.status] };
  await show(
    <JobsScreen
      isTeam={false}
      canRun
      query={query}
      ignored={[]}
      initialResponse={createReadResult({ rows: [row], total: 1, hasMore: false, unreadable: 0 })}
    />,
    "other",
  );
  expect(screen.getByText("24 s")).toBeDefined();
  await act(() => vi.advanceTimersByTimeAsync(LIVE_INTERVAL_MS * 2));
  expect(screen.getByText("Lightdesk cannot be reached")).toBeDefined();
  expect(screen.getByText("24 s")).toBeDefined();
});
