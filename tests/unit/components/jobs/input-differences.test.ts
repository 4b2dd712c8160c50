import { expect, test } from "vitest";
import { inputDifferences } from "@/lib/contract/jobs/job-inputs";

const graph = (seed: unknown, more: object = {}) => ({
  "3": { class_type: "KSampler", inputs: { seed, steps: 20, model: ["1", 0] }, _meta: { title: "Sampler" } },
  ...more,
});

test("inputs that differ are listed with the value of each job, and equal ones are not", () => {
  const { differences } = inputDifferences([graph(18446744073709551615n), { prompt: graph(18446744073709551614n) }]);
  const values = ["18446744073709551615", "18446744073709551614"];
  expect(differences).toEqual([{ nodeId: "3", node: "Sampler", input: "seed", values }]);
});

test("a node that one of them lacks differs, and a job without a workflow differs from nothing", () => {
  const extra = { "9": { class_type: "Note", inputs: { text: "x" } } };
  expect(inputDifferences([graph(1), graph(1, extra), undefined]).differences).toEqual([
    { nodeId: "9", node: "Note", input: "text", values: [undefined, "x", undefined] },
  ]);
  expect(inputDifferences([undefined, graph(1), "nonsense", null]).differences).toEqual([]);
});

test("a list of differences is bounded and says that it was cut", () => {
  const inputs = (value: number) => ({
    "1": { inputs: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`i${index}`, value])) },
  });
  const { differences, isCut } = inputDifferences([inputs(1), inputs(2)]);
  expect([differences.length, isCut]).toEqual([200, true]);
});
