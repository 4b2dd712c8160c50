import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { JobSelectionActions } from "@/components/jobs/list/selection-actions";
import { UNDO_WINDOW_MS } from "@/components/ui/hooks/use-pending-undo";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { chooseJobs, mockFetch, parseQuery, press, query, rows, showSelectionActions } from "./jobs/render-selection-actions";
import { renderInApp, wrapInApp } from "./render";
import { advanceTime } from "./render-screen";

beforeEach(() => void vi.useFakeTimers());

const openResultLines = async () => {
  await press("Show results");
  const rows = within(screen.getByRole("dialog")).getAllByRole("row").slice(1);
  return rows.map(({ textContent }) => textContent);
};

it("cancels jobs when the Undo window ends and lists the result of each", async () => {
  const requests = mockFetch(({ path }) =>
    path.startsWith("/api/queue")
      ? Response.json({ deleted: ["wait-1"], cleared: false })
      : Response.json({ stopped: ["runs-1"], stopping: [], over: [], unable: [], together: 0 }),
  );
  const { onDone } = showSelectionActions(chooseJobs("wait-1", "wait-2", "runs-1", "done-1"));
  await press("Cancel");
  expect(screen.getByText("Cancelling 3 jobs")).toBeDefined();
  await press("Undo");
  await advanceTime(UNDO_WINDOW_MS * 2);
  expect(requests).toEqual([]);
  await press("Cancel");
  await advanceTime(UNDO_WINDOW_MS);
  expect(requests).toMatchObject([
    { path: "/api/queue?connection=c1", json: { delete: ["wait-1", "wait-2"] } },
    { path: "/api/console/jobs/stop?connection=c1", json: { ids: ["runs-1"] } },
  ]);
  expect(onDone).toHaveBeenCalledTimes(1);
  expect(screen.getByText("1 cancelled, 1 stopped, 1 had already started")).toBeDefined();
  expect(await openResultLines()).toEqual(["wait-1Cancelled", "wait-2Not cancelled: it had already started", "runs-1Stopped"]);
});

it("selects all matching jobs and announces it when the button is pressed", async () => {
  mockFetch(() => Response.json({}));
  const onChoose = vi.fn();
  const bar = { rows, connection: "c1", onDone: vi.fn(), onClear: vi.fn(), onRestored: vi.fn(), canRun: true };
  const { rerender } = renderInApp(<JobSelectionActions {...bar} selection={chooseJobs("done-1")} selectAll={{ total: 1284, onChoose }} />);
  await press("Select all 1,284 matching jobs");
  expect(onChoose).toHaveBeenCalledTimes(1);
  rerender(wrapInApp(<JobSelectionActions {...bar} selection={{ kind: "matching", query, total: 1284 }} />));
  expect(screen.getByRole("status").textContent).toBe("all matching");
  expect(screen.queryByRole("button", { name: /^Select all/ })).toBeNull();
});

it("shows the title and id of each job in the results", async () => {
  const created = "2026-03-01T09:05:00Z";
  const item = { id: "far-1", status: "failed", create_time: created, workflow_id: "w-1", workflow_name: "poster", job_label: "seed 8" };
  mockFetch(({ method }) =>
    method === "POST"
      ? Response.json({ code: "OK", message: "" })
      : Response.json({ jobs: [item], pagination: { offset: 0, limit: 1000, total: 1, has_more: false } }),
  );
  showSelectionActions(chooseJobs("made-1"));
  await press("Remove from history");
  await advanceTime(UNDO_WINDOW_MS);
  expect(await openResultLines()).toEqual(["poster · seed 7 · Mar 1, 2026, 9:05 AMmade-1Removed from history"]);
  cleanup();
  showMatching(1);
  await press("Remove from history");
  await press("Remove 1 job from history");
  await advanceTime(0);
  expect(await openResultLines()).toEqual(["poster · seed 8 · Mar 1, 2026, 9:05 AMfar-1Removed from history"]);
});

it("ignores the second click of a double click on Cancel", async () => {
  const requests = mockFetch(() => Response.json({ deleted: ["wait-1"] }));
  showSelectionActions(chooseJobs("wait-1"));
  await press("Cancel");
  await act(async () => void fireEvent.click(screen.getByRole("button", { name: "Undo" }), { detail: 2 }));
  await advanceTime(UNDO_WINDOW_MS);
  expect(requests).toHaveLength(1);
});

it("offers only actions that apply to a selected job and the role", () => {
  mockFetch(() => Response.json({}));
  showSelectionActions(chooseJobs("done-1"));
  expect(screen.queryByRole("button", { name: "Cancel" })).toBeNull();
  cleanup();
  showSelectionActions(chooseJobs("wait-1", "done-1"), { canRun: false });
  expect(screen.getAllByRole("button").map(({ textContent }) => textContent)).toEqual(["Copy ids", "Clear selection"]);
  expect(screen.getByRole("link", { name: "Export CSV" }).getAttribute("href")).toContain("ids=wait-1%2Cdone-1");
});

/** Opens the actions for all jobs that match the filters. */
const showMatching = (total: number, filters: Partial<JobsQuery> = {}) =>
  showSelectionActions({ kind: "matching", query: { ...query, ...filters }, total });
const graph = { "1": { class_type: "Wait", inputs: { seconds: 1 } } };
const createDetailResponse = (workflow: unknown) => Response.json({ id: "x", status: "completed", workflow });

it("runs jobs again one by one and skips those that can't be resubmitted", async () => {
  const requests = mockFetch(({ path, method }) => {
    if (method === "POST") return Response.json({ prompt_id: "new-1" });
    if (path.includes("wait-1")) return createDetailResponse({ prompt: graph, extra_data: { extra_pnginfo: { workflow: { id: "w" } } } });
    if (path.includes("wait-2")) return createDetailResponse({ prompt: { "1": { class_type: "Load", inputs: { token: "[REDACTED]" } } } });
    if (path.includes("runs-1")) return createDetailResponse(undefined);
    return Response.json({ code: "NOT_FOUND", message: "no such job" }, { status: 404 });
  });
  showSelectionActions(chooseJobs("wait-1", "wait-2", "runs-1", "done-1"));
  await press("Run again");
  expect(requests).toEqual([]);
  await press("Run 4 jobs again");
  await advanceTime(0);
  const posts = requests.filter(({ method }) => method === "POST");
  expect(posts).toMatchObject([{ path: "/api/prompt?connection=c1", json: { prompt: graph, extra_data: { extra_pnginfo: {} } } }]);
  expect(posts[0]?.idempotencyKey).toMatch(/^[0-9a-f]{32}$/);
  const [first, ...otherPaths] = ["wait-1", "wait-2", "runs-1", "done-1"].map((id) => `/api/jobs/${id}`);
  expect(requests.map(({ path }) => path.split("?")[0])).toEqual([first, "/api/prompt", ...otherPaths]);
  expect((await openResultLines()).map((line) => line?.slice(6, 46))).toEqual([
    "Run again as new-1",
    "Not run: open it and enter its masked in",
    "Not run: the service no longer has its w",
    "Not run: the service no longer has it No",
  ]);
});

it("stops with an unknown result when a request gets no response", async () => {
  const requests = mockFetch(({ method }) =>
    method === "POST" ? Promise.reject(new TypeError("cut")) : createDetailResponse({ prompt: graph }),
  );
  showSelectionActions(chooseJobs("done-1", "wait-1"));
  await press("Run again");
  await press("Run 2 jobs again");
  await advanceTime(60_000);
  expect(requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  expect(screen.getByText("1 with an unknown result, 1 not processed")).toBeDefined();
});

it("reports that nothing was submitted when the console can't be reached", async () => {
  const requests = mockFetch(() => Promise.reject(new TypeError("offline")));
  showSelectionActions(chooseJobs("done-1"));
  await press("Run again");
  await advanceTime(60_000);
  expect(requests.filter(({ method }) => method === "POST")).toEqual([]);
  expect(screen.getByText("1 not submitted: couldn't reach Lightdesk")).toBeDefined();
  expect(await openResultLines()).toEqual(["done-1Not submitted: couldn't reach Lightdesk"]);
});

it("shows the requested wait and skips the other jobs when stopped", async () => {
  const createBusyResponse = () =>
    Response.json({ code: "RATE_LIMITED", message: "slowly" }, { status: 429, headers: { "retry-after": "20" } });
  const requests = mockFetch(({ path }) =>
    path.includes("/api/jobs/done-1") ? createBusyResponse() : createDetailResponse({ prompt: graph }),
  );
  showSelectionActions(chooseJobs("done-1", "wait-1"));
  await press("Run again");
  await press("Run 2 jobs again");
  await advanceTime(0);
  expect(screen.getByText("Running again 0 of 2 · rate limited, waiting 20 s")).toBeDefined();
  await advanceTime(19_000);
  expect(requests).toHaveLength(1);
  await advanceTime(1_500);
  expect(requests).toHaveLength(2);
  await press("Stop");
  await advanceTime(60_000);
  expect(requests).toHaveLength(2);
  expect(screen.getByText(/1 not processed/)).toBeDefined();
});

const createPageResponse = (from: number, count: number, total: number) =>
  Response.json({
    jobs: Array.from({ length: count }, (_, index) => ({ id: `job-${from + index}`, status: "pending" })),
    pagination: { offset: from, limit: 1000, total, has_more: from + count < total },
  });
it("cancels all matching jobs in batches when confirmed", async () => {
  const requests = mockFetch(({ path, method, json }) => {
    const { offset, limit } = parseQuery(path);
    if (method === "POST") return Response.json({ deleted: Object(json).delete, cleared: false });
    return limit === "1" ? createPageResponse(0, 1, 1200) : createPageResponse(Number(offset ?? 0), offset === "1000" ? 200 : 1000, 1200);
  });
  showMatching(1284, { status: ["pending", "completed"] });
  await press("Cancel");
  await advanceTime(0);
  expect(parseQuery(requests[0]?.path ?? "")).toMatchObject({ status: "pending", limit: "1", connection: "c1" });
  await press("Cancel 1,200 jobs");
  await advanceTime(0);
  const posts = requests.filter(({ method }) => method === "POST");
  expect(requests.filter(({ method }) => method === "GET")).toHaveLength(3);
  expect(posts).toHaveLength(12);
  expect(screen.getByText("1,200 cancelled")).toBeDefined();
});

it("limits an action to 10,000 jobs and explains the limit", async () => {
  mockFetch(() => createPageResponse(0, 1, 25_000));
  showMatching(25_000);
  await press("Run again");
  await advanceTime(0);
  expect(screen.getByRole("button", { name: "Run 10,000 jobs again" })).toBeDefined();
  expect(screen.getByText("You can do this for up to 10,000 jobs at a time. Repeat it for the rest.")).toBeDefined();
});

it("changes nothing and shows an error when the list can't be read", async () => {
  const requests = mockFetch(() => Response.json({ code: "UPSTREAM_UNREACHABLE", message: "" }, { status: 502 }));
  showMatching(12);
  await press("Remove from history");
  await advanceTime(0);
  expect(screen.getByText(/^Couldn't reach the service/)).toBeDefined();
  expect(requests).toHaveLength(1);
});

it("exports all matching jobs with filters and without paging", () => {
  showMatching(1284, { status: ["failed"], workflow_id: "w1" });
  const href = screen.getByRole("link", { name: "Export JSON" }).getAttribute("href") ?? "";
  const order = { sort_by: "create_time", sort_order: "desc" };
  expect(parseQuery(href)).toEqual({ status: "failed", workflow_id: "w1", ...order, format: "json", connection: "c1" });
});
