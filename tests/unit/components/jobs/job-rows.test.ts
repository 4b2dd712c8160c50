import { describe, expect, it, test } from "vitest";
import { buildResubmission } from "@/components/jobs/actions/resubmission";
import { toJobsView, toQueueList } from "@/components/jobs/job-row";
import { findInputDifferences } from "@/lib/contract/jobs/job-inputs";
import { historyResponseSchema, jobListItemSchema } from "@/lib/contract/schemas/job";
import { graph } from "./sample-job";

const getRow = (entry: object) => toJobsView(historyResponseSchema.parse({ history: [{ prompt_id: "job-1", ...entry }] })).rows[0];
const createStatus = (status_str: string, ...messages: unknown[]) => ({
  status: { status_str, completed: status_str === "success", messages },
});
const loadError = { exception_message: "no file", node_type: "LoadImage" };
const file = (filename: string, type: string) => ({ filename, subfolder: "", type });

it.each([
  ["a completed entry", createStatus("success"), { state: "completed", rawStatus: "completed" }],
  ["a failed entry", createStatus("error", ["execution_error", loadError]), { state: "failed", error: "LoadImage: no file" }],
  ["a cancelled entry", createStatus("error", ["execution_interrupted", {}]), { state: "cancelled" }],
  ["an entry without a status", {}, { state: "unknown", startedMs: undefined }],
  [
    "the times of the messages",
    createStatus("success", ["execution_start", { timestamp: 1_767_225_600_000 }], ["execution_success", { timestamp: 1_767_225_601_500 }]),
    { startedMs: 1_767_225_600_000, endedMs: 1_767_225_601_500 },
  ],
  [
    "the number of files and a stored picture",
    { outputs: { "1": { images: [file("temp.png", "temp")], text: ["words"] }, "2": { images: [file("kept.png", "output")] } } },
    { outputs: 2, preview: { filename: "kept.png" } },
  ],
])("reads %s of the history", (_, entry, row) => {
  expect({ startedMs: undefined, ...getRow(entry) }).toMatchObject(row);
});

describe("input differences", () => {
  const graph = (seed: unknown, overrides: object = {}) => ({
    "3": { class_type: "KSampler", inputs: { seed, steps: 20, model: ["1", 0] }, _meta: { title: "Sampler" } },
    ...overrides,
  });

  test("lists the values of inputs that differ and omits equal ones", () => {
    const { differences } = findInputDifferences([graph(18446744073709551615n), { prompt: graph(18446744073709551614n) }]);
    const values = ["18446744073709551615", "18446744073709551614"];
    expect(differences).toEqual([{ nodeId: "3", node: "Sampler", input: "seed", values }]);
  });

  test("counts a missing node but not a missing workflow as a difference", () => {
    const extra = { "9": { class_type: "Note", inputs: { text: "x" } } };
    expect(findInputDifferences([graph(1), graph(1, extra), undefined]).differences).toEqual([
      { nodeId: "9", node: "Note", input: "text", values: [undefined, "x", undefined] },
    ]);
    expect(findInputDifferences([undefined, graph(1), "nonsense", null]).differences).toEqual([]);
  });

  test("reports that differences were cut when there are too many", () => {
    const inputs = (value: number) => ({
      "1": { inputs: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`i${index}`, value])) },
    });
    const { differences, isCut } = findInputDifferences([inputs(1), inputs(2)]);
    expect([differences.length, isCut]).toEqual([200, true]);
  });
});

const createJob = (id: string, createdSeconds: number, position?: number) => ({
  ...jobListItemSchema.parse({ id, status: "pending", create_time: 1_700_000_000 + createdSeconds }),
  position,
});
const getOrder = (rows: readonly { id: string; position?: number }[]) => rows.map(({ id, position }) => [id, position]);

it("keeps the service's order of waiting jobs and adds no missing positions", () => {
  const pending = [createJob("late", 9, 1), createJob("early", 1, 2), createJob("unplaced", 5)];
  const list = toQueueList({ running: [], pending, source: "queue", canStop: false });
  expect(getOrder(list.pending)).toEqual([
    ["late", 1],
    ["early", 2],
    ["unplaced", undefined],
  ]);
  expect(list.isSortedBySubmission).toBe(false);
});

it("sorts waiting jobs by submission when the service sends no positions", () => {
  const list = toQueueList({ running: [], pending: [createJob("late", 9), createJob("early", 1)], source: "jobs", canStop: false });
  expect(getOrder(list.pending)).toEqual([
    ["early", 1],
    ["late", 2],
  ]);
  expect(list.isSortedBySubmission).toBe(true);
});

it.each([
  [1_284, 1_283],
  [undefined, 1],
])("counts waiting jobs outside the list when the total is %j", (total, pendingTotal) => {
  const running = [{ ...createJob("r", 0), status: "executing" }];
  expect(toQueueList({ running, pending: [createJob("a", 1)], source: "jobs", canStop: false, total }).pendingTotal).toBe(pendingTotal);
});

describe("running a job again", () => {
  it("replaces every numeric seed and nothing else", () => {
    let seed = 100;
    const resubmission = buildResubmission({ prompt: graph, extra_data: { a: 1 } }, () => seed++);
    expect(resubmission).toMatchObject({
      kind: "ready",
      submission: {
        prompt: { ...graph, "2": { inputs: { image: ["1", 0], seed: 100, noise_seed: 101, steps: 20 } } },
        extra_data: { a: 1 },
      },
    });
    const sampler = { "1": { class_type: "N", inputs: { sampler_seed: 7, seedling: 7 } } };
    expect(buildResubmission({ prompt: sampler }, () => 9)).toMatchObject({
      submission: { prompt: { "1": { class_type: "N", inputs: { sampler_seed: 9, seedling: 7 } } } },
    });
    const chain = { "1": { class_type: "N", inputs: { seed: ["2", 0] } }, "2": { class_type: "N", inputs: {} } };
    expect(buildResubmission({ prompt: chain }, () => 9)).toMatchObject({ submission: { prompt: chain } });
  });

  it("refuses masked inputs and omits masked extra data", () => {
    const maskedGraph = { ...graph, "4": { class_type: "Call", inputs: { api_key: "[REDACTED]", url: "https://x/?token=[REDACTED]" } } };
    expect(buildResubmission({ prompt: maskedGraph })).toEqual({
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
    const resubmission = buildResubmission({ prompt: graph, extra_data });
    expect(resubmission).toMatchObject({ submission: { extra_data: { extra_pnginfo: { workflow: { id: "w", list: ["", 2] } } } } });
    expect(JSON.stringify(resubmission)).not.toContain("REDACTED");
  });

  it("reports an error when there is no graph", () => {
    expect(buildResubmission(undefined)).toEqual({ kind: "no-graph" });
    expect(buildResubmission({ nodes: [], links: [] })).toEqual({ kind: "no-graph" });
  });
});
