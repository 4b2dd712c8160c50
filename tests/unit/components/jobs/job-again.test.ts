import { describe, expect, it } from "vitest";
import { toResubmission } from "@/components/jobs/actions/resubmission";
import { graph } from "./a-job";

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
    const sampler = { "1": { class_type: "N", inputs: { sampler_seed: 7, seedling: 7 } } };
    expect(toResubmission({ prompt: sampler }, () => 9)).toMatchObject({
      submission: { prompt: { "1": { class_type: "N", inputs: { sampler_seed: 9, seedling: 7 } } } },
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
