// @vitest-environment jsdom
import { act, cleanup, screen } from "@testing-library/react";
import { SearchParamsContext } from "next/dist/shared/lib/hooks-client-context.shared-runtime";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection-context";
import { NewestReceipt } from "@/components/run/receipts";
import { BUSY_MS } from "@/lib/browser/poll-plan";
import { renderPage } from "./render";

let jobs: readonly Record<string, unknown>[] = [];
let asked: string[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  // The service of this page, which is none of ours.
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
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
  expect(screen.getByRole("status").textContent).toContain("The job is completed");
  expect(document.querySelector("img")?.getAttribute("src")).toContain("filename=p.png");
  await pass(20 * BUSY_MS);
  expect(asked.map((path) => path.split("#")[0])).toEqual(Array(2).fill("/api/jobs?limit=20&connection=c1"));
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
