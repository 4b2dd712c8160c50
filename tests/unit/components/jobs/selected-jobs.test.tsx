import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { type ReactNode } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createSelection } from "@/components/data-table/selection";
import { usePageActions } from "@/components/frame/palette/palette-button";
import { JobActionResult, JobActions, useJobActions } from "@/components/jobs/job/job-actions";
import { JobPanel } from "@/components/jobs/job/job-panel";
import { SelectedJobs } from "@/components/jobs/list/job-list-table";
import { UNDO_WINDOW_MS } from "@/components/ui/hooks/use-pending-undo";
import { renderInApp } from "../render";
import { advanceTime } from "../render-screen";
import { chooseJobs, mockFetch, parseQuery, press, query, rows, showSelectionActions } from "./render-selection-actions";
import { createFacts } from "./sample-job";

function showList({ canRun = true, total = rows.length } = {}) {
  const store = createSelection();
  renderInApp(
    <>
      <table>
        <tbody>
          {["wait-1", "done-1"].map((id) => (
            <tr key={id} data-row={id}>
              <td>
                <a href={`#${id}`}>{id}</a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <SelectedJobs store={store} query={query} rows={rows} total={total} connection="c1" canRun={canRun} onDone={() => undefined} />
    </>,
  );
  const pressKeyOn = (id: string, key: string, ctrlKey = false) => {
    const link = screen.getByRole("link", { name: id });
    link.focus();
    return fireEvent.keyDown(link, { key, ctrlKey });
  };
  return { store, pressKeyOn };
}

it("cancels the focused job, or the selected jobs, when c is pressed", async () => {
  mockFetch(() => Response.json({}));
  const { store, pressKeyOn } = showList();
  expect(fireEvent.keyDown(document.body, { key: "c" })).toBe(true);
  pressKeyOn("done-1", "c");
  expect(await screen.findByText("This doesn't apply to any of these jobs")).toBeDefined();
  pressKeyOn("wait-1", "c");
  expect(await screen.findByText("Cancelling 1 job")).toBeDefined();
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  store.replace(["wait-1", "wait-2"]);
  pressKeyOn("done-1", "c");
  expect(await screen.findByText("Cancelling 2 jobs")).toBeDefined();
});

it("runs the focused job again when r is pressed", async () => {
  const requests = mockFetch(() => Response.json({ code: "NOT_FOUND", message: "" }, { status: 404 }));
  showList().pressKeyOn("done-1", "r");
  await waitFor(() => expect(requests.map(({ path }) => path)).toEqual(["/api/jobs/done-1?connection=c1"]));
  expect(await screen.findByText("1 not found")).toBeDefined();
});

it("selects the page and then all matching jobs when Ctrl+A is pressed in the list", () => {
  mockFetch(() => Response.json({}));
  const { store, pressKeyOn } = showList({ total: 1284 });
  store.setRows(["wait-1", "done-1"]);
  // Elsewhere on the page, the browser selects text.
  expect(fireEvent.keyDown(document.body, { key: "a", ctrlKey: true })).toBe(true);
  expect(pressKeyOn("wait-1", "a", true)).toBe(false);
  expect([[...store.getIds()], store.isMatching()]).toEqual([["wait-1", "done-1"], false]);
  pressKeyOn("wait-1", "a", true);
  expect(store.isMatching()).toBe(true);
});

it("ignores c and r when the member can't run jobs", () => {
  const { pressKeyOn } = showList({ canRun: false });
  pressKeyOn("wait-1", "c");
  pressKeyOn("wait-1", "r");
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

it.each([
  ["the selection bar", ["bar", "panel"]],
  ["the panel", ["panel", "bar"]],
])("clears the selection and then closes the panel on Esc when %s is first", async (_, order) => {
  vi.stubGlobal("CSS", { escape: (text: string) => text });
  vi.stubGlobal("fetch", async () => Response.json({ id: "job-1", status: "completed" }));
  const onClose = vi.fn();
  const store = createSelection();
  const elements: Record<string, ReactNode> = {
    bar: <SelectedJobs key="bar" store={store} query={query} rows={[]} canRun onDone={() => undefined} />,
    panel: <JobPanel key="panel" jobId="job-1" connection="c1" canRun onClose={onClose} />,
  };
  await act(async () => renderInApp(order.map((name) => elements[name])));
  store.select("job-1", true);
  const pressEscape = () => {
    fireEvent.keyDown(window, { key: "Escape" });
    return [[...store.getIds()], onClose.mock.calls.length];
  };
  const dialog = document.body.appendChild(document.createElement("dialog"));
  dialog.open = true;
  expect(pressEscape()).toEqual([["job-1"], 0]);
  dialog.remove();
  expect(pressEscape()).toEqual([[], 0]);
  expect(pressEscape()).toEqual([[], 1]);
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
