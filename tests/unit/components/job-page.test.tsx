// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { WorkflowGraph } from "@/components/graph/workflow-graph";
import { JobActAnswer, JobActions } from "@/components/jobs/job-actions";
import { toResubmission } from "@/components/jobs/job-again";
import { JobDetails } from "@/components/jobs/job-details";
import { JobError } from "@/components/jobs/job-error";
import { type JobFacts, toJobFacts } from "@/components/jobs/job-facts";
import { marksOf } from "@/components/jobs/job-marks";
import { JobOutputs } from "@/components/jobs/job-outputs-card";
import { RunBars } from "@/components/jobs/job-runs";
import { useJobActs } from "@/components/jobs/use-job-acts";
import { HELD_MS } from "@/components/ui/use-held";
import { jobDetailSchema, jobStatusSchema } from "@/lib/contract/schemas/job";
import { renderInApp } from "./render";

afterEach(cleanup);
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const graph = {
  "1": { class_type: "LoadImage", inputs: { image: "a.png" }, _meta: { title: "The photo" } },
  "2": { class_type: "KSampler", inputs: { image: ["1", 0], seed: 5, noise_seed: 6, steps: 20 } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], lost: ["77", 0] } },
};
const factsOf = (extra: object = {}, status?: string): JobFacts =>
  toJobFacts(
    jobDetailSchema.parse({ id: "job-1", status: "completed", create_time: 1_700_000_000, workflow: { prompt: graph }, ...extra }),
    status === undefined ? undefined : jobStatusSchema.parse({ id: "job-1", status }),
  );

describe("running a job again", () => {
  it("gives every seed that is a number a new one, and nothing else", () => {
    let seed = 100;
    const again = toResubmission({ prompt: graph, extra_data: { a: 1 } }, () => seed++);
    expect(again).toMatchObject({
      kind: "ready",
      submission: {
        prompt: { ...graph, "2": { inputs: { image: ["1", 0], seed: 100, noise_seed: 101, steps: 20 } } },
        extra_data: { a: 1 },
      },
    });
    const linked = { "1": { class_type: "N", inputs: { seed: ["2", 0] } }, "2": { class_type: "N", inputs: {} } };
    expect(toResubmission({ prompt: linked }, () => 9)).toMatchObject({ submission: { prompt: linked } });
  });

  it("never sends a masked value: inputs are named instead, and what only goes along is left out", () => {
    const masked = { ...graph, "4": { class_type: "Call", inputs: { api_key: "[REDACTED]", url: "https://x/?token=[REDACTED]" } } };
    expect(toResubmission({ prompt: masked })).toEqual({
      kind: "masked",
      inputs: [
        { nodeId: "4", node: "Call", input: "api_key" },
        { nodeId: "4", node: "Call", input: "url" },
      ],
    });
    const extra_data = {
      api_key_comfy_org: "[REDACTED]",
      extra_pnginfo: { workflow: { id: "w", list: ["[REDACTED]", 2], token: "[REDACTED]" } },
    };
    const again = toResubmission({ prompt: graph, extra_data });
    expect(again).toMatchObject({ submission: { extra_data: { extra_pnginfo: { workflow: { id: "w", list: ["", 2] } } } } });
    expect(JSON.stringify(again)).not.toContain("REDACTED");
  });

  it("says so where there is no graph", () => {
    expect(toResubmission(undefined)).toEqual({ kind: "no-graph" });
    expect(toResubmission({ nodes: [], links: [] })).toEqual({ kind: "no-graph" });
  });
});

describe("what a job's page offers", () => {
  function Acts({ facts }: { facts: JobFacts }) {
    const acts = useJobActs({ jobId: "job-1", connection: "c1", onDone: () => undefined });
    return (
      <>
        <JobActions facts={facts} linked={undefined} acts={acts} />
        <JobActAnswer facts={facts} linked={undefined} acts={acts} />
      </>
    );
  }
  const names = () => [...screen.queryAllByRole("button"), ...screen.queryAllByRole("link")].map((element) => element.textContent);
  /** Fetch is the hostile outside here: it notes what leaves and answers as told. */
  function answering(answers: Record<string, unknown>) {
    const sent: { path: string; json: unknown }[] = [];
    vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
      if (init.method === "POST") sent.push({ path, json: JSON.parse(String(init.body)) });
      const answer = Object.entries(answers).find(([start]) => path.startsWith(start))?.[1];
      return answer instanceof Response ? answer : Response.json(answer);
    });
    return sent;
  }
  const press = async (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));
  beforeEach(() => {
    // jsdom draws no modal dialogs.
    HTMLDialogElement.prototype.showModal = function () {
      this.open = true;
    };
  });

  it("is what its state allows", () => {
    const offered = (extra: object) => {
      renderInApp(<Acts facts={factsOf(extra)} />);
      const found = names();
      cleanup();
      return found;
    };
    expect(offered({ status: "pending" })).toEqual(["Cancel job", "New seeds", "Run again", "Edit & run"]);
    expect(offered({ status: "executing" })).toEqual(["Stop job", "New seeds", "Run again", "Edit & run"]);
    expect(offered({ status: "completed" })).toEqual(["New seeds", "Run again", "Edit & run"]);
    expect(offered({ status: "failed", workflow: { prompt: { "1": graph["1"] } } })).toEqual(["Run again", "Edit & run"]);
    expect(offered({ status: "completed", workflow: undefined })).toEqual([]);
  });

  it("holds a cancel for five seconds, in which Undo takes it back", async () => {
    vi.useFakeTimers();
    const sent = answering({ "/api/queue": { deleted: ["job-1"] } });
    renderInApp(<Acts facts={factsOf({ status: "pending" })} />);
    await press("Cancel job");
    await press("Undo");
    await act(() => vi.advanceTimersByTimeAsync(HELD_MS * 2));
    expect(sent).toEqual([]);
    await press("Cancel job");
    await act(() => vi.advanceTimersByTimeAsync(HELD_MS + 1));
    expect(sent).toMatchObject([{ json: { delete: ["job-1"] } }]);
    expect(screen.getByText("1 cancelled")).toBeDefined();
  });

  it("tells of a stop what the service really did", async () => {
    vi.useFakeTimers();
    const none = { stopped: [], stopping: [], over: [], unable: [], together: 0 };
    const told = [
      [{ stopped: ["job-1"] }, "Stopped"],
      [{ stopping: ["job-1"] }, "Asked to stop"],
      [{ over: ["job-1"] }, "Not stopped: it had already ended"],
      [{ unable: ["job-1"] }, "It still runs: this service cannot stop it"],
      [{ unable: ["job-1"], together: 3 }, "It still runs: this service can stop its jobs only together"],
    ] as const;
    for (const [receipt, text] of told) {
      answering({ "/api/console/jobs/stop": { ...none, ...receipt } });
      renderInApp(<Acts facts={factsOf({ status: "in_progress" })} />);
      await press("Stop job");
      await act(() => vi.advanceTimersByTimeAsync(HELD_MS + 1));
      expect(screen.getByText(text)).toBeDefined();
      if ("together" in receipt) expect(screen.getByRole("button", { name: "Stop all 3 running jobs" })).toBeDefined();
      cleanup();
    }
  });

  it("submits the stored workflow and leads to the new job; an answer that never came is neither a success nor a failure", async () => {
    const detail = { id: "job-1", status: "completed", workflow: { prompt: graph } };
    const sent = answering({ "/api/jobs/job-1": detail, "/api/prompt": { prompt_id: "new-job-1" } });
    renderInApp(<Acts facts={factsOf()} />);
    await press("Run again");
    expect(sent).toMatchObject([{ json: { prompt: graph } }]);
    expect(screen.getByRole("link", { name: "Open new-job-" }).getAttribute("href")).toBe("/jobs/new-job-1");
    answering({
      "/api/jobs/job-1": detail,
      "/api/prompt": Response.json({ error: { code: "UPSTREAM_TIMEOUT", message: "no" } }, { status: 504 }),
    });
    await press("Run again");
    expect(screen.getByText(/a new job may exist or not/)).toBeDefined();
  });

  it("asks for masked inputs instead of sending them", async () => {
    const masked = { "4": { class_type: "Call", inputs: { api_key: "[REDACTED]" } } };
    const sent = answering({ "/api/jobs/job-1": { id: "job-1", status: "completed", workflow: { prompt: masked } } });
    renderInApp(<Acts facts={factsOf()} />);
    await press("Run again");
    expect(sent).toEqual([]);
    const dialog = screen.getByRole("dialog");
    expect(within(dialog).getByText("Call #4: api_key")).toBeDefined();
    expect(within(dialog).getByRole("link", { name: "Edit & run" }).getAttribute("href")).toBe("/run?job=job-1");
  });
});

describe("the graph of a job", () => {
  beforeEach(() =>
    vi.stubGlobal(
      "ResizeObserver",
      class {
        observe() {}
        disconnect() {}
      },
    ),
  );
  const facts = factsOf({
    status: "failed",
    execution_status: { messages: [["execution_cached", { nodes: ["1"], timestamp: 1_700_000_001_000 }]] },
    execution_error: { node_id: "2", node_type: "KSampler", exception_message: "out of memory", exception_type: "OOM" },
  });

  it("marks what was cached, what failed and what was never reached, and opens a node's inputs from the list", () => {
    renderInApp(<WorkflowGraph graph={graph} marks={marksOf(facts, Object.keys(graph))} json={{}} fileName="w.json" />);
    fireEvent.click(screen.getByRole("button", { name: "List" }));
    const rows = within(screen.getByRole("list", { name: "Nodes of the workflow" })).getAllByRole("button");
    expect(rows.map((row) => row.textContent)).toEqual([
      expect.stringContaining("cached"),
      expect.stringContaining("failed"),
      expect.stringContaining("not reached"),
    ]);
    fireEvent.click(screen.getByRole("button", { name: /SaveImage/ }));
    const panel = screen.getByRole("region", { name: "Node 3: SaveImage" });
    expect(within(panel).getByText("#77, which is not in this workflow")).toBeDefined();
    fireEvent.click(within(panel).getByRole("button", { name: "KSampler #2" }));
    expect(within(screen.getByRole("region", { name: "Node 2: KSampler" })).getByText("OOM: out of memory")).toBeDefined();
  });

  it("finds nodes by id, class and title", () => {
    renderInApp(<WorkflowGraph graph={graph} marks={new Map()} json={{}} fileName="w.json" />);
    const search = screen.getByRole("searchbox", { name: "Find a node" });
    fireEvent.change(search, { target: { value: "photo" } });
    expect(screen.getByText("1 node")).toBeDefined();
    fireEvent.submit(search);
    expect(screen.getByRole("region", { name: "Node 1: The photo" })).toBeDefined();
    fireEvent.change(search, { target: { value: "nothing like it" } });
    expect(screen.getByText("No node")).toBeDefined();
  });

  it("says of a running job what waits, and of a refused one which node is wrong", () => {
    const running = factsOf({
      status: "in_progress",
      progress: { current_node: "2" },
      execution_meta: { 1: { start_time: 1, end_time: 2 } },
    });
    expect([...marksOf(running, Object.keys(graph))].map(([id, { state }]) => [id, state])).toEqual([
      ["1", "done"],
      ["2", "running"],
      ["3", "waiting"],
    ]);
    const refusal = {
      error: { type: "x", message: "m" },
      node_errors: { 2: { errors: [{ message: "Value not in list", details: "steps" }] } },
    };
    const refused = factsOf({
      status: "failed",
      execution_error: { exception_message: JSON.stringify(refusal), exception_type: "ValidationError" },
    });
    expect(marksOf(refused, []).get("2")).toEqual({ state: "refused", problems: ["Value not in list: steps"] });
  });
});

describe("what else a job's page tells", () => {
  it("an error leads to its node in the graph, and only where the graph has it", () => {
    const onShowNode = vi.fn();
    const failing = (node_id: string) =>
      factsOf({ status: "failed", execution_error: { node_id, node_type: "KSampler", exception_message: "m", exception_type: "E" } });
    const show = (facts: JobFacts) =>
      renderInApp(facts.failure ? <JobError failure={facts.failure} facts={facts} onShowNode={onShowNode} /> : null);
    show(failing("2"));
    fireEvent.click(screen.getByRole("button", { name: "Show in the graph" }));
    expect(onShowNode).toHaveBeenCalledWith("2");
    cleanup();
    show(failing("99"));
    expect(screen.queryByRole("button", { name: "Show in the graph" })).toBeNull();
  });

  it("both views' own words, and where they do not agree", () => {
    renderInApp(<JobDetails facts={factsOf({ status: "failed" }, "non_retryable_error")} />);
    expect(screen.getByText("non_retryable_error")).toBeDefined();
    expect(screen.queryByText("The two views do not agree.")).toBeNull();
    cleanup();
    renderInApp(<JobDetails facts={factsOf({ status: "in_progress" }, "success")} />);
    expect(screen.getByText("The two views do not agree.")).toBeDefined();
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
    expect(screen.getByText("1 of these 3 runs failed")).toBeDefined();
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
