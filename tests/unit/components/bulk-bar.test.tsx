import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { OwnSelectionActions } from "@/components/jobs/list/selection-actions";
import { UNDO_WINDOW_MS } from "@/components/ui/hooks/use-pending-undo";
import { ids, outside, parseQuery, pass, press, query, rows, show } from "./jobs/jobs-selection";
import { inApp, renderInApp } from "./render";

beforeEach(() => void vi.useFakeTimers());

const resultLines = async () => {
  await press("Show results");
  return within(screen.getByRole("dialog"))
    .getAllByRole("row")
    .slice(1)
    .map(({ textContent }) => textContent);
};

it("delays cancelling with Undo and lists results job by job", async () => {
  const requests = outside(({ path }) =>
    path.startsWith("/api/queue")
      ? Response.json({ deleted: ["wait-1"], cleared: false })
      : Response.json({ stopped: ["runs-1"], stopping: [], over: [], unable: [], together: 0 }),
  );
  const { onDone } = show(ids("wait-1", "wait-2", "runs-1", "done-1"));
  await press("Cancel");
  expect(screen.getByText("Cancelling 3 jobs")).toBeDefined();
  await press("Undo");
  await pass(UNDO_WINDOW_MS * 2);
  expect(requests).toEqual([]);
  await press("Cancel");
  await pass(UNDO_WINDOW_MS);
  expect(requests).toMatchObject([
    { path: "/api/queue?connection=c1", json: { delete: ["wait-1", "wait-2"] } },
    { path: "/api/console/jobs/stop?connection=c1", json: { ids: ["runs-1"] } },
  ]);
  expect(onDone).toHaveBeenCalledTimes(1);
  expect(screen.getByText("1 cancelled, 1 stopped, 1 had already started")).toBeDefined();
  expect(await resultLines()).toEqual(["wait-1Cancelled", "wait-2Not cancelled: it had already started", "runs-1Stopped"]);
});

it("selects all matching on click and announces it", async () => {
  outside(() => Response.json({}));
  const onChoose = vi.fn();
  const bar = { rows, connection: "c1", onDone: vi.fn(), onClear: vi.fn(), onRestored: vi.fn(), canRun: true };
  const { rerender } = renderInApp(<OwnSelectionActions {...bar} chosen={ids("done-1")} all={{ total: 1284, onChoose }} />);
  await press("Select all 1,284 matching jobs");
  expect(onChoose).toHaveBeenCalledTimes(1);
  rerender(inApp(<OwnSelectionActions {...bar} chosen={{ kind: "matching", query, total: 1284 }} />));
  expect(screen.getByRole("status").textContent).toBe("all matching");
  expect(screen.queryByRole("button", { name: /that match/ })).toBeNull();
});

it("names each job in a result by title and id across pages", async () => {
  const created = "2026-03-01T09:05:00Z";
  const item = { id: "far-1", status: "failed", create_time: created, workflow_id: "w-1", workflow_name: "poster", job_label: "seed 8" };
  outside(({ method }) =>
    method === "POST"
      ? Response.json({ code: "OK", message: "" })
      : Response.json({ jobs: [item], pagination: { offset: 0, limit: 1000, total: 1, has_more: false } }),
  );
  show(ids("made-1"));
  await press("Remove from history");
  await pass(UNDO_WINDOW_MS);
  expect(await resultLines()).toEqual(["poster · seed 7 · Mar 1, 2026, 9:05 AMmade-1Removed from history"]);
  cleanup();
  show({ kind: "matching", query, total: 1 });
  await press("Remove from history");
  await press("Remove 1 job from history");
  await pass(0);
  expect(await resultLines()).toEqual(["poster · seed 8 · Mar 1, 2026, 9:05 AMfar-1Removed from history"]);
});

it("ignores the second half of a double click on Cancel", async () => {
  const requests = outside(() => Response.json({ deleted: ["wait-1"] }));
  show(ids("wait-1"));
  await press("Cancel");
  await act(async () => void fireEvent.click(screen.getByRole("button", { name: "Undo" }), { detail: 2 }));
  await pass(UNDO_WINDOW_MS);
  expect(requests).toHaveLength(1);
});

it("offers only actions that fit a selected job and the role", () => {
  outside(() => Response.json({}));
  show(ids("done-1"));
  expect(screen.queryByRole("button", { name: "Cancel" })).toBeNull();
  cleanup();
  show(ids("wait-1", "done-1"), { canRun: false });
  expect(screen.getAllByRole("button").map(({ textContent }) => textContent)).toEqual(["Copy ids", "Clear selection"]);
  expect(screen.getByRole("link", { name: "Export CSV" }).getAttribute("href")).toContain("ids=wait-1%2Cdone-1");
});

const graph = { "1": { class_type: "Wait", inputs: { seconds: 1 } } };
const detail = (workflow: unknown) => Response.json({ id: "x", status: "completed", workflow });

it("counts jobs, runs them again one by one and skips unsafe ones", async () => {
  const requests = outside(({ path, method }) => {
    if (method === "POST") return Response.json({ prompt_id: "new-1" });
    if (path.includes("wait-1")) return detail({ prompt: graph, extra_data: { extra_pnginfo: { workflow: { id: "w" } } } });
    if (path.includes("wait-2")) return detail({ prompt: { "1": { class_type: "Load", inputs: { token: "[REDACTED]" } } } });
    if (path.includes("runs-1")) return detail(undefined);
    return Response.json({ code: "NOT_FOUND", message: "no such job" }, { status: 404 });
  });
  show(ids("wait-1", "wait-2", "runs-1", "done-1"));
  await press("Run again");
  expect(requests).toEqual([]);
  await press("Run 4 jobs again");
  await pass(0);
  const posts = requests.filter(({ method }) => method === "POST");
  expect(posts).toMatchObject([{ path: "/api/prompt?connection=c1", json: { prompt: graph, extra_data: { extra_pnginfo: {} } } }]);
  expect(posts[0]?.press).toMatch(/^[0-9a-f]{32}$/);
  expect(requests.map(({ path }) => path.split("?")[0])).toEqual([
    "/api/jobs/wait-1",
    "/api/prompt",
    "/api/jobs/wait-2",
    "/api/jobs/runs-1",
    "/api/jobs/done-1",
  ]);
  expect((await resultLines()).map((line) => line?.slice(6, 46))).toEqual([
    "Run again as new-1",
    "Not run: open it and enter its masked in",
    "Not run: the service no longer has its w",
    "Not run: the service no longer has it No",
  ]);
});

it("shows an unanswered action as unknown, sends it once and stops", async () => {
  const requests = outside(({ method }) => (method === "POST" ? Promise.reject(new TypeError("cut")) : detail({ prompt: graph })));
  show(ids("done-1", "wait-1"));
  await press("Run again");
  await press("Run 2 jobs again");
  await pass(60_000);
  expect(requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  expect(screen.getByText("1 with an unknown result, 1 not processed")).toBeDefined();
});

it("reports nothing submitted when the console cannot be reached", async () => {
  const requests = outside(() => Promise.reject(new TypeError("offline")));
  show(ids("done-1"));
  await press("Run again");
  await pass(60_000);
  expect(requests.filter(({ method }) => method === "POST")).toEqual([]);
  expect(screen.getByText("1 not submitted: Lightdesk cannot be reached")).toBeDefined();
  expect(await resultLines()).toEqual(["done-1Not submitted: Lightdesk cannot be reached"]);
});

it("shows a requested wait and keeps the rest when stopped in it", async () => {
  const busy = () => Response.json({ code: "RATE_LIMITED", message: "slowly" }, { status: 429, headers: { "retry-after": "20" } });
  const requests = outside(({ path }) => (path.includes("/api/jobs/done-1") ? busy() : detail({ prompt: graph })));
  show(ids("done-1", "wait-1"));
  await press("Run again");
  await press("Run 2 jobs again");
  await pass(0);
  expect(screen.getByText("Running again 0 of 2 · the service requested a wait of 20 s")).toBeDefined();
  await pass(19_000);
  expect(requests).toHaveLength(1);
  await pass(1_500);
  expect(requests).toHaveLength(2);
  await press("Stop");
  await pass(60_000);
  expect(requests).toHaveLength(2);
  expect(screen.getByText(/1 not processed/)).toBeDefined();
});

const page = (from: number, count: number, total: number) =>
  Response.json({
    jobs: Array.from({ length: count }, (_, index) => ({ id: `job-${from + index}`, status: "pending" })),
    pagination: { offset: from, limit: 1000, total, has_more: from + count < total },
  });
it("counts all matching, confirms and acts in batches", async () => {
  const requests = outside(({ path, method, json }) => {
    const { offset, limit } = parseQuery(path);
    if (method === "POST") return Response.json({ deleted: Object(json).delete, cleared: false });
    return limit === "1" ? page(0, 1, 1200) : page(Number(offset ?? 0), offset === "1000" ? 200 : 1000, 1200);
  });
  show({ kind: "matching", query: { ...query, status: ["pending", "completed"] }, total: 1284 });
  await press("Cancel");
  await pass(0);
  expect(parseQuery(requests[0]?.path ?? "")).toMatchObject({ status: "pending", limit: "1", connection: "c1" });
  await press("Cancel 1,200 jobs");
  await pass(0);
  const posts = requests.filter(({ method }) => method === "POST");
  expect(requests.filter(({ method }) => method === "GET")).toHaveLength(3);
  expect(posts).toHaveLength(12);
  expect(screen.getByText("1,200 cancelled")).toBeDefined();
});

it("confirms work beyond one press", async () => {
  outside(() => page(0, 1, 25_000));
  show({ kind: "matching", query, total: 25_000 });
  await press("Run again");
  await pass(0);
  expect(screen.getByRole("button", { name: "Run 10,000 jobs again" })).toBeDefined();
  expect(screen.getByText("You can do this for up to 10,000 jobs at a time. Repeat it for the rest.")).toBeDefined();
});

it("changes nothing and explains when a list can't be read", async () => {
  const requests = outside(() => Response.json({ code: "UPSTREAM_UNREACHABLE", message: "" }, { status: 502 }));
  show({ kind: "matching", query, total: 12 });
  await press("Remove from history");
  await pass(0);
  expect(screen.getByText(/^The service cannot be reached/)).toBeDefined();
  expect(requests).toHaveLength(1);
});

it("exports all matching with filters and without paging", () => {
  show({ kind: "matching", query: { ...query, status: ["failed"], workflow_id: "w1" }, total: 1284 });
  const href = screen.getByRole("link", { name: "Export JSON" }).getAttribute("href") ?? "";
  expect(parseQuery(href)).toEqual({
    status: "failed",
    workflow_id: "w1",
    sort_by: "create_time",
    sort_order: "desc",
    format: "json",
    connection: "c1",
  });
});
