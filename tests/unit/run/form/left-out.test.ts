import { expect, test } from "vitest";
import { openWorkflow } from "@/components/run/workflow/open-workflow";
import { leftOut } from "@/components/run/workflow/workflow-contents";
import { placesInWorkflow, readPlaces } from "@/lib/contract/secrets/secret-places";

const node = (inputs: Record<string, unknown>) => ({ class_type: "Any", inputs });

test("of a masked job the masked inputs are opened empty and the masked fields are gone", () => {
  const workflow = {
    prompt: { "1": node({ api_key: "[REDACTED]", text: "see https://x.test/?token=[REDACTED]", seed: 4 }) },
    extra_data: { api_key_partner: "[REDACTED]", extra_pnginfo: { workflow: { nodes: [{ widgets_values: ["[REDACTED]", 1] }] } } },
  };
  const places = placesInWorkflow(workflow);
  const opened = openWorkflow(JSON.stringify(workflow), undefined, { leavesOut: places });
  expect(opened.ok && opened.value.graph["1"]?.inputs).toEqual({ api_key: "", text: "see https://x.test/?token=", seed: 4 });
  expect(opened.ok && opened.value.extraData).toEqual({ extra_pnginfo: { workflow: { nodes: [{ widgets_values: ["", 1] }] } } });
  expect(JSON.stringify(opened)).not.toContain("REDACTED");
});

test("of what was typed the key is taken out of its text, and a key that has no looks with all of it", () => {
  const graph = { "1": node({ a: "before sk-0123456789abcdefghij after", b: "plain", c: "kept" }) };
  const places = ["a", "b"].map((input) => ({ kind: "input" as const, node_id: "1", node: "Any", input }));
  const left = leftOut({ graph, extraData: { token: "t", deep: { secret: "s", kept: 1 } } }, [
    ...places,
    { kind: "extra", path: ["token"] },
    { kind: "extra", path: ["deep", "secret"] },
    { kind: "error" },
  ]);
  expect(left).toEqual({ graph: { "1": node({ a: "before  after", b: "", c: "kept" }) }, extraData: { deep: { kept: 1 } } });
});

test("places that a service made up are not read", () => {
  expect(readPlaces([{ kind: "input" }, { kind: "else" }, 5, { kind: "extra", path: "a" }, { kind: "error" }])).toEqual([
    { kind: "error" },
  ]);
  expect(readPlaces("no list")).toEqual([]);
});
