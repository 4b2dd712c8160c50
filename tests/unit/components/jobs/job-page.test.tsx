// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { Suspense } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { JobDetails, JobProgress } from "@/components/jobs/job/job-details";
import { JobError } from "@/components/jobs/job/job-error";
import { type JobFacts } from "@/components/jobs/job/job-facts";
import { RunBars } from "@/components/jobs/job/job-runs";
import { JobOutputs, JobScreen, JobTitle } from "@/components/jobs/job/job-screen";
import { failed } from "@/lib/shared/result";
import { renderInApp } from "../render";
import { factsOf } from "./a-job";

afterEach(cleanup);

it("shows the refusal in place of a job whose id can't be opened", async () => {
  const refused = failed({ code: "NOT_FOUND", message: "This id has characters that no address may have.", status: 404 });
  await act(async () =>
    renderInApp(
      <Suspense>
        <JobScreen jobId="../settings" canRun job={Promise.resolve(refused)} />
      </Suspense>,
    ),
  );
  expect(screen.getByText("This id can't be opened.")).toBeDefined();
  expect(screen.getByRole("link", { name: "Go to Jobs" }).getAttribute("href")).toBe("/jobs");
});

describe("what a job's page tells", () => {
  it("an error leads to its node in the graph, and only where the graph has it", () => {
    const onShowNode = vi.fn();
    const failing = (node_id: string) =>
      factsOf({ status: "failed", execution_error: { node_id, node_type: "KSampler", exception_message: "m", exception_type: "E" } });
    const show = (facts: JobFacts) =>
      renderInApp(facts.failure ? <JobError failure={facts.failure} facts={facts} onShowNode={onShowNode} /> : null);
    show(failing("2"));
    fireEvent.click(screen.getByRole("button", { name: "Show in graph" }));
    expect(onShowNode).toHaveBeenCalledWith("2");
    cleanup();
    show(failing("99"));
    expect(screen.queryByRole("button", { name: "Show in graph" })).toBeNull();
  });

  it("the service's own words only where they say something else than the state: unknown ones, and two that contradict each other", () => {
    const status = (word: string, statusWord?: string) => {
      renderInApp(<JobDetails facts={factsOf({ status: word }, statusWord)} />);
      const found = screen.queryByText("Status")?.nextElementSibling?.textContent;
      cleanup();
      return found;
    };
    expect(status("completed", "completed")).toBeUndefined();
    expect(status("failed", "non_retryable_error")).toBeUndefined();
    expect(status("failed")).toBeUndefined();
    expect(status("dreaming")).toBe("dreaming");
    const both = "Details: in_progress, Status endpoint: success";
    expect(status("in_progress", "success")).toBe(`${both}The service reports two different states for this job.`);
  });

  it("its workflow by name or id, and none where the service knows of none", () => {
    const shown = (extra: object) => {
      renderInApp(<JobDetails facts={factsOf(extra)} />);
      const found = screen.queryByText("Workflow")?.nextElementSibling?.textContent;
      cleanup();
      return found;
    };
    expect(shown({ workflow_id: "0c5c7fd0-1111-4222-8333-444444444444" })).toBe("#0c5c7fd0");
    expect(shown({ workflow_name: "poster" })).toBe("poster");
    expect(shown({})).toBeUndefined();
  });

  it("when it was submitted: the day too, where that is long ago", () => {
    const submitted = (createdMs: number) => {
      renderInApp(<JobDetails facts={factsOf({ create_time: createdMs })} />);
      const found = screen.getByText("Submitted").nextElementSibling?.textContent;
      cleanup();
      return found;
    };
    expect(submitted(Date.UTC(2024, 2, 1, 9, 5))).toContain("Mar 1, 2024");
    expect(submitted(Date.now() - 3_000)).not.toContain(",");
  });

  it("how long it waited: a short wait since a whole second only as what it was not longer than", () => {
    const waited = (create_time: number, execution_start_time: number) => {
      renderInApp(<JobDetails facts={factsOf({ status: "completed", create_time, execution_start_time })} />);
      const found = screen.getByText("Waited").nextElementSibling?.textContent;
      cleanup();
      return found;
    };
    const second = 1_760_000_000_000;
    expect(waited(second, second + 960)).toBe("up to 1.0 s");
    expect(waited(second + 912, second + 960)).toBe("0.0 s");
    expect(waited(second, second + 42_000)).toBe("42.0 s");
  });

  it("shows percent, node and step of a running job", () => {
    const progress = { value: 0.4, nodes_done: 1, nodes_total: 3, current_node: "1", step: 5, steps: 20 };
    renderInApp(<JobProgress facts={factsOf({ status: "in_progress", progress })} />);
    for (const text of ["40%", "1 of 3 nodes done", "now The photo, step 5 of 20"]) expect(screen.getByText(text)).toBeDefined();
  });

  it.each([
    ["2", "KSampler #2"],
    [2, "KSampler #2"],
    ["", undefined],
  ])("shows the node in which a cancelled job was stopped (%j)", (node_id, text) => {
    const messages = [["execution_interrupted", { node_id, node_type: "KSampler", executed: [] }]];
    renderInApp(<JobDetails facts={factsOf({ status: "cancelled", execution_status: { status_str: "error", messages } })} />);
    expect(screen.queryByText("Stopped in")?.nextElementSibling?.textContent).toBe(text);
  });

  it("its title is the workflow's name, and never a bare id", () => {
    const titled = (extra: object) => {
      const { container } = renderInApp(<JobTitle facts={factsOf(extra)} />);
      const found = container.textContent;
      cleanup();
      return found;
    };
    expect(titled({ workflow_id: "0c5c7fd0-1111-4222-8333-444444444444", workflow_name: "product-hero-v4" })).toBe("product-hero-v4");
    expect(titled({ workflow_id: "0c5c7fd0-1111-4222-8333-444444444444" })).toBe("Job");
    expect(titled({})).toBe("Job");
  });

  it("the last runs, oldest first, each a link that says what became of it", () => {
    const runs = [
      { id: "newest-1", state: "failed", runMs: 500 },
      { id: "middle-1", state: "pending" },
      { id: "job-1", state: "completed", runMs: 12_300 },
    ] as const;
    renderInApp(<RunBars runs={runs} jobId="job-1" linked="c1" />);
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
    const ended = (state: "completed" | "cancelled", id: string) => ({ id, state });
    renderInApp(<RunBars runs={[ended("cancelled", "a"), ended("completed", "b")]} jobId="a" />);
    expect(screen.getByText("1 completed, 1 cancelled")).toBeDefined();
    cleanup();
    renderInApp(<RunBars runs={[ended("completed", "a"), ended("completed", "b")]} jobId="a" />);
    expect(screen.getByText("All 2 runs completed")).toBeDefined();
  });

  it("outputs of every kind as what they are", () => {
    const file = (filename: string) => ({ filename, subfolder: "", type: "output" });
    const outputs = {
      9: { images: [file("a.png"), file("film.mp4"), null] },
      14: { audio: [file("tone.flac")], "3d": [file("thing.glb")], text: ["a cat"], files: [file("notes.txt")], odd: [{ x: 1 }] },
    };
    const { container } = renderInApp(<JobOutputs facts={factsOf({ outputs })} connection="c1" />);
    expect(screen.getByRole("img", { name: "Open a.png" })).toBeDefined();
    expect(container.querySelector("video")?.getAttribute("src")).toContain("filename=film.mp4");
    expect(container.querySelector("audio")?.getAttribute("src")).toContain("filename=tone.flac");
    expect(screen.getByRole("link", { name: "Download thing.glb" }).getAttribute("download")).toBe("thing.glb");
    expect(screen.getByText("a cat")).toBeDefined();
    expect(screen.getByRole("button", { name: "Read notes.txt" })).toBeDefined();
    expect(screen.getByText(/"x": 1/)).toBeDefined();
  });
});
