import { describe, expect, it, test } from "vitest";
import { toResubmission } from "@/components/jobs/actions/resubmission";
import { toJobsView, toQueueList } from "@/components/jobs/job-row";
import { findInputDifferences } from "@/lib/contract/jobs/job-inputs";
import { historyAnswerSchema, jobListItemSchema } from "@/lib/contract/schemas/job";
import { graph } from "./sample-job";

const getRow = (entry: object) => toJobsView(historyAnswerSchema.parse({ history: [{ prompt_id: "job-1", ...entry }] })).rows[0];
const status = (status_str: string, ...messages: unknown[]) => ({ status: { status_str, completed: status_str === "success", messages } });

describe("a row of the history", () => {
  it("uses the job list's state names for history entries", () => {
    expect(getRow(status("success"))?.word).toBe("completed");
    expect(getRow(status("error", ["execution_error", { exception_message: "no file", node_type: "LoadImage" }]))).toMatchObject({
      state: "failed",
      error: "LoadImage: no file",
    });
    expect(getRow(status("error", ["execution_interrupted", {}]))?.state).toBe("cancelled");
    expect(getRow({})?.state).toBe("unknown");
  });

  it("reads its times from the messages, or has none", () => {
    const row = getRow(
      status("success", ["execution_start", { timestamp: 1_767_225_600_000 }], ["execution_success", { timestamp: 1_767_225_601_500 }]),
    );
    expect(row).toMatchObject({ startedMs: 1_767_225_600_000, endedMs: 1_767_225_601_500 });
    expect(getRow({})).not.toHaveProperty("startedMs");
  });

  it("prefers a stored picture over a temporary one and counts only files", () => {
    const file = (filename: string, type: string) => ({ filename, subfolder: "", type });
    const outputs = { "1": { images: [file("temp.png", "temp")], text: ["words"] }, "2": { images: [file("kept.png", "output")] } };
    expect(getRow({ outputs })).toMatchObject({ outputs: 2, preview: { filename: "kept.png" } });
  });
});

describe("input differences", () => {
  const graph = (seed: unknown, overrides: object = {}) => ({
    "3": { class_type: "KSampler", inputs: { seed, steps: 20, model: ["1", 0] }, _meta: { title: "Sampler" } },
    ...overrides,
  });

  test("lists differing inputs with each job's value and omits equal ones", () => {
    const { differences } = findInputDifferences([graph(18446744073709551615n), { prompt: graph(18446744073709551614n) }]);
    const values = ["18446744073709551615", "18446744073709551614"];
    expect(differences).toEqual([{ nodeId: "3", node: "Sampler", input: "seed", values }]);
  });

  test("counts a missing node as a difference, but not a missing workflow", () => {
    const extra = { "9": { class_type: "Note", inputs: { text: "x" } } };
    expect(findInputDifferences([graph(1), graph(1, extra), undefined]).differences).toEqual([
      { nodeId: "9", node: "Note", input: "text", values: [undefined, "x", undefined] },
    ]);
    expect(findInputDifferences([undefined, graph(1), "nonsense", null]).differences).toEqual([]);
  });

  test("limits differences and marks the cut", () => {
    const inputs = (value: number) => ({
      "1": { inputs: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`i${index}`, value])) },
    });
    const { differences, isCut } = findInputDifferences([inputs(1), inputs(2)]);
    expect([differences.length, isCut]).toEqual([200, true]);
  });
});

const job = (id: string, createdSeconds: number, position?: number) => ({
  ...jobListItemSchema.parse({ id, status: "pending", create_time: 1_700_000_000 + createdSeconds }),
  position,
});
const order = (rows: readonly { id: string; position?: number }[]) => rows.map(({ id, position }) => [id, position]);

describe("the rows of the queue", () => {
  it("keep the service's order, and show no number without a position", () => {
    const list = toQueueList({
      running: [],
      pending: [job("late", 9, 1), job("early", 1, 2), job("unplaced", 5)],
      source: "queue",
      canStop: false,
    });
    expect(order(list.pending)).toEqual([
      ["late", 1],
      ["early", 2],
      ["unplaced", undefined],
    ]);
    expect(list.isSortedBySubmission).toBe(false);
  });

  it("keep the submission order when the service gives no positions", () => {
    const list = toQueueList({ running: [], pending: [job("late", 9), job("early", 1)], source: "jobs", canStop: false });
    expect(order(list.pending)).toEqual([
      ["early", 1],
      ["late", 2],
    ]);
    expect(list.isSortedBySubmission).toBe(true);
  });

  it("count jobs waiting beyond the list", () => {
    const running = [{ ...job("r", 0), status: "executing" }];
    expect(toQueueList({ running, pending: [job("a", 1)], source: "jobs", canStop: false, total: 1_284 }).pendingTotal).toBe(1_283);
    expect(toQueueList({ running, pending: [job("a", 1)], source: "jobs", canStop: false }).pendingTotal).toBe(1);
  });
});

describe("running a job again", () => {
  it("draws a new value for every numeric seed and changes nothing else", () => {
    let seed = 100;
    const resubmission = toResubmission({ prompt: graph, extra_data: { a: 1 } }, () => seed++);
    expect(resubmission).toMatchObject({
      kind: "ready",
      submission: {
        prompt: { ...graph, "2": { inputs: { image: ["1", 0], seed: 100, noise_seed: 101, steps: 20 } } },
        extra_data: { a: 1 },
      },
    });
    const sampler = { "1": { class_type: "N", inputs: { sampler_seed: 7, seedling: 7 } } };
    expect(toResubmission({ prompt: sampler }, () => 9)).toMatchObject({
      submission: { prompt: { "1": { class_type: "N", inputs: { sampler_seed: 9, seedling: 7 } } } },
    });
    const chain = { "1": { class_type: "N", inputs: { seed: ["2", 0] } }, "2": { class_type: "N", inputs: {} } };
    expect(toResubmission({ prompt: chain }, () => 9)).toMatchObject({ submission: { prompt: chain } });
  });

  it("never sends a masked value and omits masked extra data", () => {
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
    const resubmission = toResubmission({ prompt: graph, extra_data });
    expect(resubmission).toMatchObject({ submission: { extra_data: { extra_pnginfo: { workflow: { id: "w", list: ["", 2] } } } } });
    expect(JSON.stringify(resubmission)).not.toContain("REDACTED");
  });

  it("reports a missing graph", () => {
    expect(toResubmission(undefined)).toEqual({ kind: "no-graph" });
    expect(toResubmission({ nodes: [], links: [] })).toEqual({ kind: "no-graph" });
  });
});
