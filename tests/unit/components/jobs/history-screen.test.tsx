import { act, fireEvent, render, screen, within } from "@testing-library/react";
import { Suspense } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { type JobsView } from "@/components/jobs/job-row";
import { HistoryScreen } from "@/components/jobs/list/history-screen";
import { parseListQuery } from "@/components/jobs/list/list-urls";
import { UNDO_WINDOW_MS } from "@/components/ui/hooks/use-pending-undo";
import { ok } from "@/lib/shared/result";
import { PageProvider } from "@/tests/support/page-provider";
import { renderInApp, wrapInApp } from "../render";

const network = { isBroken: false };
let bodies: unknown[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  // jsdom has no media queries. The test uses a wide screen.
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  network.isBroken = true;
  bodies = [];
  vi.stubGlobal("fetch", async (_path: string, init: RequestInit = {}) => {
    if (network.isBroken) throw new TypeError("offline");
    if (init.method !== "POST") return Response.json({ history: [] });
    bodies.push(JSON.parse(String(init.body)));
    return Response.json({ code: "OK", message: "" });
  });
});

async function show() {
  const value: JobsView = { rows: [{ id: "old-1", rawStatus: "completed", state: "completed", outputs: 0 }], unreadable: 0 };
  const history = Promise.resolve(ok({ value, atMs: 1 }));
  await act(async () => {
    renderInApp(
      <Suspense>
        <HistoryScreen
          isTeam={false}
          canRun
          ignored={[]}
          query={parseListQuery("history", new URLSearchParams()).query}
          initialResponse={history}
        />
      </Suspense>,
    );
    await history;
  });
}
/** Selects a job and waits for the actions, which are loaded on demand. */
async function select(id: string) {
  fireEvent.click(screen.getByRole("checkbox", { name: `Select job ${id}` }));
  await act(() => vi.dynamicImportSettled());
}
const press = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));

it("keeps the typed confirmation when clearing fails, and retries", async () => {
  await show();
  await press("Clear all entries");
  const dialog = within(screen.getByRole("dialog"));
  fireEvent.change(dialog.getByRole("textbox"), { target: { value: "clear" } });
  const form = dialog.getByRole("textbox").closest("form");
  const submit = () => act(async () => void (form && fireEvent.submit(form)));
  await submit();
  await act(() => vi.advanceTimersByTimeAsync(0));
  expect(dialog.getByRole("alert").textContent).toContain("Lightdesk cannot be reached");
  expect(dialog.getByRole<HTMLInputElement>("textbox").value).toBe("clear");
  network.isBroken = false;
  await submit();
  expect(bodies).toEqual([{ clear: true }]);
  expect(screen.getByText("History cleared")).toBeDefined();
});

it("shows the result in the selection bar", async () => {
  network.isBroken = false;
  await show();
  await select("old-1");
  await press("Remove from history");
  const selectionBar = within(screen.getByRole("region", { name: "Actions for the selected jobs" }));
  expect(selectionBar.getByRole("status").textContent).toBe("Removing 1 job from history");
  await act(async () => void fireEvent.click(selectionBar.getByRole("button", { name: "Undo" })));
  expect(screen.queryByText("Removing 1 job from history")).toBeNull();
  // After Undo, the selection is as before.
  await press("Remove from history");
  await act(() => vi.advanceTimersByTimeAsync(UNDO_WINDOW_MS));
  expect(screen.getByRole("region", { name: "Actions for the selected jobs" }).textContent).toContain("removed");
});

it("shows the number of all ended jobs next to the entries", async () => {
  const countResponse = { jobs: [], pagination: { total: 240, limit: 1, offset: 0, has_more: true } };
  vi.stubGlobal("fetch", async (path: string) => Response.json(path.startsWith("/api/jobs?") ? countResponse : { history: [] }));
  const value: JobsView = { rows: [{ id: "old-1", rawStatus: "completed", state: "completed", outputs: 0 }], unreadable: 0 };
  const history = Promise.resolve(ok({ value, atMs: Date.now() }));
  await act(async () => {
    renderInApp(
      <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
        <Suspense>
          <HistoryScreen
            isTeam={false}
            canRun
            ignored={[]}
            query={parseListQuery("history", new URLSearchParams()).query}
            initialResponse={history}
          />
        </Suspense>
      </ConnectionProvider>,
    );
    await history;
  });
  await act(() => vi.advanceTimersByTimeAsync(0));
  expect(screen.getByRole("navigation", { name: "Pages" }).textContent).toMatch(/^1.1 of 240/);
});

it("keeps the rows of a later page when new jobs arrive", async () => {
  const entry = (prompt_id: string) => ({ prompt_id, status: { status_str: "success", completed: true, messages: [] } });
  const response = { history: [entry("new-1"), entry("old-1")] };
  vi.stubGlobal("fetch", async (path: string) =>
    Response.json(path.startsWith("/api/history") ? response : { jobs: [], pagination: { total: 103 } }),
  );
  const search = new URLSearchParams("offset=2&max_items=2");
  const row = (id: string) => ({ id, rawStatus: "completed", state: "completed" as const, outputs: 0 });
  const value: JobsView = { rows: [row("old-1"), row("old-0")], unreadable: 0 };
  const history = Promise.resolve(ok({ value, atMs: Date.now() }));
  await act(async () => {
    renderInApp(
      <PageProvider search={search}>
        <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
          <Suspense>
            <HistoryScreen isTeam={false} canRun ignored={[]} query={parseListQuery("history", search).query} initialResponse={history} />
          </Suspense>
        </ConnectionProvider>
      </PageProvider>,
    );
    await history;
  });
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  await act(() => vi.dynamicImportSettled());
  await act(() => vi.advanceTimersByTimeAsync(60_000));
  expect([...document.querySelectorAll("tr[data-row]")].map((element) => element.getAttribute("data-row"))).toEqual(["old-1", "old-0"]);
  fireEvent.click(screen.getByRole("button", { name: "1 new job" }));
  await act(() => vi.advanceTimersByTimeAsync(1000));
  expect(window.location.search).toBe("?max_items=2");
});

it("searches ended jobs when text is entered", async () => {
  const requests: string[] = [];
  const matchingJobs = {
    jobs: [{ id: "sea-1", status: "failed", create_time: 1 }],
    pagination: { offset: 0, limit: 100, total: 1, has_more: false },
  };
  vi.stubGlobal("fetch", async (path: string) => {
    requests.push(path);
    return Response.json(path.includes("text=sea") ? matchingJobs : { history: [], jobs: [], pagination: { total: 1 } });
  });
  const value: JobsView = { rows: [{ id: "old-1", rawStatus: "completed", state: "completed", outputs: 0 }], unreadable: 0 };
  const first = Promise.resolve(ok({ value, atMs: Date.now() }));
  const { query } = parseListQuery("history", new URLSearchParams());
  const createPage = () =>
    wrapInApp(
      <PageProvider search={new URLSearchParams(window.location.search)}>
        <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
          <Suspense>
            <HistoryScreen isTeam={false} canRun ignored={[]} query={query} initialResponse={first} />
          </Suspense>
        </ConnectionProvider>
      </PageProvider>,
    );
  vi.stubGlobal("scrollTo", () => undefined);
  window.history.replaceState(null, "", "/history");
  const { rerender } = await act(async () => render(createPage()));
  const getRowIds = () => [...document.querySelectorAll("tr[data-row]")].map((row) => row.getAttribute("data-row"));
  expect(getRowIds()).toEqual(["old-1"]);
  const field = screen.getByRole("searchbox");
  fireEvent.input(field, { target: { value: "sea" } });
  fireEvent.keyDown(field, { key: "Enter" });
  await act(() => vi.advanceTimersByTimeAsync(1000));
  expect(window.location.search).toBe("?text=sea");
  await act(async () => rerender(createPage()));
  await act(() => vi.advanceTimersByTimeAsync(1000));
  await act(() => vi.dynamicImportSettled());
  expect(getRowIds()).toEqual(["sea-1"]);
  const searches = requests.filter((path) => path.includes("text=sea")).map((path) => new URL(path, "http://desk.test"));
  expect(new Set(searches.map(({ pathname, searchParams }) => `${pathname} ${searchParams.get("status")}`))).toEqual(
    new Set(["/api/console/jobs/search completed,failed,cancelled"]),
  );
});
