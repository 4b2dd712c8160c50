import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createSelection } from "@/components/data-table/selection";
import { usePageActions } from "@/components/frame/palette/palette-button";
import { JobActionResult, JobActions, useJobActions } from "@/components/jobs/job/job-actions";
import { JobPanel } from "@/components/jobs/job/job-panel";
import { SelectedJobs } from "@/components/jobs/list/job-list-table";
import { UNDO_WINDOW_MS } from "@/components/ui/hooks/use-pending-undo";
import { renderInApp } from "../render";
import { advanceTime, chooseJobs, mockFetch, parseQuery, press, query, rows, showSelectionActions } from "./render-selection-actions";
import { createFacts } from "./sample-job";

it("clears the selection on Esc unless a dialog is open", () => {
  const store = createSelection();
  renderInApp(<SelectedJobs store={store} query={query} rows={[]} canRun onDone={() => undefined} />);
  store.select("job-1", true);
  const dialog = document.body.appendChild(document.createElement("dialog"));
  dialog.open = true;
  fireEvent.keyDown(window, { key: "Escape" });
  dialog.remove();
  expect([...store.getIds()]).toEqual(["job-1"]);
  fireEvent.keyDown(window, { key: "Escape" });
  expect([...store.getIds()]).toEqual([]);
});

function showList(canRun = true) {
  const store = createSelection();
  renderInApp(
    <>
      <table>
        <tbody>
          <tr data-row="wait-1">
            <td>
              <a href="#wait-1">wait-1</a>
            </td>
          </tr>
          <tr data-row="done-1">
            <td>
              <a href="#done-1">done-1</a>
            </td>
          </tr>
        </tbody>
      </table>
      <SelectedJobs store={store} query={query} rows={rows} connection="c1" canRun={canRun} onDone={() => undefined} />
    </>,
  );
  const focusRow = (id: string) => screen.getByRole("link", { name: id }).focus();
  return { store, focus: focusRow };
}

it("cancels the focused job, or the selected jobs, when c is pressed", async () => {
  mockFetch(() => Response.json({}));
  const { store, focus } = showList();
  expect(fireEvent.keyDown(document.body, { key: "c" })).toBe(true);
  focus("done-1");
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "c" });
  expect(await screen.findByText("This doesn't apply to any of these jobs")).toBeDefined();
  focus("wait-1");
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "c" });
  expect(await screen.findByText("Cancelling 1 job")).toBeDefined();
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  store.replace(["wait-1", "wait-2"]);
  focus("done-1");
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "c" });
  expect(await screen.findByText("Cancelling 2 jobs")).toBeDefined();
});

it("runs the focused job again when r is pressed", async () => {
  const requests = mockFetch(() => Response.json({ code: "NOT_FOUND", message: "" }, { status: 404 }));
  const { focus } = showList();
  focus("done-1");
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "r" });
  await waitFor(() => expect(requests.map(({ path }) => path)).toEqual(["/api/jobs/done-1?connection=c1"]));
  expect(await screen.findByText("1 not found")).toBeDefined();
});

it("ignores c and r when the member can't run jobs", () => {
  const { focus } = showList(false);
  focus("wait-1");
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "c" });
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "r" });
  expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
});

it("adds actions for the selected jobs to the command palette", async () => {
  mockFetch(() => Response.json({}));
  const { store } = showList();
  expect(usePageActions.getState()).toEqual([]);
  store.replace(["wait-1", "wait-2"]);
  await waitFor(() =>
    expect(usePageActions.getState().map(({ label }) => label)).toEqual(["Cancel 2 selected jobs", "Run 2 selected jobs again"]),
  );
  usePageActions.getState()[0]?.run();
  expect(await screen.findByText("Cancelling 2 jobs")).toBeDefined();
});

it("clears the selection on the first Esc and closes the panel on the second", async () => {
  vi.stubGlobal("CSS", { escape: (text: string) => text });
  vi.stubGlobal("fetch", async () => Response.json({ id: "job-1", status: "completed" }));
  const onClose = vi.fn();
  const store = createSelection();
  const panel = <JobPanel jobId="job-1" connection="c1" canRun onClose={onClose} />;
  const selectionBar = <SelectedJobs store={store} query={query} rows={[]} canRun onDone={() => undefined} />;
  for (const elements of [[selectionBar, panel] as const, [panel, selectionBar] as const]) {
    const view = await act(async () =>
      renderInApp(
        <>
          {elements[0]}
          {elements[1]}
        </>,
      ),
    );
    onClose.mockClear();
    store.select("job-1", true);
    fireEvent.keyDown(window, { key: "Escape" });
    expect([[...store.getIds()], onClose.mock.calls.length]).toEqual([[], 0]);
    fireEvent.keyDown(window, { key: "Escape" });
    expect(onClose).toHaveBeenCalledTimes(1);
    view.unmount();
  }
});

describe("parallel cancel", () => {
  beforeEach(() => void vi.useFakeTimers());

  function PanelActions() {
    const actions = useJobActions({ jobId: "wait-1", connection: "c1", onDone: () => undefined });
    const facts = createFacts({ id: "wait-1", status: "pending" });
    return (
      <>
        <JobActions facts={facts} actions={actions} />
        <JobActionResult facts={facts} actions={actions} />
      </>
    );
  }

  it("cancels a job once when the list and the panel both cancel it", async () => {
    const requests = mockFetch(({ path, json }) =>
      Response.json(path.startsWith("/api/queue") ? { deleted: (json as { delete: string[] }).delete } : {}),
    );
    renderInApp(<PanelActions />);
    const { unmount } = showSelectionActions(chooseJobs("wait-1", "wait-2"));
    await press("Cancel job");
    expect(screen.getByRole("button", { name: "Cancel job" }).getAttribute("aria-disabled")).toBe("true");
    await press("Cancel");
    expect(screen.getAllByText("Cancelling 1 job")).toHaveLength(2);
    await advanceTime(UNDO_WINDOW_MS);
    expect(requests.filter(({ method }) => method === "POST").map(({ json }) => json)).toEqual([
      { delete: ["wait-1"] },
      { delete: ["wait-2"] },
    ]);
    expect(screen.getAllByText("1 cancelled")).toHaveLength(2);
    unmount();
    showSelectionActions(chooseJobs("wait-1"));
    await press("Cancel");
    await press("Cancel job");
    expect(screen.getAllByText("Cancelling 1 job")).toHaveLength(1);
  });

  /** `wait-1` and `wait-2` match. The list is not returned before `release` is called. */
  function mockMatchingJobs() {
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const list = { jobs: rows.slice(0, 2).map(({ id }) => ({ id, status: "pending" })) };
    const requests = mockFetch(async ({ path, method, json }) => {
      if (path.startsWith("/api/queue")) return Response.json({ deleted: Object(json).delete });
      if (method !== "GET" || !path.startsWith("/api/jobs?")) return Response.json({});
      if (parseQuery(path).limit !== "1") await gate;
      return Response.json({ ...list, pagination: { offset: 0, limit: 1000, total: 2, has_more: false } });
    });
    const getPostBodies = () => requests.filter(({ method }) => method === "POST").map(({ json }) => json);
    return { posts: getPostBodies, release: () => act(async () => release()) };
  }

  it("skips a job that the panel cancelled while all matching were read", async () => {
    const { posts, release } = mockMatchingJobs();
    renderInApp(<PanelActions />);
    showSelectionActions({ kind: "matching", query, total: 2 });
    await press("Cancel");
    await advanceTime(0);
    await press("Cancel 2 jobs");
    await press("Cancel job");
    await advanceTime(UNDO_WINDOW_MS);
    expect(posts()).toEqual([{ delete: ["wait-1"] }]);
    await release();
    await advanceTime(0);
    expect(posts()).toEqual([{ delete: ["wait-1"] }, { delete: ["wait-2"] }]);
    expect(screen.getAllByText("1 cancelled")).toHaveLength(2);
  });

  it("cancels a job in its panel while others are run again", async () => {
    const requests = mockFetch(({ path }) =>
      path.startsWith("/api/queue") ? Response.json({ deleted: ["wait-1"] }) : new Promise<Response>(() => undefined),
    );
    showSelectionActions(chooseJobs("wait-1", "wait-2"));
    await press("Run again");
    await press("Run 2 jobs again");
    await advanceTime(0);
    renderInApp(<PanelActions />);
    await press("Cancel job");
    await advanceTime(UNDO_WINDOW_MS);
    expect(requests.filter(({ method }) => method === "POST").map(({ json }) => json)).toEqual([{ delete: ["wait-1"] }]);
  });
});
