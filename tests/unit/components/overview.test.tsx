import { fireEvent, screen, waitForElementToBeRemoved } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { toOverviewJobs } from "@/components/overview/overview-jobs";
import { OverviewScreen } from "@/components/overview/overview-screen";
import { jobsResponseSchema } from "@/lib/contract/schemas/job";
import { createReadResult, renderScreen, stubScreenWidth } from "./render-screen";

const createPage = (...jobs: unknown[]) => ({ jobs, pagination: { total: jobs.length, offset: 0, limit: 4 } });

beforeEach(() => {
  vi.stubGlobal("fetch", async () => Response.json(createPage()));
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
  stubScreenWidth(true);
});

type JobLists = Record<"running" | "failed" | "pictures", unknown>;
const noJobs: JobLists = { running: createPage(), failed: createPage(), pictures: createPage() };

async function show(connectionId: string, { running, failed, pictures }: JobLists, hasSubmittedJobs: boolean) {
  const readJobs = (list: unknown) => createReadResult(toOverviewJobs(jobsResponseSchema.parse(list)));
  const jobLists = { running: readJobs(running), failed: readJobs(failed), pictures: readJobs(pictures) };
  const total = createReadResult(0);
  await renderScreen(
    <OverviewScreen canRun canManage={false} total={total} hasSubmittedJobs={Promise.resolve(hasSubmittedJobs)} jobLists={jobLists} />,
    { connectionId },
  );
}

it.each([
  ["shows samples when the connection was never used", false, true],
  ["shows the overview when the history was cleared", true, false],
])("%s", async (_, wasUsed, hasSamples) => {
  await show("c1", noJobs, wasUsed);
  expect(screen.queryByRole("region", { name: "Samples" }) !== null).toBe(hasSamples);
  expect(screen.queryByText("Running now") === null).toBe(hasSamples);
});

const jobWithOutput = (id: string, filename: string) => ({
  ...{ id, status: "completed", workflow_id: id, workflow_name: id },
  preview_output: { filename, subfolder: "", type: "output", nodeId: "9", mediaType: "images" },
});

it("shows progress, media icons and the number of unreadable entries", async () => {
  const outputs = { "3": { images: [{ filename: "early.png" }] } };
  const running = { id: "r", status: "in_progress", progress: { value: 0.25, current_node: "7", step: 3, steps: 20, outputs } };
  const jobLists = {
    running: createPage(running),
    failed: { ...createPage(), unreadable: 1 },
    pictures: createPage(jobWithOutput("film", "a.mp4"), jobWithOutput("sound", "b.wav")),
  };
  await show("c2", jobLists, true);
  expect(screen.getByText("25%")).toBeDefined();
  expect(screen.getByText("node 7, step 3 of 20 · 1 output")).toBeDefined();
  expect(screen.getByText("1 entry couldn't be read.")).toBeDefined();
  for (const name of ["film", "sound"]) fireEvent.error(screen.getByRole("img", { name }));
  expect(screen.getByRole("img", { name: "film" }).querySelector(".lucide-film")).not.toBeNull();
  expect(screen.getByRole("img", { name: "sound" }).querySelector(".lucide-audio-lines")).not.toBeNull();
});

it("hides deleted images and shows an icon for others that fail to load", async () => {
  vi.stubGlobal("fetch", async (url: string) => {
    if (!url.includes("thumbnail")) return Response.json(createPage());
    return new Response(null, { status: url.includes("deleted.png") ? 404 : 503 });
  });
  await show("c3", { ...noJobs, pictures: createPage(jobWithOutput("gone", "deleted.png"), jobWithOutput("kept", "kept.png")) }, true);
  for (const name of ["gone", "kept"]) fireEvent.error(screen.getByRole("img", { name }));
  await waitForElementToBeRemoved(() => screen.queryByRole("img", { name: "gone" }));
  expect(screen.getByRole("img", { name: "kept" }).querySelector(".lucide-image-off")).not.toBeNull();
});
