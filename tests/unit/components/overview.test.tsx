import { act, fireEvent, screen } from "@testing-library/react";
import { Suspense } from "react";
import { beforeEach, expect, it, vi } from "vitest";
import { ConnectionProvider } from "@/components/frame/connection/connection-context";
import { toOverviewJobs } from "@/components/overview/overview-jobs";
import { OverviewScreen } from "@/components/overview/overview-screen";
import { jobsAnswerSchema } from "@/lib/contract/schemas/job";
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
  ["greets members of a connection that was never used", false, true],
  ["stays the overview after the history was cleared", true, false],
])("%s", async (_, wasUsed, isWelcome) => {
  const none = Promise.resolve(ok({ value: { jobs: [], total: 0 }, atMs: Date.now() }));
  const total = Promise.resolve(ok({ value: 0, atMs: Date.now() }));
  const reads = { running: none, failed: none, pictures: none };
  const usedPromise = Promise.resolve(wasUsed);
  await act(async () => {
    renderInApp(
      <ConnectionProvider currentId="c1" connections={[{ id: "c1", name: "One", embedded: true }]}>
        <Suspense>
          <OverviewScreen canRun canManage={false} total={total} wasUsed={usedPromise} reads={reads} />
        </Suspense>
      </ConnectionProvider>,
    );
    await Promise.all([none, total, usedPromise]);
  });
  expect(screen.queryByRole("region", { name: "Samples" }) !== null).toBe(isWelcome);
  expect(screen.queryByText("Running now") === null).toBe(isWelcome);
});

async function show(jobs: Record<"running" | "failed" | "pictures", unknown>, wasUsed = true) {
  const resolveRead = (list: unknown) => Promise.resolve(ok({ value: toOverviewJobs(jobsAnswerSchema.parse(list)), atMs: Date.now() }));
  const reads = { running: resolveRead(jobs.running), failed: resolveRead(jobs.failed), pictures: resolveRead(jobs.pictures) };
  const [total, usedPromise] = [Promise.resolve(ok({ value: 9, atMs: Date.now() })), Promise.resolve(wasUsed)];
  await act(async () => {
    renderInApp(
      <ConnectionProvider currentId="c2" connections={[{ id: "c2", name: "Two", embedded: false }]}>
        <Suspense>
          <OverviewScreen canRun canManage={false} total={total} wasUsed={usedPromise} reads={reads} />
        </Suspense>
      </ConnectionProvider>,
    );
    await Promise.all([...Object.values(reads), total, usedPromise]);
  });
}
const page = (...jobs: unknown[]) => ({ jobs, pagination: { total: jobs.length, offset: 0, limit: 4 } });

it("shows percent, node, step and outputs so far, media icons and how much was unreadable", async () => {
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
    running: page(running),
    failed: { ...page(), unreadable: 1 },
    pictures: page(jobWithOutput("film", "a.mp4"), jobWithOutput("sound", "b.wav")),
  });
  expect(screen.getByText("25%")).toBeDefined();
  expect(screen.getByText("node 7, step 3 of 20 · 1 output")).toBeDefined();
  expect(screen.getByText("1 entry couldn't be read.")).toBeDefined();
  for (const name of ["film", "sound"]) fireEvent.error(screen.getByRole("img", { name }));
  expect(screen.getByRole("img", { name: "film" }).querySelector(".lucide-film")).not.toBeNull();
  expect(screen.getByRole("img", { name: "sound" }).querySelector(".lucide-audio-lines")).not.toBeNull();
});
