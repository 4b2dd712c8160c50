import { act, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { type JobRow } from "@/components/jobs/job-row";
import { HistoryScreen } from "@/components/jobs/list/history-screen";
import { parseListQuery } from "@/components/jobs/list/list-urls";
import { UNDO_WINDOW_MS } from "@/components/ui/hooks/use-pending-undo";
import { wrapInApp } from "../render";
import { advanceTime, createReadResult, getRowIds, press, renderScreen, stubScreenWidth, wrapInScreen } from "../render-screen";

let isOffline = false;
let bodies: unknown[] = [];
let readPaths: string[] = [];
/** The responses to reads by the beginning of their path. */
let responses: Record<string, object> = {};

beforeEach(() => {
  vi.useFakeTimers();
  stubScreenWidth(true);
  [isOffline, bodies, readPaths] = [false, [], []];
  responses = { "/api/history": { history: [] } };
  vi.stubGlobal("fetch", async (path: string, { method, body }: RequestInit = {}) => {
    if (isOffline) throw new TypeError("offline");
    if (method === "POST") {
      bodies.push(JSON.parse(String(body)));
      return Response.json({ code: "OK", message: "" });
    }
    readPaths.push(path);
    const response = Object.entries(responses).find(([start]) => path.startsWith(start))?.[1];
    return Response.json(response ?? { jobs: [], pagination: { total: 1 } });
  });
});

const createRow = (id: string): JobRow => ({ id, rawStatus: "completed", state: "completed", outputs: 0 });
function createHistory(rows: JobRow[], search = "") {
  const { query } = parseListQuery("history", new URLSearchParams(search));
  return <HistoryScreen isTeam={false} canRun ignored={[]} query={query} initialResponse={createReadResult({ rows, unreadable: 0 })} />;
}

it("keeps the typed confirmation when clearing fails, and retries", async () => {
  isOffline = true;
  await renderScreen(createHistory([createRow("old-1")]));
  await press("Clear all entries");
  const dialog = within(screen.getByRole("dialog"));
  fireEvent.change(dialog.getByRole("textbox"), { target: { value: "clear" } });
  const form = dialog.getByRole("textbox").closest("form");
  const submit = () => act(async () => void (form && fireEvent.submit(form)));
  await submit();
  await advanceTime(0);
  expect(dialog.getByRole("alert").textContent).toContain("Couldn't reach Lightdesk");
  expect(dialog.getByRole<HTMLInputElement>("textbox").value).toBe("clear");
  isOffline = false;
  await submit();
  expect(bodies).toEqual([{ clear: true }]);
  expect(screen.getByText("History cleared")).toBeDefined();
});

it("shows the result in the selection bar", async () => {
  await renderScreen(createHistory([createRow("old-1")]));
  fireEvent.click(screen.getByRole("checkbox", { name: "Select job old-1" }));
  // The actions are loaded on demand.
  await act(() => vi.dynamicImportSettled());
  await press("Remove from history");
  const selectionBar = within(screen.getByRole("region", { name: "Actions for the selected jobs" }));
  expect(selectionBar.getByRole("status").textContent).toBe("Removing 1 job from history");
  await act(async () => void fireEvent.click(selectionBar.getByRole("button", { name: "Undo" })));
  expect(screen.queryByText("Removing 1 job from history")).toBeNull();
  // After Undo, the selection is as before.
  await press("Remove from history");
  await advanceTime(UNDO_WINDOW_MS);
  expect(screen.getByRole("region", { name: "Actions for the selected jobs" }).textContent).toContain("removed");
});

it("shows the number of all ended jobs next to the entries", async () => {
  responses["/api/jobs?"] = { jobs: [], pagination: { total: 240, limit: 1, offset: 0, has_more: true } };
  await renderScreen(createHistory([createRow("old-1")]), { connectionId: "c1" });
  await advanceTime(0);
  expect(screen.getByRole("navigation", { name: "Pages" }).textContent).toMatch(/^1.1 of 240/);
});

it("keeps the rows of a later page when new jobs arrive", async () => {
  const createEntry = (prompt_id: string) => ({ prompt_id, status: { status_str: "success", completed: true, messages: [] } });
  responses = {
    "/api/history": { history: [createEntry("new-1"), createEntry("old-1")] },
    "/api/jobs?": { jobs: [], pagination: { total: 103 } },
  };
  const search = "offset=2&max_items=2";
  await renderScreen(createHistory([createRow("old-1"), createRow("old-0")], search), { connectionId: "c1", search });
  await advanceTime(60_000);
  await act(() => vi.dynamicImportSettled());
  await advanceTime(60_000);
  expect(getRowIds()).toEqual(["old-1", "old-0"]);
  fireEvent.click(screen.getByRole("button", { name: "1 new job" }));
  await advanceTime(1000);
  expect(window.location.search).toBe("?max_items=2");
});

it("searches ended jobs when text is entered", async () => {
  responses["/api/console/jobs/search"] = {
    jobs: [{ id: "sea-1", status: "failed", create_time: 1 }],
    pagination: { offset: 0, limit: 100, total: 1, has_more: false },
  };
  vi.stubGlobal("scrollTo", () => undefined);
  window.history.replaceState(null, "", "/history");
  const history = createHistory([createRow("old-1")]);
  const getOptions = () => ({ connectionId: "c1", search: window.location.search });
  const { rerender } = await renderScreen(history, getOptions());
  expect(getRowIds()).toEqual(["old-1"]);
  const field = screen.getByRole("searchbox");
  fireEvent.input(field, { target: { value: "sea" } });
  fireEvent.keyDown(field, { key: "Enter" });
  await advanceTime(1000);
  expect(window.location.search).toBe("?text=sea");
  await act(async () => rerender(wrapInApp(wrapInScreen(history, getOptions()))));
  await advanceTime(1000);
  await act(() => vi.dynamicImportSettled());
  expect(getRowIds()).toEqual(["sea-1"]);
  const searches = readPaths.filter((path) => path.includes("text=sea")).map((path) => new URL(path, "http://desk.test"));
  expect(new Set(searches.map(({ pathname, searchParams }) => `${pathname} ${searchParams.get("status")}`))).toEqual(
    new Set(["/api/console/jobs/search completed,failed,cancelled"]),
  );
});
