// Lists that can't be loaded or have unreadable rows.
import { act, cleanup, screen } from "@testing-library/react";
import { type ReactNode } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { AppsScreen } from "@/components/apps/apps-screen";
import { DEFAULT_APPS_SEARCH } from "@/components/apps/apps-urls";
import { FilesScreen } from "@/components/files/files-screen";
import { toFilesView } from "@/components/files/files-view";
import { type JobsView } from "@/components/jobs/job-row";
import { HistoryScreen } from "@/components/jobs/list/history-screen";
import { JobsScreen } from "@/components/jobs/list/jobs-screen";
import { parseListQuery } from "@/components/jobs/list/list-urls";
import { QueueScreen } from "@/components/jobs/queue/queue-screen";
import { RunnersScreen } from "@/components/settings/runners/runners-screen";
import { UsageScreen } from "@/components/settings/usage/usage-screen";
import { recordSkipped } from "@/lib/contract/json/readers";
import { LIVE_INTERVAL_MS } from "@/tests/support/mock-live";
import { advanceTime, createReadResult, renderScreen, stubScreenWidth } from "./render-screen";
import { builtInRunner } from "./settings/runners";

const SEARCH = "status=failed";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("offline")));
  stubScreenWidth(true);
});

const filesQuery = { dir: "/", all: false, name: "", sort: "name", order: "asc", offset: 0 } as const;
const parseQuery = (list: "jobs" | "history") => parseListQuery(list, new URLSearchParams(SEARCH)).query;
const listProps = { isTeam: false, canRun: true, ignored: [] };
const createJobsScreen = (view: JobsView) => (
  <JobsScreen {...listProps} query={parseQuery("jobs")} initialResponse={createReadResult(view)} />
);
const createHistoryScreen = (unreadable: number) => (
  <HistoryScreen {...listProps} query={parseQuery("history")} initialResponse={createReadResult({ rows: [], unreadable })} />
);
const createQueueScreen = (unreadable?: number) => {
  const queue = { running: [], pending: [], pendingTotal: 0, isSortedBySubmission: false, canStop: false, unreadable };
  return <QueueScreen canCancel queue={createReadResult(queue)} />;
};
const emptyLists: [string, string, () => ReactNode][] = [
  ["jobs", "No jobs match these filters", () => createJobsScreen({ rows: [], total: 0, hasMore: false, unreadable: 0 })],
  ["history", "No entries match these filters", () => createHistoryScreen(0)],
  ["files", "No files yet", () => <FilesScreen canChange query={filesQuery} files={createReadResult(toFilesView([], filesQuery))} />],
  ["apps", "No apps yet", () => <AppsScreen canCreate search={DEFAULT_APPS_SEARCH} apps={createReadResult({ apps: [], tags: [] })} />],
  [
    "runners",
    "Only the built-in runner so far",
    () => <RunnersScreen role="admin" canChange runners={createReadResult([builtInRunner])} />,
  ],
  ["queue", "The queue is empty", () => createQueueScreen()],
];

const show = (list: ReactNode, connectionId = "home") => renderScreen(list, { connectionId, search: SEARCH });

it.each(emptyLists)("shows a failure instead of an empty list of %s", async (name, emptyText, list) => {
  // Jobs and History request the same path, and responses are cached by connection.
  await show(list(), name);
  await act(() => vi.dynamicImportSettled());
  expect(screen.getByText(emptyText)).toBeDefined();
  await advanceTime(LIVE_INTERVAL_MS * 2);
  expect(screen.getByText("Couldn't reach Lightdesk")).toBeDefined();
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
  await advanceTime(LIVE_INTERVAL_MS * 2);
  expect(screen.getByText("3 entries couldn't be read.")).toBeDefined();
});

it.each([
  ["jobs", () => createJobsScreen({ rows: [], unreadable: 2 })],
  ["history", () => createHistoryScreen(2)],
  ["queue", () => createQueueScreen(2)],
])("counts unreadable rows instead of showing an empty list of %s", async (name, list) => {
  await show(list(), `partly-${name}`);
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
    await advanceTime(LIVE_INTERVAL_MS * 10);
    expect(screen.getByText("Couldn't reach Lightdesk")).toBeDefined();
    expect(screen.queryByText("No jobs in this period")).toBeNull();
    expect(screen.queryAllByText("Ada")).toHaveLength(usage.rows.length);
    cleanup();
  }
});
