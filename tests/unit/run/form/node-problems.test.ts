import { describe, expect, it } from "vitest";
import { formBuilder } from "@/components/run/form/form-model";
import { missingClassErrors, placeProblems, problemSentence } from "@/components/run/form/problems";
import { parseFailure } from "@/lib/contract/failure";
import { topologicalOrder } from "@/lib/contract/workflow/graph";
import { catalogue, refusals } from "../files";

function refused(name: string) {
  const found = refusals()[name];
  if (!found) throw new Error(`no refusal ${name}`);
  const { prompt, answer } = found;
  return { prompt, failure: parseFailure({ status: 400 }, JSON.stringify(answer.error)) };
}

describe("node_errors on the form", () => {
  const { prompt, failure } = refused("bad-graph");
  const form = formBuilder(prompt, topologicalOrder(prompt), catalogue())(prompt);
  const placed = placeProblems(form, failure.nodeErrors ?? {});

  it("land on the fields they name", () => {
    expect(Object.keys(placed.byNode).toSorted()).toEqual(["1", "2", "4"]);
    expect(Object.keys(placed.byNode["1"]?.fields ?? {})).toEqual(["width", "height"]);
    expect(Object.keys(placed.byNode["2"]?.fields ?? {}).toSorted()).toEqual(["blend_factor", "blend_mode"]);
    expect(placed.byNode["4"]?.fields.images?.[0]?.type).toBe("required_input_missing");
  });

  it("lead the eye to the first one in the form's order", () => {
    expect(placed.first).toEqual({ nodeId: "1", field: "width" });
    expect(placed.nodeCount).toBe(3);
  });

  it("get sentences with the values that matter", () => {
    const width = placed.byNode["1"]?.fields.width?.[0];
    expect(width && problemSentence(width)).toEqual({ key: "value_smaller_than_min", values: { received: "-5", min: 1 } });
    const mode = placed.byNode["2"]?.fields.blend_mode?.[0];
    expect(mode && problemSentence(mode)).toEqual({ key: "value_not_in_list", values: { received: "sparkle" } });
  });

  it("stand on the node where they name no field of it, and beside the form where they name no node of it", () => {
    const error = { type: "new_kind", message: "Too hot", details: "inside", extra_info: { input_name: "gone" } };
    const entry = { class_type: "X", dependent_outputs: [], errors: [error] };
    const other = placeProblems(form, { "3": entry, "77": entry });
    expect(other.byNode["3"]?.node.map(({ type }) => type)).toEqual(["new_kind"]);
    expect(other.strays.map(({ nodeId }) => nodeId)).toEqual(["77"]);
    expect(other.first).toEqual({ nodeId: "3" });
    expect(problemSentence({ type: "new_kind", message: "Too hot", details: "inside", extra: {} })).toEqual({
      key: "otherWithDetails",
      values: { message: "Too hot", details: "inside" },
    });
  });
});

describe("a class that the service lacks", () => {
  const { prompt, failure } = refused("unknown-class");

  it("lights every node of that class, though the answer names no node_errors", () => {
    const errors = missingClassErrors({ ...prompt, "9": { class_type: "NoSuchNode", inputs: {} } }, failure);
    expect(Object.keys(errors ?? {})).toEqual(["1", "9"]);
    expect(errors?.["1"]?.errors[0]?.extra_info.class_type).toBe("NoSuchNode");
  });

  it("is found by name where the answer names no node", () => {
    const errors = missingClassErrors(prompt, { code: "missing_node_type", message: "Node 'NoSuchNode' not found.", status: 400 });
    expect(Object.keys(errors ?? {})).toEqual(["1"]);
  });

  it("is not read into any other refusal", () => {
    expect(missingClassErrors(prompt, { code: "prompt_no_outputs", message: "Prompt has no outputs", status: 400 })).toBeUndefined();
  });
});

describe("a loop", () => {
  it("is reported as a path on each of its nodes", () => {
    const { prompt, failure } = refused("cycle");
    const placed = placeProblems(formBuilder(prompt, Object.keys(prompt), catalogue())(prompt), failure.nodeErrors ?? {});
    const problem = placed.byNode["1"]?.node[0];
    expect(problem && problemSentence(problem).key).toBe("dependency_cycle");
  });
});
