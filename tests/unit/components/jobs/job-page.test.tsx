import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { SWRConfig } from "swr";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { JobDetails, JobProgress } from "@/components/jobs/job/job-details";
import { JobError } from "@/components/jobs/job/job-error";
import { toJobFacts } from "@/components/jobs/job/job-facts";
import { JobOutputs, JobScreen, JobTitle, RunBars } from "@/components/jobs/job/job-screen";
import { useStartedJob } from "@/components/run/submit/use-started-job";
import { useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { failed } from "@/lib/shared/result";
import { renderInApp } from "../render";
import { renderScreen, stubScreenWidth } from "../render-screen";
import { closedPanel, createJobTable } from "./render-job-table";
import { createFacts } from "./sample-job";

it("shows an error when the job id can't be opened", async () => {
  const failure = failed({ code: "NOT_FOUND", message: "This id contains characters that are not allowed in a URL.", status: 404 });
  await renderScreen(<JobScreen jobId="../settings" canRun job={Promise.resolve(failure)} />);
  expect(screen.getByText("This id can't be opened.")).toBeDefined();
  expect(screen.getByRole("link", { name: "Go to Jobs" }).getAttribute("href")).toBe("/jobs");
});

describe("job page", () => {
  it.each([
    ["links an error to its node", "2", true],
    ["shows an error without a link when the graph doesn't contain the node", "99", false],
  ])("%s", (_, node_id, isLinked) => {
    const onShowNode = vi.fn();
    const execution_error = { node_id, node_type: "KSampler", exception_message: "m", exception_type: "E" };
    const facts = createFacts({ status: "failed", execution_error });
    renderInApp(facts.failure ? <JobError failure={facts.failure} facts={facts} onShowNode={onShowNode} /> : null);
    expect(screen.getByRole("region")).toBeDefined();
    for (const button of screen.queryAllByRole("button", { name: "Show in graph" })) fireEvent.click(button);
    expect(onShowNode.mock.calls).toEqual(isLinked ? [[node_id]] : []);
  });

  function getDetail(label: string, ...fields: Parameters<typeof createFacts>) {
    renderInApp(<JobDetails facts={createFacts(...fields)} />);
    const text = screen.queryByText(label)?.nextElementSibling?.textContent;
    cleanup();
    return text;
  }

  it("shows the service's status only when it differs from the state", () => {
    const getStatus = (status: string, endpointStatus?: string) => getDetail("Status", { status }, endpointStatus);
    expect(getStatus("completed", "completed")).toBeUndefined();
    expect(getStatus("failed", "non_retryable_error")).toBeUndefined();
    expect(getStatus("dreaming")).toBe("dreaming");
    const both = "Details endpoint: in_progress, Status endpoint: success";
    expect(getStatus("in_progress", "success")).toBe(`${both}The service reports two different states for this job.`);
  });

  it("shows the submission time with the date when it is long ago", () => {
    expect(getDetail("Submitted", { create_time: Date.UTC(2024, 2, 1, 9, 5) })).toContain("Mar 1, 2024");
    expect(getDetail("Submitted", { create_time: Date.now() - 3_000 })).not.toContain(",");
  });

  it("shows an upper bound when the waiting time has only whole seconds", () => {
    const submittedMs = 1_760_000_000_000;
    const getWaitingTime = (create_time: number, execution_start_time: number) =>
      getDetail("Waited", { create_time, execution_start_time });
    expect(getWaitingTime(submittedMs, submittedMs + 960)).toBe("up to 1.0 s");
    expect(getWaitingTime(submittedMs + 912, submittedMs + 960)).toBe("0.0 s");
    expect(getWaitingTime(submittedMs, submittedMs + 42_000)).toBe("42.0 s");
  });

  it("shows the node where a cancelled job stopped", () => {
    const getStoppedNode = (node_id: string | number) => {
      const messages = [["execution_interrupted", { node_id, node_type: "KSampler", executed: [] }]];
      return getDetail("Stopped in", { status: "cancelled", execution_status: { status_str: "error", messages } });
    };
    expect(["2", 2, ""].map(getStoppedNode)).toEqual(["KSampler #2", "KSampler #2", undefined]);
  });

  it("uses the workflow's name as the title, and its id only in the details", () => {
    const getTitle = (fields: object) => {
      const { container } = renderInApp(<JobTitle facts={createFacts(fields)} />);
      const title = container.textContent;
      cleanup();
      return title;
    };
    const workflow_id = "0c5c7fd0-1111-4222-8333-444444444444";
    expect(getTitle({ workflow_id, workflow_name: "product-hero-v4" })).toBe("product-hero-v4");
    expect([getTitle({ workflow_id }), getDetail("Workflow", { workflow_id })]).toEqual(["Job", "#0c5c7fd0"]);
    expect([getTitle({}), getDetail("Workflow", {})]).toEqual(["Job", undefined]);
    expect(getDetail("Workflow", { workflow_name: "poster" })).toBe("poster");
  });

  it("shows percent, node and step of a running job", () => {
    const progress = { value: 0.4, nodes_done: 1, nodes_total: 3, current_node: "1", step: 5, steps: 20 };
    renderInApp(<JobProgress facts={createFacts({ status: "in_progress", progress })} />);
    for (const text of ["40%", "1 of 3 nodes done", "running The photo, step 5 of 20"]) expect(screen.getByText(text)).toBeDefined();
  });

  it("links the last runs from oldest to newest with their results", async () => {
    const runs = [
      { id: "newest-1", state: "failed", runMs: 500 },
      { id: "middle-1", state: "pending" },
      { id: "job-1", state: "completed", runMs: 12_300 },
    ] as const;
    await renderScreen(<RunBars runs={runs} jobId="job-1" />, { search: "connection=c1" });
    const links = screen.getAllByRole("link");
    expect(links.map((link) => link.getAttribute("aria-label"))).toEqual([
      "Run job-1: Completed, ran 12.3 s",
      "Run middle-1: Pending",
      "Run newest-1: Failed, ran 0.5 s",
    ]);
    expect(links[0]?.getAttribute("aria-current")).toBe("page");
    expect(links[2]?.getAttribute("href")).toBe("/jobs/newest-1?connection=c1");
    expect(screen.getByText("1 completed, 1 failed, 1 pending")).toBeDefined();
  });

  it.each([
    ["cancelled", "1 completed, 1 cancelled"],
    ["completed", "All 2 runs completed"],
  ] as const)("counts a completed and a %s run", (state, text) => {
    const runs = [{ id: "a", state } as const, { id: "b", state: "completed" } as const];
    renderInApp(<RunBars runs={runs} jobId="a" />);
    expect(screen.getByText(text)).toBeDefined();
  });

  it("shows outputs of every kind", () => {
    const file = (filename: string) => ({ filename, subfolder: "", type: "output" });
    const outputs = {
      9: { images: [file("a.png"), file("film.mp4"), null] },
      14: { audio: [file("tone.flac")], "3d": [file("thing.glb")], text: ["a cat"], files: [file("notes.txt")], odd: [{ x: 1 }] },
    };
    const { container } = renderInApp(<JobOutputs facts={createFacts({ outputs })} connection="c1" />);
    expect(screen.getByRole("img", { name: "Open a.png" })).toBeDefined();
    expect(container.querySelector("video")?.getAttribute("src")).toContain("filename=film.mp4");
    expect(container.querySelector("audio")?.getAttribute("src")).toContain("filename=tone.flac");
    expect(screen.getByRole("link", { name: "Download thing.glb" }).getAttribute("download")).toBe("thing.glb");
    expect(screen.getByText("a cat")).toBeDefined();
    expect(screen.getByRole("button", { name: "Read notes.txt" })).toBeDefined();
    expect(screen.getByText(/"x": 1/)).toBeDefined();
  });
});

it("keeps its own data when Run has loaded the same job", async () => {
  const job = { id: "a", status: "completed", create_time: 1_767_225_600_000, outputs: {} };
  const pagination = { offset: 0, limit: 20, total: 1, has_more: false };
  vi.stubGlobal("fetch", async (path: string) => Response.json(path.startsWith("/api/jobs/a") ? job : { jobs: [job], pagination }));
  const cache = new Map();
  const createTree = (isOpen: boolean) => (
    <SWRConfig value={{ provider: () => cache }}>
      <StartedJobView />
      {isOpen && <JobPageView />}
    </SWRConfig>
  );
  const { rerender } = render(createTree(false));
  expect(await screen.findByText("has ended")).toBeTruthy();
  rerender(createTree(true));
  expect(await screen.findByText(/details/)).toBeTruthy();
});

const startedJob = { jobId: "a", name: "", atMs: 0, nodesRefused: 0 };
function StartedJobView() {
  const { job } = useStartedJob(startedJob, "c");
  return <p aria-label="on Run">{job?.outputs ? "has ended" : "runs"}</p>;
}
function JobPageView() {
  const { value } = useLive(withQuery("/api/jobs/a", { connection: "c" }), { read: toJobFacts });
  return <p aria-label="on its page">{value === undefined ? "is read" : Object.keys(value.rawStates ?? {}).join(" ")}</p>;
}

describe("rows whose id can't be opened", () => {
  const onOpen = vi.fn(() => true);
  beforeEach(() => stubScreenWidth(true));
  const show = (id: string) =>
    renderInApp(
      createJobTable([{ id, rawStatus: "failed", state: "failed", outputs: 0, error: "It broke" }], {
        openPanel: { ...closedPanel, open: onOpen },
      }),
    );

  it.each(["../../settings", "a/b", "a%2Fb", "a?b", "..", "\ud800"])("shows a reason instead of a link for %j", (id) => {
    show(id);
    const name = screen.getByTitle("This id can't be opened.");
    expect([name.textContent, name.getAttribute("aria-disabled")]).toEqual([id.slice(0, 8), "true"]);
    expect(document.querySelectorAll("tbody a[href]")).toHaveLength(0);
    fireEvent.click(screen.getByTitle("It broke"));
    expect(onOpen).not.toHaveBeenCalled();
  });

  it("opens the row when the id has spaces and non-ASCII letters", () => {
    show("Büro 1 (2)");
    fireEvent.click(screen.getByText("Büro 1 ("));
    expect(onOpen).toHaveBeenCalledWith("Büro 1 (2)");
  });
});
