import { fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type RunSource } from "@/components/run/workflow/run-sources";
import { assetSchema } from "@/lib/contract/schemas/asset";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { failed, ok } from "@/lib/shared/result";
import { sampleGraph, sampleText } from "./files";
import { createApi, createByteSource, field, openText, show } from "./page";
import { renderPage } from "./render";

const job: JobDetail = {
  id: "9f2c41ab-0000-4000-8000-000000000000",
  status: "completed",
  workflow_name: "hero",
  workflow: { prompt: sampleGraph("01-invert") },
};

beforeEach(() => window.history.replaceState(null, "", "/run?job=x"));

function renderRunPage(source: RunSource, ports: Partial<RunApi>) {
  return renderPage(<RunScreen canRun memberId="ada" source={source} store={createRunStore()} api={createApi(undefined, ports)} />);
}
const missing = failed({ code: "NOT_FOUND", message: "", status: 404 });

describe("a past job", () => {
  it("opens with its inputs and name and clears the address", async () => {
    renderRunPage({ job: job.id }, { readJob: async () => ok(job) });
    expect(await screen.findByText("hero")).toBeTruthy();
    expect(field("width").value).toBe("512");
    expect(window.location.search).toBe("");
  });

  it("marks the failed node and links its rerun", async () => {
    const bodies: unknown[] = [];
    const execution_error = {
      node_id: "2",
      node_type: "ImageInvert",
      exception_type: "E",
      exception_message: "out of memory\n",
      traceback: [],
    };
    renderRunPage(
      { job: job.id },
      {
        readJob: async () => ok({ ...job, status: "failed", execution_error }),
        sendPrompt: async (_submission, _key, notes) => {
          bodies.push(notes);
          return ok({ prompt_id: "again-1", node_errors: {} });
        },
      },
    );
    const message = await screen.findByText("Failed here in job 9f2c41ab: out of memory");
    expect(message.closest("[data-problem]")?.textContent).toContain("#2");
    fireEvent.click(screen.getAllByRole("button", { name: "Run" })[0] ?? document.body);
    await waitFor(() => expect(bodies).toEqual([{ rerunOf: job.id }]));
    await waitFor(() => expect(screen.queryByText(/Failed here/)).toBeNull());
  });

  it.each([
    ["that is gone", missing, /no longer exists, or you have no access to it/],
    ["that holds no workflow any more", ok({ ...job, workflow: undefined }), /no longer has this job's workflow/],
    ["that a service cannot tell of", failed({ code: "UPSTREAM_TIMEOUT", message: "", status: 504 }), /./],
  ])("reports %s and keeps the page usable", async (_, result, sentence) => {
    renderRunPage({ job: job.id }, { readJob: async () => result });
    expect((await screen.findByRole("alert")).textContent).toMatch(sentence);
    expect(screen.getByText("Drop a workflow file here")).toBeTruthy();
  });

  it("restores the earlier workflow with one press", async () => {
    const before = show(createApi(undefined));
    await openText(sampleText("05-slow"));
    window.dispatchEvent(new Event("pagehide"));
    before.unmount();
    renderRunPage({ job: job.id }, { readJob: async () => ok(job) });
    fireEvent.click(await screen.findByRole("button", { name: "Back to Pasted workflow" }));
    expect(await screen.findAllByText("Slow step")).toBeTruthy();
  });
});

describe("a stored file", () => {
  it("is found in the service's list and opens on click", async () => {
    const requests: string[] = [];
    const readStored = async (path: string) => {
      requests.push(path);
      return ok(createByteSource(sampleText("01-invert")));
    };
    const files = ["workflows/a/hero.json", "workflows/notes.txt"].map((path) => ({ path, size: 1, modified: undefined }));
    show(createApi(undefined, { readStored, listStored: async () => ok(files) }));
    fireEvent.click(screen.getByRole("button", { name: "Show saved files" }));
    fireEvent.click(await screen.findByRole("button", { name: "a/hero.json" }));
    expect(await screen.findAllByRole("button", { name: "Run" })).toBeTruthy();
    expect(requests).toEqual(["workflows/a/hero.json"]);
    expect(screen.queryByText("notes.txt")).toBeNull();
  });

  it("reports a missing file", async () => {
    renderRunPage({ file: "workflows/hero.json" }, { readStored: async () => missing });
    expect((await screen.findByRole("alert")).textContent).toMatch(/hero.json was not opened.*no longer exists/);
  });
});

it("keeps the connection in the address", async () => {
  window.history.replaceState(null, "", "/run?job=x&connection=studio");
  renderRunPage({ job: job.id }, { readJob: async () => ok(job) });
  await screen.findByText("hero");
  expect(window.location.search).toBe("?connection=studio");
});

it("opens an app's workflow by its name at the addressed node", async () => {
  window.history.replaceState(null, "", "/run?app=one#node-1");
  renderRunPage({ app: "one" }, { readApp: async () => ok({ title: "Negatives", graph: sampleGraph("01-invert") }) });
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
    id === "f" ? missing : asset(id, id === "e" ? { name: "e.txt", mime_type: "text/plain" } : {});

  /** The focused field shows the name that is sent. */
  function expectPlaced() {
    fireEvent.focus(field("Picture name"));
    expect(field("Picture name").value).toBe(`${"a".repeat(64)}.png`);
  }

  it("are offered matching samples and set the chosen one's input", async () => {
    renderRunPage({ assets: ["a"] }, { readAsset });
    expect(await screen.findByText(/Choose a recent workflow/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Slow on purpose/ })).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
    await screen.findAllByRole("button", { name: "Run" });
    expectPlaced();
    expect(screen.queryByRole("region", { name: "Picture to use" })).toBeNull();
  });

  it("are offered recent workflows and set the chosen one's input", async () => {
    const jobs = [
      { id: "1", workflow_id: "poster", status: "completed" },
      { id: "2", workflow_id: "poster", status: "completed" },
      { id: "3", workflow_id: "invert", status: "completed" },
    ];
    const readIds: string[] = [];
    const readJob: RunApi["readJob"] = async (id) => {
      readIds.push(id);
      const sample = id === "3" ? "01-invert" : "02-poster-from-photo";
      return ok({ id, status: "completed", workflow_name: `flow ${id}`, workflow: { prompt: sampleGraph(sample) } });
    };
    const recentJobs: RunApi["recentJobs"] = async () => ok({ jobs, pagination: { offset: 0, limit: 50, total: 3, has_more: false } });
    renderRunPage({ assets: ["a"] }, { readAsset, readJob, recentJobs });
    fireEvent.click(await screen.findByRole("button", { name: "flow 1" }));
    await screen.findAllByRole("button", { name: "Run" });
    expectPlaced();
    expect(readIds).toEqual(["1", "3"]);
  });

  it("show an outage when recent workflows cannot be read", async () => {
    renderRunPage({ assets: ["a"] }, { readAsset });
    expect((await screen.findByRole("alert")).textContent).toMatch(/Lightdesk cannot be reached/);
    expect(screen.queryByText("No recent workflow uses a picture.")).toBeNull();
  });

  it("go where chosen in a workflow with several inputs", async () => {
    renderRunPage({ assets: ["a"] }, { readAsset });
    await screen.findByText(/Choose a recent workflow/);
    await openText(sampleText("02-poster-from-photo"));
    const use = await screen.findByRole("button", { name: "Use as image of #1 Photo" });
    expect(field("Picture name").value).toBe("photo.png");
    fireEvent.click(use);
    expectPlaced();
    expect(screen.queryByText("Use as image of #1 Photo")).toBeNull();
  });

  it("lead to another workflow and back when no input accepts them", async () => {
    renderRunPage({ assets: ["a"] }, { readAsset });
    await screen.findByText(/Choose a recent workflow/);
    await openText(sampleText("01-invert"));
    fireEvent.click(await screen.findByRole("button", { name: "Choose another workflow" }));
    expect(screen.getByRole("button", { name: "Back to Pasted workflow" })).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
    await screen.findAllByRole("button", { name: "Run" });
    expectPlaced();
  });

  it("become one job each, and unusable ones are counted", async () => {
    renderRunPage({ assets: ["a", "b", "e", "f"] }, { readAsset });
    expect(await screen.findByText("2 pictures to use")).toBeTruthy();
    expect(screen.getByText(/2 more no longer exist or are not pictures/)).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
    expect(await screen.findByRole("button", { name: "2 copies: image of #1 Photo" })).toBeTruthy();
  });

  it("report when none exists", async () => {
    renderRunPage({ assets: ["f"] }, { readAsset });
    expect((await screen.findByRole("alert")).textContent).toMatch(/No pictures were added.*no longer exist/);
  });
});
