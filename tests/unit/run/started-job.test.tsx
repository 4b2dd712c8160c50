import { act, fireEvent, screen } from "@testing-library/react";
import { useState } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { NewestJob } from "@/components/run/submit/newest-job";
import { UNDO_WINDOW_MS } from "@/components/ui/hooks/use-pending-undo";
import { type Graph } from "@/lib/contract/schemas/graph";
import { LIVE_INTERVAL_MS } from "@/tests/support/mock-live";
import { renderPage, wrapInProviders } from "./render";

let jobs: readonly Record<string, unknown>[] = [];
/** Undefined: the service doesn't have the job. */
let detail: Record<string, unknown> | undefined = {};
let requests: string[] = [];
let bodies: unknown[] = [];
/** The jobs whose cancellation was reported to the page. */
let cancelledIds: string[] = [];
/** Responses to all other requests, by path. */
let responses: Record<string, unknown> = {};
const BACKGROUND_MS = 10_000;

beforeEach(() => {
  vi.useFakeTimers();
  [requests, bodies, cancelledIds, responses] = [[], [], [], {}];
  // Replaces the service that this page calls.
  vi.stubGlobal("fetch", async (path: string, init?: { method?: string; body?: string }) => {
    if (init?.method === "POST") bodies.push(JSON.parse(init.body ?? ""));
    const response = responses[path.split("?")[0] ?? ""];
    if (response) return Response.json(response);
    if (path.startsWith("/api/console/")) return Response.json({ canStop: true });
    requests.push(path);
    if (path.startsWith("/api/jobs/mine?")) {
      return detail ? Response.json(detail) : Response.json({ code: "NOT_FOUND", message: "no such job" }, { status: 404 });
    }
    return Response.json({ jobs, pagination: { total: jobs.length } });
  });
});

function TestJob({ jobId, sentGraph }: { jobId?: string; sentGraph?: Graph }) {
  const [cancelled, setCancelled] = useState<readonly string[]>([]);
  const submittedJob =
    jobId === undefined ? undefined : { jobId, name: "Poster", atMs: 0, nodesRefused: 0, isCancelled: cancelled.includes(jobId) };
  return (
    <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
      <NewestJob
        submittedJob={submittedJob}
        fallbackName="Pasted"
        sentGraph={sentGraph}
        onCancelled={(ids) => {
          cancelledIds.push(...ids);
          setCancelled(ids);
        }}
        onDismiss={() => undefined}
      />
    </ConnectionProvider>
  );
}
const renderJob = (sentGraph?: Graph) => renderPage(<TestJob jobId="mine" sentGraph={sentGraph} />);
const advanceTime = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

it("announces and tracks the started job until it ends", async () => {
  jobs = [
    { id: "other", status: "failed" },
    { id: "mine", status: "in_progress" },
  ];
  renderJob();
  const getTone = () => screen.getByRole("region", { name: "The job that was started" }).dataset.tone;
  expect(screen.getByRole("status").textContent).toContain("The job is in the queue");
  expect(getTone()).toBe("wait");
  await advanceTime(0);
  expect(screen.getByRole("status").textContent).toContain("The job is running");
  expect(getTone()).toBe("run");
  jobs = [{ id: "mine", status: "completed" }];
  detail = {
    id: "mine",
    status: "completed",
    outputs: { "9": { images: [{ filename: "p.png", subfolder: "", type: "output" }], text: ["a lighthouse"] } },
  };
  await advanceTime(LIVE_INTERVAL_MS);
  expect(screen.getByRole("status").textContent).toContain("The job completed");
  expect(getTone()).toBe("ok");
  await advanceTime(0);
  await act(() => vi.dynamicImportSettled());
  const result = screen.getByRole("region", { name: "Result of the job" });
  expect(result.querySelector("img")?.getAttribute("src")).toContain("filename=p.png");
  expect(result.textContent).toContain("a lighthouse");
  expect(screen.queryByRole("button", { name: "Stop" })).toBeNull();
  await advanceTime(20 * LIVE_INTERVAL_MS);
  const list = "/api/jobs?limit=20&connection=c1";
  expect(requests.map((path) => path.split("#")[0])).toEqual([list, list, "/api/jobs/mine?connection=c1"]);
  fireEvent.click(screen.getByRole("button", { name: "Hide result" }));
  expect(document.querySelector("img")).toBeNull();
});

it("shows live outputs of a running job until all results are loaded", async () => {
  jobs = [{ id: "mine", status: "in_progress" }];
  const createOutput = (filename: string) => ({ images: [{ filename, subfolder: "", type: "output" }] });
  renderJob();
  await advanceTime(0);
  await advanceTime(0);
  expect(screen.queryByRole("region", { name: "Result of the job" })).toBeNull();
  jobs = [{ id: "mine", status: "in_progress", progress: { current_node: "5", outputs: { "3": createOutput("early.png") } } }];
  await advanceTime(LIVE_INTERVAL_MS);
  await act(() => vi.dynamicImportSettled());
  const getImageFilenames = () => [...document.querySelectorAll("img")].map(({ src }) => new URL(src).searchParams.get("filename"));
  expect(screen.getByRole("status").textContent).toContain("The job is running");
  expect(getImageFilenames()).toEqual(["early.png"]);
  jobs = [{ id: "mine", status: "completed" }];
  detail = { id: "mine", status: "completed", outputs: { "3": createOutput("early.png"), "5": createOutput("late.png") } };
  const firstImage = document.querySelector("img");
  await advanceTime(LIVE_INTERVAL_MS);
  await advanceTime(0);
  expect(getImageFilenames()).toEqual(["early.png", "late.png"]);
  expect(document.querySelector("img")).toBe(firstImage);
});

const error = { node_id: "4", node_type: "Fail", exception_type: "RuntimeError", exception_message: "the sampler ran out of memory" };
it.each([
  ["the list", { execution_error: error }, {}, 2],
  ["the details alone", {}, { execution_error: error }, 2],
])("explains a failed job with the error from %s", async (_, listFields, detailFields, requestCount) => {
  jobs = [{ id: "mine", status: "failed", ...listFields }];
  detail = { id: "mine", status: "failed", ...detailFields };
  const sentGraph = { "4": { class_type: "Fail", inputs: {}, _meta: { title: "Breaks here" } } };
  renderJob(sentGraph);
  await advanceTime(0);
  await advanceTime(0);
  expect(screen.getByText("Breaks here #4 failed")).toBeTruthy();
  expect(screen.getByText("RuntimeError: the sampler ran out of memory")).toBeTruthy();
  await advanceTime(20 * LIVE_INTERVAL_MS);
  expect(requests).toHaveLength(requestCount);
});

it.each([
  ["in_progress", "Stop", "stop requested for 1"],
  ["pending", "Cancel", "1 had already started"],
])("cancels a job that is %s after the undo window", async (status, button, message) => {
  jobs = [{ id: "mine", status, progress: { value: 0.25, nodes_done: 1, nodes_total: 4, current_node: "4" } }];
  responses = {
    "/api/console/jobs/stop": { stopped: [], stopping: ["mine"], over: [], unable: [], together: 0 },
    "/api/queue": { deleted: [], cleared: false },
  };
  renderJob({ "4": { class_type: "Wait", inputs: {}, _meta: { title: "First wait" } } });
  await advanceTime(0);
  expect(screen.queryByText("running First wait") !== null).toBe(status === "in_progress");
  fireEvent.click(screen.getByRole("button", { name: button }));
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  await advanceTime(2 * UNDO_WINDOW_MS);
  expect(bodies).toEqual([]);
  fireEvent.click(screen.getByRole("button", { name: button }));
  await advanceTime(UNDO_WINDOW_MS);
  expect(bodies).toEqual([status === "pending" ? { delete: ["mine"] } : { ids: ["mine"] }]);
  expect(screen.getByText(message)).toBeTruthy();
});

it("shows a job's progress and the runner that it waits for", async () => {
  jobs = [{ id: "mine", status: "pending", waits: { state: "queued", runners: ["GPU 1"], ahead: 1, message: "" } }];
  renderJob({ "4": { class_type: "KSampler", inputs: {}, _meta: { title: "Sampler" } } });
  await advanceTime(0);
  expect(screen.getByText("Queued on GPU 1, behind 1 job")).toBeDefined();
  jobs = [{ id: "mine", status: "in_progress", progress: { value: 0.25, current_node: "4", step: 5, steps: 20 } }];
  await advanceTime(LIVE_INTERVAL_MS);
  expect(screen.getByText("25%")).toBeDefined();
  expect(screen.getByText("running Sampler, step 5 of 20")).toBeDefined();
});

it("hides Stop with a reason when jobs can't be stopped", async () => {
  jobs = [{ id: "mine", status: "in_progress" }];
  responses = { "/api/console/capabilities": { "jobs.stop": false } };
  renderJob();
  await advanceTime(0);
  await advanceTime(0);
  expect(screen.queryByRole("button", { name: "Stop" })).toBeNull();
  expect(screen.getByText("This service can't stop a running job")).toBeTruthy();
});

it("shows a lost job as removed and restores it when found", async () => {
  jobs = [{ id: "mine", status: "pending" }];
  renderJob();
  await advanceTime(0);
  jobs = [];
  detail = undefined;
  await advanceTime(LIVE_INTERVAL_MS);
  await advanceTime(0);
  expect(screen.getByRole("status").textContent).toContain("The service no longer has this job");
  expect(screen.queryByRole("button", { name: "Cancel" })).toBeNull();
  jobs = [{ id: "mine", status: "in_progress" }];
  await advanceTime(BACKGROUND_MS);
  expect(screen.getByRole("status").textContent).toContain("The job is running");
});

it("treats a pending job lost during its cancellation as cancelled", async () => {
  jobs = [{ id: "mine", status: "pending" }];
  responses = { "/api/queue": { deleted: ["mine"], cleared: false } };
  renderJob();
  await advanceTime(0);
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  jobs = [];
  detail = undefined;
  await advanceTime(UNDO_WINDOW_MS);
  await advanceTime(LIVE_INTERVAL_MS);
  expect(screen.getByText("The job was cancelled")).toBeTruthy();
  expect(screen.getByText("1 cancelled")).toBeTruthy();
});

it("reports a delayed cancellation once when the next job starts", async () => {
  jobs = [{ id: "mine", status: "pending" }];
  responses = { "/api/queue": { deleted: ["mine"], cleared: false } };
  const page = renderJob();
  await advanceTime(0);
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  // Submitting the next job removes the first job's card.
  page.rerender(wrapInProviders(<TestJob />));
  expect(screen.getByText("Cancelling 1 job")).toBeTruthy();
  jobs = [
    { id: "next", status: "pending" },
    { id: "mine", status: "cancelled" },
  ];
  page.rerender(wrapInProviders(<TestJob jobId="next" />));
  expect(screen.getByText("Cancelling 1 job")).toBeTruthy();
  await advanceTime(UNDO_WINDOW_MS);
  expect(bodies).toEqual([{ delete: ["mine"] }]);
  expect(screen.getByText("1 cancelled")).toBeTruthy();
  expect(screen.getByText("The job is in the queue")).toBeTruthy();
  page.rerender(wrapInProviders(<TestJob jobId="third" />));
  await advanceTime(0);
  expect(screen.queryByText("1 cancelled")).toBeNull();
});

it("reports an unreachable service and recovers", async () => {
  jobs = [{ id: "mine", status: "in_progress" }];
  renderJob();
  await advanceTime(0);
  expect(screen.getByText("The job is running")).toBeDefined();
  const originalFetch = fetch;
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ code: "UPSTREAM_UNREACHABLE", message: "gone" }, { status: 502 })));
  await advanceTime(2 * LIVE_INTERVAL_MS);
  expect(screen.getByText("Couldn't reach the service. Retrying.")).toBeDefined();
  expect(screen.queryByText("The job is running")).toBeNull();
  vi.stubGlobal("fetch", originalFetch);
  await advanceTime(60_000);
  expect(screen.getByText("The job is running")).toBeDefined();
});
