import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { Suspense } from "react";
import { SWRConfig } from "swr";
import { beforeEach, describe, expect, it, test, vi } from "vitest";
import { createSelection } from "@/components/data-table/selection";
import { createListState } from "@/components/frame/list/list-state";
import { DEFAULT_CHOICE } from "@/components/jobs/columns/columns";
import { JobDetails, JobProgress } from "@/components/jobs/job/job-details";
import { JobError } from "@/components/jobs/job/job-error";
import { type JobFacts, toJobFacts } from "@/components/jobs/job/job-facts";
import { JobOutputs, JobScreen, JobTitle, RunBars } from "@/components/jobs/job/job-screen";
import { JobListTable } from "@/components/jobs/list/job-list-table";
import { parseListQuery } from "@/components/jobs/list/list-urls";
import { createJobListAddress } from "@/components/jobs/list/use-job-list";
import { useStartedJob } from "@/components/run/submit/use-started-job";
import { useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { failed } from "@/lib/shared/result";
import { PageProvider } from "@/tests/support/page-provider";
import { renderInApp } from "../render";
import { createFacts } from "./sample-job";

it("shows an error when the job id can't be opened", async () => {
  const failure = failed({ code: "NOT_FOUND", message: "This id contains characters that are not allowed in a URL.", status: 404 });
  await act(async () =>
    renderInApp(
      <Suspense>
        <JobScreen jobId="../settings" canRun job={Promise.resolve(failure)} />
      </Suspense>,
    ),
  );
  expect(screen.getByText("This id can't be opened.")).toBeDefined();
  expect(screen.getByRole("link", { name: "Go to Jobs" }).getAttribute("href")).toBe("/jobs");
});

describe("job page", () => {
  it("links an error to its node when the graph contains the node", () => {
    const onShowNode = vi.fn();
    const createFailedFacts = (node_id: string) =>
      createFacts({ status: "failed", execution_error: { node_id, node_type: "KSampler", exception_message: "m", exception_type: "E" } });
    const show = (facts: JobFacts) =>
      renderInApp(facts.failure ? <JobError failure={facts.failure} facts={facts} onShowNode={onShowNode} /> : null);
    show(createFailedFacts("2"));
    fireEvent.click(screen.getByRole("button", { name: "Show in graph" }));
    expect(onShowNode).toHaveBeenCalledWith("2");
    cleanup();
    show(createFailedFacts("99"));
    expect(screen.queryByRole("button", { name: "Show in graph" })).toBeNull();
  });

  it("shows the service's status only when it differs from the state", () => {
    const renderStatus = (jobStatus: string, endpointStatus?: string) => {
      renderInApp(<JobDetails facts={createFacts({ status: jobStatus }, endpointStatus)} />);
      const value = screen.queryByText("Status")?.nextElementSibling?.textContent;
      cleanup();
      return value;
    };
    expect(renderStatus("completed", "completed")).toBeUndefined();
    expect(renderStatus("failed", "non_retryable_error")).toBeUndefined();
    expect(renderStatus("failed")).toBeUndefined();
    expect(renderStatus("dreaming")).toBe("dreaming");
    const both = "Details endpoint: in_progress, Status endpoint: success";
    expect(renderStatus("in_progress", "success")).toBe(`${both}The service reports two different states for this job.`);
  });

  it("shows the workflow's name, or its id when it has no name", () => {
    const renderDetails = (extra: object) => {
      renderInApp(<JobDetails facts={createFacts(extra)} />);
      const value = screen.queryByText("Workflow")?.nextElementSibling?.textContent;
      cleanup();
      return value;
    };
    expect(renderDetails({ workflow_id: "0c5c7fd0-1111-4222-8333-444444444444" })).toBe("#0c5c7fd0");
    expect(renderDetails({ workflow_name: "poster" })).toBe("poster");
    expect(renderDetails({})).toBeUndefined();
  });

  it("shows the submission time with the date when it is long ago", () => {
    const renderSubmitted = (createdMs: number) => {
      renderInApp(<JobDetails facts={createFacts({ create_time: createdMs })} />);
      const value = screen.getByText("Submitted").nextElementSibling?.textContent;
      cleanup();
      return value;
    };
    expect(renderSubmitted(Date.UTC(2024, 2, 1, 9, 5))).toContain("Mar 1, 2024");
    expect(renderSubmitted(Date.now() - 3_000)).not.toContain(",");
  });

  it("shows an upper bound when the waiting time has only whole seconds", () => {
    const renderWaitingTime = (create_time: number, execution_start_time: number) => {
      renderInApp(<JobDetails facts={createFacts({ status: "completed", create_time, execution_start_time })} />);
      const value = screen.getByText("Waited").nextElementSibling?.textContent;
      cleanup();
      return value;
    };
    const submittedMs = 1_760_000_000_000;
    expect(renderWaitingTime(submittedMs, submittedMs + 960)).toBe("up to 1.0 s");
    expect(renderWaitingTime(submittedMs + 912, submittedMs + 960)).toBe("0.0 s");
    expect(renderWaitingTime(submittedMs, submittedMs + 42_000)).toBe("42.0 s");
  });

  it("shows percent, node and step of a running job", () => {
    const progress = { value: 0.4, nodes_done: 1, nodes_total: 3, current_node: "1", step: 5, steps: 20 };
    renderInApp(<JobProgress facts={createFacts({ status: "in_progress", progress })} />);
    for (const text of ["40%", "1 of 3 nodes done", "now The photo, step 5 of 20"]) expect(screen.getByText(text)).toBeDefined();
  });

  it.each([
    ["2", "KSampler #2"],
    [2, "KSampler #2"],
    ["", undefined],
  ])("shows the node where a cancelled job stopped (%j)", (node_id, text) => {
    const messages = [["execution_interrupted", { node_id, node_type: "KSampler", executed: [] }]];
    renderInApp(<JobDetails facts={createFacts({ status: "cancelled", execution_status: { status_str: "error", messages } })} />);
    expect(screen.queryByText("Stopped in")?.nextElementSibling?.textContent).toBe(text);
  });

  it("uses the workflow's name as the title, never its id", () => {
    const renderTitle = (extra: object) => {
      const { container } = renderInApp(<JobTitle facts={createFacts(extra)} />);
      const pageText = container.textContent;
      cleanup();
      return pageText;
    };
    expect(renderTitle({ workflow_id: "0c5c7fd0-1111-4222-8333-444444444444", workflow_name: "product-hero-v4" })).toBe("product-hero-v4");
    expect(renderTitle({ workflow_id: "0c5c7fd0-1111-4222-8333-444444444444" })).toBe("Job");
    expect(renderTitle({})).toBe("Job");
  });

  it("links the last runs from oldest to newest with their results", () => {
    const runs = [
      { id: "newest-1", state: "failed", runMs: 500 },
      { id: "middle-1", state: "pending" },
      { id: "job-1", state: "completed", runMs: 12_300 },
    ] as const;
    renderInApp(
      <PageProvider search={new URLSearchParams("connection=c1")}>
        <RunBars runs={runs} jobId="job-1" />
      </PageProvider>,
    );
    const links = screen.getAllByRole("link");
    expect(links.map((link) => link.getAttribute("aria-label"))).toEqual([
      "Run job-1: Completed, ran 12.3 s",
      "Run middle-1: Pending",
      "Run newest-1: Failed, ran 0.5 s",
    ]);
    expect(links[0]?.getAttribute("aria-current")).toBe("page");
    expect(links[2]?.getAttribute("href")).toBe("/jobs/newest-1?connection=c1");
    expect(screen.getByText("1 completed, 1 failed, 1 pending")).toBeDefined();
    cleanup();
    const createEndedRun = (state: "completed" | "cancelled", id: string) => ({ id, state });
    renderInApp(<RunBars runs={[createEndedRun("cancelled", "a"), createEndedRun("completed", "b")]} jobId="a" />);
    expect(screen.getByText("1 completed, 1 cancelled")).toBeDefined();
    cleanup();
    renderInApp(<RunBars runs={[createEndedRun("completed", "a"), createEndedRun("completed", "b")]} jobId="a" />);
    expect(screen.getByText("All 2 runs completed")).toBeDefined();
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

const job = { id: "a", status: "completed", create_time: 1_767_225_600_000, outputs: {} };

const result = { jobId: "a", name: "", atMs: 0, nodesRefused: 0 };

function StartedJobView() {
  const { job } = useStartedJob(result, "c");
  return <p aria-label="on Run">{job?.outputs ? "has ended" : "runs"}</p>;
}

function JobPageView() {
  const { value } = useLive(withQuery("/api/jobs/a", { connection: "c" }), { read: toJobFacts });
  return <p aria-label="on its page">{value === undefined ? "is read" : Object.keys(value.rawStates ?? {}).join(" ")}</p>;
}

test("keeps its own data when Run has loaded the same job", async () => {
  vi.stubGlobal("fetch", (path: string) => {
    const pagination = { offset: 0, limit: 20, total: 1, has_more: false };
    return Promise.resolve(Response.json(path.startsWith("/api/jobs/a") ? job : { jobs: [job], pagination }));
  });
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

describe("rows whose id can't be opened", () => {
  const onOpen = vi.fn(() => true);

  beforeEach(() => {
    onOpen.mockClear();
    vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  });

  function show(id: string): void {
    const noPanel = {
      subscribe: () => () => undefined,
      get: () => undefined,
      has: () => false,
      close: () => undefined,
      syncWithUrl: () => undefined,
    };
    renderInApp(
      <JobListTable
        caption="Jobs"
        rows={[{ id, rawStatus: "failed", state: "failed", outputs: 0, error: "It broke" }]}
        state={createListState(parseListQuery("jobs", new URLSearchParams()).query, createJobListAddress("jobs", {}))}
        connection="c1"
        selection={createSelection()}
        choice={DEFAULT_CHOICE}
        openPanel={{ ...noPanel, open: onOpen }}
      />,
    );
  }

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
