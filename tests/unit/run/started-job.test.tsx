// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { countPaths, CountsProvider } from "@/components/frame/counts-context";
import { NewestJob } from "@/components/run/submit/started-job";
import { UNDO_MS } from "@/components/ui/hooks/use-pending-undo";
import { BUSY_MS } from "@/lib/browser/poll/poll-plan";
import { type Graph } from "@/lib/contract/schemas/graph";
import { AtPage } from "@/tests/support/at-page";
import { inPage, renderPage } from "./render";

let jobs: readonly Record<string, unknown>[] = [];
/** Undefined: the service does not know the job. */
let detail: Record<string, unknown> | undefined = {};
let asked: string[] = [];
let posted: unknown[] = [];
/** The jobs whose cancellation was reported to the page. */
let cancelledIds: string[] = [];
/** By path, for requests that are not about jobs. */
let answers: Record<string, unknown> = {};
const BACKGROUND_MS = 10_000;

beforeEach(() => {
  vi.useFakeTimers();
  [asked, posted, cancelledIds, answers] = [[], [], [], {}];
  // Replaces the service that this page calls.
  vi.stubGlobal("fetch", async (path: string, init?: { method?: string; body?: string }) => {
    if (init?.method === "POST") posted.push(JSON.parse(init.body ?? ""));
    const other = answers[path.split("?")[0] ?? ""];
    if (other) return Response.json(other);
    if (path.startsWith("/api/console/")) return Response.json({ canStop: true });
    asked.push(path);
    if (path.startsWith("/api/jobs/mine?")) {
      return detail ? Response.json(detail) : Response.json({ code: "NOT_FOUND", message: "no such job" }, { status: 404 });
    }
    return Response.json({ jobs, pagination: { total: jobs.length } });
  });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function Strip({ jobId, sent }: { jobId?: string; sent?: Graph }) {
  const [cancelled, setCancelled] = useState<readonly string[]>([]);
  const receipt =
    jobId === undefined ? undefined : { jobId, name: "Poster", atMs: 0, nodesRefused: 0, isCancelled: cancelled.includes(jobId) };
  return (
    <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
      <NewestJob
        receipt={receipt}
        fallbackName="Pasted"
        sent={sent}
        onCancelled={(ids) => {
          cancelledIds.push(...ids);
          setCancelled(ids);
        }}
        onDismiss={() => undefined}
      />
    </ConnectionProvider>
  );
}
const show = (sent?: Graph) => renderPage(<Strip jobId="mine" sent={sent} />);
const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

it("what became of the job that was just started is announced and shown, and asked for until it has ended", async () => {
  jobs = [
    { id: "other", status: "failed" },
    { id: "mine", status: "in_progress" },
  ];
  show();
  const tone = () => screen.getByRole("region", { name: "The job that was started" }).dataset.tone;
  expect(screen.getByRole("status").textContent).toContain("The job is in the queue");
  expect(tone()).toBe("wait");
  await pass(0);
  expect(screen.getByRole("status").textContent).toContain("The job is running");
  expect(tone()).toBe("run");
  jobs = [{ id: "mine", status: "completed" }];
  detail = {
    id: "mine",
    status: "completed",
    outputs: { "9": { images: [{ filename: "p.png", subfolder: "", type: "output" }], text: ["a lighthouse"] } },
  };
  await pass(BUSY_MS);
  expect(screen.getByRole("status").textContent).toContain("The job completed");
  expect(tone()).toBe("ok");
  await pass(0);
  await act(() => vi.dynamicImportSettled());
  const result = screen.getByRole("region", { name: "Result of the job" });
  expect(result.querySelector("img")?.getAttribute("src")).toContain("filename=p.png");
  expect(result.textContent).toContain("a lighthouse");
  expect(screen.queryByRole("button", { name: "Stop" })).toBeNull();
  await pass(20 * BUSY_MS);
  const list = "/api/jobs?limit=20&connection=c1";
  expect(asked.map((path) => path.split("#")[0])).toEqual([list, list, "/api/jobs/mine?connection=c1"]);
  fireEvent.click(screen.getByRole("button", { name: "Hide result" }));
  expect(document.querySelector("img")).toBeNull();
});

it("what has landed of a job is shown while it runs, and stays until all of it is known", async () => {
  jobs = [{ id: "mine", status: "in_progress" }];
  const file = (filename: string) => ({ images: [{ filename, subfolder: "", type: "output" }] });
  const landing = "/api/console/jobs/mine/landed";
  answers = { [landing]: { outputs: {} } };
  show();
  await pass(0);
  await pass(0);
  expect(screen.queryByRole("region", { name: "Result of the job" })).toBeNull();
  answers = { [landing]: { outputs: { "3": file("early.png") } } };
  await pass(BUSY_MS);
  await act(() => vi.dynamicImportSettled());
  const pictures = () => [...document.querySelectorAll("img")].map(({ src }) => new URL(src).searchParams.get("filename"));
  expect(screen.getByRole("status").textContent).toContain("The job is running");
  expect(pictures()).toEqual(["early.png"]);
  jobs = [{ id: "mine", status: "completed" }];
  detail = { id: "mine", status: "completed", outputs: { "3": file("early.png"), "5": file("late.png") } };
  const first = document.querySelector("img");
  await pass(BUSY_MS);
  await pass(0);
  expect(pictures()).toEqual(["early.png", "late.png"]);
  expect(document.querySelector("img")).toBe(first);
});

it("what the navigation counts is asked again in the moment in which the job has ended", async () => {
  jobs = [{ id: "mine", status: "in_progress" }];
  renderPage(
    <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
      <CountsProvider>
        <Strip jobId="mine" />
      </CountsProvider>
    </ConnectionProvider>,
  );
  const { running } = countPaths("c1");
  const counts = () => asked.filter((path) => path === running).length;
  await pass(BUSY_MS - 1);
  const before = counts();
  jobs = [{ id: "mine", status: "completed" }];
  detail = { id: "mine", status: "completed", outputs: {} };
  await pass(1);
  await pass(0);
  expect(screen.getByRole("status").textContent).toContain("The job completed");
  expect(counts()).toBeGreaterThan(before);
});

const error = { node_id: "4", node_type: "Fail", exception_type: "RuntimeError", exception_message: "the sampler ran out of memory" };
it.each([
  ["by the list", { execution_error: error }, {}, 2],
  ["by the details alone", {}, { execution_error: error }, 2],
])("a job that failed says in which node and why, known %s", async (_, listed, detailed, questions) => {
  jobs = [{ id: "mine", status: "failed", ...listed }];
  detail = { id: "mine", status: "failed", ...detailed };
  const sent = { "4": { class_type: "Fail", inputs: {}, _meta: { title: "Breaks here" } } };
  show(sent);
  await pass(0);
  await pass(0);
  expect(screen.getByText("Breaks here #4 failed")).toBeTruthy();
  expect(screen.getByText("RuntimeError: the sampler ran out of memory")).toBeTruthy();
  await pass(20 * BUSY_MS);
  expect(asked).toHaveLength(questions);
});

it("the way to the job stays on the connection that the address names, as the job is nowhere else", () => {
  renderPage(
    <AtPage search={new URLSearchParams("connection=studio")}>
      <ConnectionProvider currentId="laptop" connections={["studio", "laptop"].map((id) => ({ id, name: id, embedded: false }))}>
        <NewestJob
          receipt={{ jobId: "mine", name: "Poster", atMs: 0, nodesRefused: 0 }}
          fallbackName="Pasted"
          onCancelled={() => undefined}
          onDismiss={() => undefined}
        />
      </ConnectionProvider>
    </AtPage>,
  );
  const hrefs = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(hrefs).toEqual(["/jobs?connection=studio", "/jobs/mine?connection=studio"]);
});

it.each([
  ["in_progress", "Stop", "stop requested for 1"],
  ["pending", "Cancel", "1 had already started"],
])("a job that is %s is ended here as everywhere, after a moment to take it back", async (status, button, told) => {
  jobs = [{ id: "mine", status, progress: { value: 0.25, nodes_done: 1, nodes_total: 4, current_node: "4" } }];
  answers = {
    "/api/console/jobs/stop": { stopped: [], stopping: ["mine"], over: [], unable: [], together: 0 },
    "/api/queue": { deleted: [], cleared: false },
  };
  show({ "4": { class_type: "Wait", inputs: {}, _meta: { title: "First wait" } } });
  await pass(0);
  expect(screen.queryByText("now First wait") !== null).toBe(status === "in_progress");
  fireEvent.click(screen.getByRole("button", { name: button }));
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  await pass(2 * UNDO_MS);
  expect(posted).toEqual([]);
  fireEvent.click(screen.getByRole("button", { name: button }));
  await pass(UNDO_MS);
  expect(posted).toEqual([status === "pending" ? { delete: ["mine"] } : { ids: ["mine"] }]);
  expect(screen.getByText(told)).toBeTruthy();
});

it("shows percent, node and step of a running job, and the runner in whose queue a waiting one is", async () => {
  jobs = [{ id: "mine", status: "pending", waits: { state: "queued", runners: ["GPU 1"], ahead: 1, message: "" } }];
  show({ "4": { class_type: "KSampler", inputs: {}, _meta: { title: "Sampler" } } });
  await pass(0);
  expect(screen.getByText("Queued on GPU 1, behind 1 job")).toBeDefined();
  jobs = [{ id: "mine", status: "in_progress", progress: { value: 0.25, current_node: "4", step: 5, steps: 20 } }];
  await pass(BUSY_MS);
  expect(screen.getByText("25%")).toBeDefined();
  expect(screen.getByText("now Sampler, step 5 of 20")).toBeDefined();
});

it("Stop is not offered where the service cannot stop what runs, and that is shown", async () => {
  jobs = [{ id: "mine", status: "in_progress" }];
  answers = { "/api/console/capabilities": { "jobs.stop": false } };
  show();
  await pass(0);
  await pass(0);
  expect(screen.queryByRole("button", { name: "Stop" })).toBeNull();
  expect(screen.getByText("This service cannot stop a running job")).toBeTruthy();
});

it("a job that neither the list nor its own address holds is gone, and comes back where it is found again", async () => {
  jobs = [{ id: "mine", status: "pending" }];
  show();
  await pass(0);
  jobs = [];
  detail = undefined;
  await pass(BUSY_MS);
  await pass(0);
  expect(screen.getByRole("status").textContent).toContain("The service no longer has this job");
  expect(screen.queryByRole("button", { name: "Cancel" })).toBeNull();
  jobs = [{ id: "mine", status: "in_progress" }];
  await pass(BACKGROUND_MS);
  expect(screen.getByRole("status").textContent).toContain("The job is running");
});

it("a waiting job that leaves the service with its cancellation was cancelled", async () => {
  jobs = [{ id: "mine", status: "pending" }];
  answers = { "/api/queue": { deleted: ["mine"], cleared: false } };
  show();
  await pass(0);
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  jobs = [];
  detail = undefined;
  await pass(UNDO_MS);
  await pass(BUSY_MS);
  expect(screen.getByText("The job was cancelled")).toBeTruthy();
  expect(screen.getByText("1 cancelled")).toBeTruthy();
});

it("a cancel that is still held when the next job starts is carried out and reported; one that had been reported is not reported again", async () => {
  jobs = [{ id: "mine", status: "pending" }];
  answers = { "/api/queue": { deleted: ["mine"], cleared: false } };
  const page = show();
  await pass(0);
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  // The next job is being sent, which removes the strip of the first.
  page.rerender(inPage(<Strip />));
  expect(screen.getByText("Cancelling 1 job")).toBeTruthy();
  jobs = [
    { id: "next", status: "pending" },
    { id: "mine", status: "cancelled" },
  ];
  page.rerender(inPage(<Strip jobId="next" />));
  expect(screen.getByText("Cancelling 1 job")).toBeTruthy();
  await pass(UNDO_MS);
  expect(posted).toEqual([{ delete: ["mine"] }]);
  expect(screen.getByText("1 cancelled")).toBeTruthy();
  expect(screen.getByText("The job is in the queue")).toBeTruthy();
  page.rerender(inPage(<Strip jobId="third" />));
  await pass(0);
  expect(screen.queryByText("1 cancelled")).toBeNull();
});

it("a cancel that leaves with the page reaches what outlives the page", async () => {
  jobs = [{ id: "mine", status: "pending" }];
  answers = { "/api/queue": { deleted: ["mine"], cleared: false } };
  const { rerender } = show();
  await pass(0);
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  rerender(inPage(null));
  await pass(0);
  expect(posted).toEqual([{ delete: ["mine"] }]);
  expect(cancelledIds).toEqual(["mine"]);
});

it("says that the service can't be reached while it is away, and recovers", async () => {
  jobs = [{ id: "mine", status: "in_progress" }];
  show();
  await pass(0);
  expect(screen.getByText("The job is running")).toBeDefined();
  const online = fetch;
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ code: "UPSTREAM_UNREACHABLE", message: "gone" }, { status: 502 })));
  await pass(2 * BUSY_MS);
  expect(screen.getByText("Couldn't reach the service. Retrying.")).toBeDefined();
  expect(screen.queryByText("The job is running")).toBeNull();
  vi.stubGlobal("fetch", online);
  await pass(60_000);
  expect(screen.getByText("The job is running")).toBeDefined();
});
