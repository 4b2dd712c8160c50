// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunApi } from "@/components/run/run-actions";
import { RunScreen } from "@/components/run/run-screen";
import { createRunStore } from "@/components/run/run-store";
import { type Arrival } from "@/components/run/workflow/arrivals";
import { assetSchema } from "@/lib/contract/schemas/asset";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { failed, ok } from "@/lib/shared/result";
import { sampleGraph, sampleText } from "./files";
import { apiTo, field, openText, show, stored } from "./page";
import { renderPage } from "./render";

const job: JobDetail = {
  id: "9f2c41ab-0000-4000-8000-000000000000",
  status: "completed",
  workflow_name: "hero",
  workflow: { prompt: sampleGraph("01-invert") },
};

beforeEach(() => window.history.replaceState(null, "", "/run?job=x"));
afterEach(() => {
  cleanup();
  sessionStorage.clear();
});

function arrive(arrival: Arrival, ports: Partial<RunApi>) {
  return renderPage(<RunScreen canRun memberId="ada" arrival={arrival} store={createRunStore()} api={apiTo(undefined, ports)} />);
}
const missing = failed({ code: "NOT_FOUND", message: "", status: 404 });

describe("a past job", () => {
  it("opens with what it was started with, under its name, and the address no longer names it", async () => {
    arrive({ job: job.id }, { readJob: async () => ok(job) });
    expect(await screen.findByText("hero")).toBeTruthy();
    expect(field("width").value).toBe("512");
    expect(window.location.search).toBe("");
  });

  it("that failed marks the node with its error, and its rerun names it", async () => {
    const sent: unknown[] = [];
    const execution_error = {
      node_id: "2",
      node_type: "ImageInvert",
      exception_type: "E",
      exception_message: "out of memory\n",
      traceback: [],
    };
    arrive(
      { job: job.id },
      {
        readJob: async () => ok({ ...job, status: "failed", execution_error }),
        sendPrompt: async (_submission, _key, notes) => {
          sent.push(notes);
          return ok({ prompt_id: "again-1", node_errors: {} });
        },
      },
    );
    const told = await screen.findByText("Failed here in job 9f2c41ab: out of memory");
    expect(told.closest("[data-problem]")?.textContent).toContain("#2");
    fireEvent.click(screen.getAllByRole("button", { name: "Run" })[0] ?? document.body);
    await waitFor(() => expect(sent).toEqual([{ rerunOf: job.id }]));
    await waitFor(() => expect(screen.queryByText(/Failed here/)).toBeNull());
  });

  it.each([
    ["that is gone", missing, /no longer exists, or you have no access to it/],
    ["that holds no workflow any more", ok({ ...job, workflow: undefined }), /no longer has this job's workflow/],
    ["that a service cannot tell of", failed({ code: "UPSTREAM_TIMEOUT", message: "", status: 504 }), /./],
  ])("%s says so, and the page can be used", async (_, answer, sentence) => {
    arrive({ job: job.id }, { readJob: async () => answer });
    expect((await screen.findByRole("alert")).textContent).toMatch(sentence);
    expect(screen.getByText("Drop a workflow file here")).toBeTruthy();
  });

  it("leaves what was open before one press away", async () => {
    const before = show(apiTo(undefined));
    await openText(sampleText("05-slow"));
    window.dispatchEvent(new Event("pagehide"));
    before.unmount();
    arrive({ job: job.id }, { readJob: async () => ok(job) });
    fireEvent.click(await screen.findByRole("button", { name: "Back to Pasted workflow" }));
    expect(await screen.findAllByText("Slow step")).toBeTruthy();
  });
});

describe("a stored file", () => {
  it("opens by address", async () => {
    arrive({ file: "workflows/hero.json" }, { readStored: async () => ok(stored(sampleText("01-invert"))) });
    expect(await screen.findByText("hero")).toBeTruthy();
  });

  it("is found in the list of what the service holds, and opens by a press", async () => {
    const asked: string[] = [];
    const readStored = async (path: string) => {
      asked.push(path);
      return ok(stored(sampleText("01-invert")));
    };
    const files = ["workflows/a/hero.json", "workflows/notes.txt"].map((path) => ({ path, size: 1, modified: undefined }));
    show(apiTo(undefined, { readStored, listStored: async () => ok(files) }));
    fireEvent.click(screen.getByRole("button", { name: "Show saved files" }));
    fireEvent.click(await screen.findByRole("button", { name: "a/hero.json" }));
    expect(await screen.findAllByRole("button", { name: "Run" })).toBeTruthy();
    expect(asked).toEqual(["workflows/a/hero.json"]);
    expect(screen.queryByText("notes.txt")).toBeNull();
  });

  it("that is gone says so", async () => {
    arrive({ file: "workflows/hero.json" }, { readStored: async () => missing });
    expect((await screen.findByRole("alert")).textContent).toMatch(/hero.json was not opened.*no longer exists/);
  });
});

it("an address that names a connection goes on naming it", async () => {
  window.history.replaceState(null, "", "/run?job=x&connection=studio");
  arrive({ job: job.id }, { readJob: async () => ok(job) });
  await screen.findByText("hero");
  expect(window.location.search).toBe("?connection=studio");
});

it("the workflow of an app is opened by the app's name, at the node that the address names", async () => {
  window.history.replaceState(null, "", "/run?app=one#node-1");
  arrive({ app: "one" }, { readApp: async () => ok({ title: "Negatives", graph: sampleGraph("01-invert") }) });
  expect(await screen.findByText("Negatives")).toBeTruthy();
  expect(window.location.search).toBe("");
  expect(document.activeElement?.id).toBe("node-1");
  await waitFor(() => expect(window.location.hash).toBe(""));
});

describe("pictures to be used", () => {
  const content = (digit: string) => `blake3:${digit.repeat(64)}`;
  const asset = (id: string, more: object = {}) =>
    ok(assetSchema.parse({ id, name: `${id}.png`, mime_type: "image/png", asset_hash: content(id), tags: ["output"], ...more }));
  const readAsset: RunApi["readAsset"] = async (id) =>
    id === "f" ? missing : asset(id, id === "e" ? { name: "e.txt", mime_type: "text/plain" } : {});

  /** The focused field shows the name that is sent. */
  function placed() {
    fireEvent.focus(field("Picture name"));
    expect(field("Picture name").value).toBe(`${"a".repeat(64)}.png`);
  }

  it("are offered samples that take one, and go into the one that is chosen", async () => {
    arrive({ assets: ["a"] }, { readAsset });
    expect(await screen.findByText(/Choose a workflow for it/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Slow on purpose/ })).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
    await screen.findAllByRole("button", { name: "Run" });
    placed();
    expect(screen.queryByRole("region", { name: "Picture to use" })).toBeNull();
  });

  it("are offered the workflows run lately that take one, and go into the one that is chosen", async () => {
    const jobs = [
      { id: "1", workflow_id: "poster", status: "completed" },
      { id: "2", workflow_id: "poster", status: "completed" },
      { id: "3", workflow_id: "invert", status: "completed" },
    ];
    const read: string[] = [];
    const readJob: RunApi["readJob"] = async (id) => {
      read.push(id);
      const sample = id === "3" ? "01-invert" : "02-poster-from-photo";
      return ok({ id, status: "completed", workflow_name: `flow ${id}`, workflow: { prompt: sampleGraph(sample) } });
    };
    const recentJobs: RunApi["recentJobs"] = async () => ok({ jobs, pagination: { offset: 0, limit: 50, total: 3, has_more: false } });
    arrive({ assets: ["a"] }, { readAsset, readJob, recentJobs });
    fireEvent.click(await screen.findByRole("button", { name: "flow 1" }));
    await screen.findAllByRole("button", { name: "Run" });
    placed();
    expect(read).toEqual(["1", "3"]);
  });

  it("show an outage where the workflows run lately are not known", async () => {
    arrive({ assets: ["a"] }, { readAsset });
    expect((await screen.findByRole("alert")).textContent).toMatch(/Lightdesk cannot be reached/);
    expect(screen.queryByText("No recent workflow uses a picture.")).toBeNull();
  });

  it("go where somebody says in a workflow that was opened by other ways, or with more than one place", async () => {
    arrive({ assets: ["a"] }, { readAsset });
    await screen.findByText(/Choose a workflow for it/);
    await openText(sampleText("02-poster-from-photo"));
    const use = await screen.findByRole("button", { name: "Use as image of #1 Photo" });
    expect(field("Picture name").value).toBe("photo.png");
    fireEvent.click(use);
    placed();
    expect(screen.queryByText("Use as image of #1 Photo")).toBeNull();
  });

  it("lead from a workflow that takes none to the choice of another one, and back to it", async () => {
    arrive({ assets: ["a"] }, { readAsset });
    await screen.findByText(/Choose a workflow for it/);
    await openText(sampleText("01-invert"));
    fireEvent.click(await screen.findByRole("button", { name: "Choose another workflow" }));
    expect(screen.getByRole("button", { name: "Back to Pasted workflow" })).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
    await screen.findAllByRole("button", { name: "Run" });
    placed();
  });

  it("that are several become a job each, and those that are gone or no pictures are counted", async () => {
    arrive({ assets: ["a", "b", "e", "f"] }, { readAsset });
    expect(await screen.findByText("2 pictures to use")).toBeTruthy();
    expect(screen.getByText(/2 more no longer exist or are not pictures/)).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: /^Poster from a photo/ }));
    expect(await screen.findByRole("button", { name: "2 copies: image of #1 Photo" })).toBeTruthy();
  });

  it("of which none is there say so", async () => {
    arrive({ assets: ["f"] }, { readAsset });
    expect((await screen.findByRole("alert")).textContent).toMatch(/No pictures were added.*no longer exist/);
  });
});
