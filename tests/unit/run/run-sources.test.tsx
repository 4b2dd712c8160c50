import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { type RunSource } from "@/components/run/workflow/run-sources";
import { assetSchema } from "@/lib/contract/schemas/asset";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { failed, ok } from "@/lib/shared/result";
import { createApi, createByteSource, getField, openText, pressRun, showRunPage, showSample } from "./run-page";
import { readSampleGraph, readSampleText } from "./workflow-fixtures";

const job: JobDetail = {
  id: "9f2c41ab-0000-4000-8000-000000000000",
  status: "completed",
  workflow_name: "hero",
  workflow: { prompt: readSampleGraph("01-invert") },
};

beforeEach(() => window.history.replaceState(null, "", "/run?job=x"));

const renderRunPage = (source: RunSource, overrides: Partial<RunApi>) => showRunPage(createApi(undefined, overrides), { source });
const notFound = failed({ code: "NOT_FOUND", message: "", status: 404 });

describe("a past job", () => {
  it("opens with its inputs and name and keeps only the connection in the URL", async () => {
    window.history.replaceState(null, "", "/run?job=x&connection=studio");
    renderRunPage({ job: job.id }, { readJob: async () => ok(job) });
    expect(await screen.findByText("hero")).toBeTruthy();
    expect(getField("width").value).toBe("512");
    expect(window.location.search).toBe("?connection=studio");
  });

  it("marks the failed node and submits its job id with the rerun", async () => {
    const bodies: unknown[] = [];
    const error = { node_id: "2", node_type: "ImageInvert", exception_type: "E", exception_message: "out of memory\n", traceback: [] };
    renderRunPage(
      { job: job.id },
      {
        readJob: async () => ok({ ...job, status: "failed", execution_error: error }),
        sendPrompt: async (_submission, _key, notes) => {
          bodies.push(notes);
          return ok({ prompt_id: "again-1", node_errors: {} });
        },
      },
    );
    const message = await screen.findByText("Failed here in job 9f2c41ab: out of memory");
    expect(message.closest("[data-problem]")?.textContent).toContain("#2");
    pressRun();
    await waitFor(() => expect(bodies).toEqual([{ rerunOf: job.id }]));
    await waitFor(() => expect(screen.queryByText(/Failed here/)).toBeNull());
  });

  it.each<[string, RunSource, Partial<RunApi>, RegExp]>([
    ["a missing job", { job: "x" }, { readJob: async () => notFound }, /no longer exists, or you have no access to it/],
    [
      "a job without a workflow",
      { job: "x" },
      { readJob: async () => ok({ ...job, workflow: undefined }) },
      /no longer has this job's workflow/,
    ],
    ["a missing file", { file: "workflows/hero.json" }, { readStored: async () => notFound }, /hero.json was not opened.*no longer exists/],
    ["missing assets", { assets: ["f"] }, { readAsset: async () => notFound }, /No images were added.*no longer exist/],
  ])("reports %s and keeps the page usable", async (_, source, overrides, sentence) => {
    renderRunPage(source, overrides);
    expect((await screen.findByRole("alert")).textContent).toMatch(sentence);
    expect(screen.getByText("Drop a workflow file here")).toBeTruthy();
  });

  it("offers to restore the earlier workflow with its edits", async () => {
    const earlierPage = await showSample(createApi(undefined));
    fireEvent.change(getField("width"), { target: { value: "640" } });
    window.dispatchEvent(new Event("pagehide"));
    earlierPage.unmount();
    renderRunPage({ job: job.id }, { readJob: async () => ok(job) });
    fireEvent.click(await screen.findByRole("button", { name: "Back to Pasted workflow" }));
    await waitFor(() => expect(getField("width").value).toBe("640"));
  });
});

describe("a stored file", () => {
  it("is listed and opens on click", async () => {
    const requests: string[] = [];
    const readStored = async (path: string) => {
      requests.push(path);
      return ok(createByteSource(readSampleText("01-invert")));
    };
    const files = ["workflows/a/hero.json", "workflows/notes.txt"].map((path) => ({ path, size: 1, modified: undefined }));
    showRunPage(createApi(undefined, { readStored, listStored: async () => ok(files) }));
    fireEvent.click(screen.getByRole("button", { name: "Show saved files" }));
    fireEvent.click(await screen.findByRole("button", { name: "a/hero.json" }));
    expect(await screen.findAllByRole("button", { name: "Run" })).toBeTruthy();
    expect(requests).toEqual(["workflows/a/hero.json"]);
    expect(screen.queryByText("notes.txt")).toBeNull();
  });
});

it("opens an app's workflow with its title at the node in the URL", async () => {
  window.history.replaceState(null, "", "/run?app=one#node-1");
  renderRunPage({ app: "one" }, { readApp: async () => ok({ title: "Negatives", graph: readSampleGraph("01-invert") }) });
  expect(await screen.findByText("Negatives")).toBeTruthy();
  expect(window.location.search).toBe("");
  expect(document.activeElement?.id).toBe("node-1");
  await waitFor(() => expect(window.location.hash).toBe(""));
});

describe("pictures for an input", () => {
  const content = (digit: string) => `blake3:${digit.repeat(64)}`;
  const asset = (id: string, overrides: object = {}) =>
    ok(assetSchema.parse({ id, name: `${id}.png`, mime_type: "image/png", asset_hash: content(id), tags: ["output"], ...overrides }));
  const readAsset: RunApi["readAsset"] = async (id) =>
    id === "f" ? notFound : asset(id, id === "e" ? { name: "e.txt", mime_type: "text/plain" } : {});

  /** The focused field shows the stored name. */
  function expectPictureIsSet() {
    fireEvent.focus(getField("Image name"));
    expect(getField("Image name").value).toBe(`${"a".repeat(64)}.png`);
  }

  it("can be used in a matching sample", async () => {
    renderRunPage({ assets: ["a"] }, { readAsset });
    expect(await screen.findByText(/Choose a recent workflow/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Slow on purpose/ })).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
    await screen.findAllByRole("button", { name: "Run" });
    expectPictureIsSet();
    expect(screen.queryByRole("region", { name: "Image to use" })).toBeNull();
  });

  it("can be used in a recent workflow", async () => {
    const jobs = [
      { id: "1", workflow_id: "poster", status: "completed" },
      { id: "2", workflow_id: "poster", status: "completed" },
      { id: "3", workflow_id: "invert", status: "completed" },
    ];
    const readIds: string[] = [];
    const readJob: RunApi["readJob"] = async (id) => {
      readIds.push(id);
      const sample = id === "3" ? "01-invert" : "02-poster-from-photo";
      return ok({ id, status: "completed", workflow_name: `flow ${id}`, workflow: { prompt: readSampleGraph(sample) } });
    };
    const recentJobs: RunApi["listRecentJobs"] = async () => ok({ jobs, pagination: { offset: 0, limit: 50, total: 3, has_more: false } });
    renderRunPage({ assets: ["a"] }, { readAsset, readJob, listRecentJobs: recentJobs });
    fireEvent.click(await screen.findByRole("button", { name: "flow 1" }));
    await screen.findAllByRole("button", { name: "Run" });
    expectPictureIsSet();
    expect(readIds).toEqual(["1", "3"]);
  });

  it("show an outage when recent workflows can't be loaded", async () => {
    renderRunPage({ assets: ["a"] }, { readAsset });
    expect((await screen.findByRole("alert")).textContent).toMatch(/Couldn't reach Lightdesk/);
    expect(screen.queryByText("No recent workflow uses an image.")).toBeNull();
  });

  it("are set on an input of an open workflow on demand", async () => {
    renderRunPage({ assets: ["a"] }, { readAsset });
    await screen.findByText(/Choose a recent workflow/);
    await openText(readSampleText("02-poster-from-photo"));
    const useButton = await screen.findByRole("button", { name: "Use as image of #1 Photo" });
    expect(getField("Image name").value).toBe("photo.png");
    fireEvent.click(useButton);
    expectPictureIsSet();
    expect(screen.queryByText("Use as image of #1 Photo")).toBeNull();
  });

  it("can be used in another workflow when no input accepts them", async () => {
    renderRunPage({ assets: ["a"] }, { readAsset });
    await screen.findByText(/Choose a recent workflow/);
    await openText(readSampleText("01-invert"));
    fireEvent.click(await screen.findByRole("button", { name: "Choose another workflow" }));
    expect(screen.getByRole("button", { name: "Back to Pasted workflow" })).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
    await screen.findAllByRole("button", { name: "Run" });
    expectPictureIsSet();
  });

  it("become one copy each, and unusable ones are counted", async () => {
    renderRunPage({ assets: ["a", "b", "e", "f"] }, { readAsset });
    expect(await screen.findByText("2 images to use")).toBeTruthy();
    expect(screen.getByText(/2 more no longer exist or are not images/)).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
    expect(await screen.findByRole("button", { name: "2 copies: image of #1 Photo" })).toBeTruthy();
  });
});
