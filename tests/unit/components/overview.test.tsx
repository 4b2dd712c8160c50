import { act, fireEvent, screen } from "@testing-library/react";
import { Suspense } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { toOverviewJobs } from "@/components/overview/overview-jobs";
import { OverviewScreen } from "@/components/overview/overview-screen";
import { jobsResponseSchema } from "@/lib/contract/schemas/job";
import { ok } from "@/lib/shared/result";
import { renderInApp } from "./render";

beforeEach(() => {
  vi.stubGlobal("fetch", async () => Response.json({ jobs: [], pagination: { total: 0, offset: 0, limit: 1 } }));
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
});

it.each([
  ["shows samples when the connection was never used", false, true],
  ["shows the overview when the history was cleared", true, false],
])("%s", async (_, wasUsed, hasSamples) => {
  const emptyRead = Promise.resolve(ok({ value: { jobs: [], total: 0 }, atMs: Date.now() }));
  const total = Promise.resolve(ok({ value: 0, atMs: Date.now() }));
  const reads = { running: emptyRead, failed: emptyRead, pictures: emptyRead };
  const wasUsedPromise = Promise.resolve(wasUsed);
  await act(async () => {
    renderInApp(
      <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
        <Suspense>
          <OverviewScreen canRun canManage={false} total={total} hasRunJobs={wasUsedPromise} jobLists={reads} />
        </Suspense>
      </ConnectionProvider>,
    );
    await Promise.all([emptyRead, total, wasUsedPromise]);
  });
  expect(screen.queryByRole("region", { name: "Samples" }) !== null).toBe(hasSamples);
  expect(screen.queryByText("Running now") === null).toBe(hasSamples);
});

async function show(jobs: Record<"running" | "failed" | "pictures", unknown>, wasUsed = true) {
  const createReadResult = (list: unknown) =>
    Promise.resolve(ok({ value: toOverviewJobs(jobsResponseSchema.parse(list)), atMs: Date.now() }));
  const reads = {
    running: createReadResult(jobs.running),
    failed: createReadResult(jobs.failed),
    pictures: createReadResult(jobs.pictures),
  };
  const [total, wasUsedPromise] = [Promise.resolve(ok({ value: 9, atMs: Date.now() })), Promise.resolve(wasUsed)];
  await act(async () => {
    renderInApp(
      <ConnectionProvider currentId="c2" connections={[{ id: "c2", name: "Two", embedded: false }]}>
        <Suspense>
          <OverviewScreen canRun canManage={false} total={total} hasRunJobs={wasUsedPromise} jobLists={reads} />
        </Suspense>
      </ConnectionProvider>,
    );
    await Promise.all([...Object.values(reads), total, wasUsedPromise]);
  });
}
const createPage = (...jobs: unknown[]) => ({ jobs, pagination: { total: jobs.length, offset: 0, limit: 4 } });

it("shows progress, media icons and the number of unreadable entries", async () => {
  const outputs = { "3": { images: [{ filename: "early.png" }] } };
  const running = { id: "r", status: "in_progress", progress: { value: 0.25, current_node: "7", step: 3, steps: 20, outputs } };
  const jobWithOutput = (id: string, filename: string) => ({
    id,
    status: "completed",
    workflow_id: id,
    workflow_name: id,
    preview_output: { filename, subfolder: "", type: "output", nodeId: "9", mediaType: "images" },
  });
  await show({
    running: createPage(running),
    failed: { ...createPage(), unreadable: 1 },
    pictures: createPage(jobWithOutput("film", "a.mp4"), jobWithOutput("sound", "b.wav")),
  });
  expect(screen.getByText("25%")).toBeDefined();
  expect(screen.getByText("node 7, step 3 of 20 · 1 output")).toBeDefined();
  expect(screen.getByText("1 entry couldn't be read.")).toBeDefined();
  for (const name of ["film", "sound"]) fireEvent.error(screen.getByRole("img", { name }));
  expect(screen.getByRole("img", { name: "film" }).querySelector(".lucide-film")).not.toBeNull();
  expect(screen.getByRole("img", { name: "sound" }).querySelector(".lucide-audio-lines")).not.toBeNull();
});
