// @vitest-environment jsdom
import { act, cleanup, screen } from "@testing-library/react";
import { SearchParamsContext } from "next/dist/shared/lib/hooks-client-context.shared-runtime";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection-context";
import { NewestReceipt } from "@/components/run/receipts";
import { BUSY_MS } from "@/lib/browser/poll-plan";
import { renderPage } from "./render";

let jobs: readonly Record<string, unknown>[] = [];
let detail: Record<string, unknown> = {};
let asked: string[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  // The service of this page, which is none of ours.
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    if (path.startsWith("/api/jobs/mine?")) return Response.json(detail);
    return Response.json({ jobs, pagination: { total: jobs.length } });
  });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));

it("what became of the job that was just started is told and shown, and asked for until it has ended", async () => {
  jobs = [
    { id: "other", status: "failed" },
    { id: "mine", status: "in_progress" },
  ];
  renderPage(
    <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
      <NewestReceipt receipt={{ jobId: "mine", name: "Poster", atMs: 0, nodesRefused: 0 }} fallbackName="Pasted" />
    </ConnectionProvider>,
  );
  expect(screen.getByRole("status").textContent).toContain("The job is in the queue");
  await pass(0);
  expect(screen.getByRole("status").textContent).toContain("The job is running");
  jobs = [
    {
      id: "mine",
      status: "completed",
      preview_output: { filename: "p.png", subfolder: "", type: "output", mediaType: "images", nodeId: "9" },
    },
  ];
  await pass(BUSY_MS);
  expect(screen.getByRole("status").textContent).toContain("The job completed");
  expect(document.querySelector("img")?.getAttribute("src")).toContain("filename=p.png");
  await pass(20 * BUSY_MS);
  expect(asked.map((path) => path.split("#")[0])).toEqual(Array(2).fill("/api/jobs?limit=20&connection=c1"));
});

const error = { node_id: "4", node_type: "Fail", exception_type: "RuntimeError", exception_message: "the sampler ran out of memory" };
it.each([
  ["by the list", { execution_error: error }, {}, 1],
  ["by the details alone", {}, { execution_error: error }, 2],
])("a job that failed says in which node and why, known %s", async (_, listed, detailed, questions) => {
  jobs = [{ id: "mine", status: "failed", ...listed }];
  detail = { id: "mine", status: "failed", ...detailed };
  const sent = { "4": { class_type: "Fail", inputs: {}, _meta: { title: "Breaks here" } } };
  renderPage(
    <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
      <NewestReceipt receipt={{ jobId: "mine", name: "Poster", atMs: 0, nodesRefused: 0 }} fallbackName="Pasted" sent={sent} />
    </ConnectionProvider>,
  );
  await pass(0);
  await pass(0);
  expect(screen.getByText("Breaks here #4 failed")).toBeTruthy();
  expect(screen.getByText("RuntimeError: the sampler ran out of memory")).toBeTruthy();
  await pass(20 * BUSY_MS);
  expect(asked).toHaveLength(questions);
});

it("the way to the job stays on the connection that the address names, as the job is nowhere else", () => {
  renderPage(
    <SearchParamsContext value={new URLSearchParams("connection=studio")}>
      <ConnectionProvider currentId="laptop" connections={["studio", "laptop"].map((id) => ({ id, name: id, embedded: false }))}>
        <NewestReceipt receipt={{ jobId: "mine", name: "Poster", atMs: 0, nodesRefused: 0 }} fallbackName="Pasted" />
      </ConnectionProvider>
    </SearchParamsContext>,
  );
  const hrefs = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(hrefs).toEqual(["/jobs?connection=studio", "/jobs/mine?connection=studio"]);
});
