import { describe, expect, it } from "vitest";
import { faultsOf, mergedErrors } from "@/components/run/workflow/faults";
import { openWorkflow } from "@/components/run/workflow/open-workflow";
import { type Graph } from "@/lib/contract/schemas/graph";
import { catalogue, refusals, sampleGraph } from "../files";

const typesOf = (graph: Graph | undefined, info = catalogue()) =>
  Object.entries(faultsOf(graph ?? {}, info)?.errors ?? {}).map(([id, { errors }]) => [id, ...errors.map(({ type }) => type)]);

describe("what is wrong with the shape of a workflow", () => {
  it("is nothing, for a workflow that runs", () => {
    expect(faultsOf(sampleGraph("02-poster-from-photo"), catalogue())).toBeUndefined();
  });

  it("a loop, on each of its nodes and with the way round; the file opens all the same, with every node in the form", () => {
    const graph = refusals().cycle?.prompt;
    const faults = faultsOf(graph ?? {}, catalogue());
    expect(faults?.isSure).toBe(true);
    expect(typesOf(graph)).toEqual([
      ["1", "dependency_cycle"],
      ["2", "dependency_cycle"],
    ]);
    expect(faults?.errors["1"]?.errors[0]?.details).toMatch(
      /^#\d Invert Image Colors → #\d Invert Image Colors → #\d Invert Image Colors$/,
    );
    const opened = openWorkflow(JSON.stringify(graph));
    expect(opened.ok && [...opened.value.order].sort()).toEqual(Object.keys(graph ?? {}).sort());
  });

  it("two loops that share no node are both reported", () => {
    const step = (from: string) => ({ class_type: "ImageInvert", inputs: { image: [from, 0] } });
    const graph = { a: step("b"), b: step("a"), c: step("d"), d: step("c") };
    expect(
      typesOf(graph)
        .map(([id]) => id)
        .toSorted(),
    ).toEqual(["a", "b", "c", "d"]);
  });

  it("a link to nothing, at its input", () => {
    const faults = faultsOf(refusals()["dangling-link"]?.prompt ?? {}, undefined);
    expect(faults?.errors["1"]?.errors).toMatchObject([{ type: "dangling_link", extra_info: { input_name: "image", source: "9" } }]);
  });

  it("a class that the service lacks, which only its own list of nodes can tell and which may be overruled", () => {
    const graph: Graph = { "1": { class_type: "KSamplerDeluxe", inputs: {} } };
    expect(faultsOf(graph, undefined)).toBeUndefined();
    expect(faultsOf(graph, catalogue())).toMatchObject({ isSure: false, errors: { "1": { errors: [{ type: "missing_node_type" }] } } });
  });

  it("a thousand loops are no reason to look for long", () => {
    const graph = Object.fromEntries(
      Array.from({ length: 1000 }, (_, place) => [String(place), { class_type: "ImageInvert", inputs: { image: [String(place), 0] } }]),
    );
    expect(Object.keys(faultsOf(graph, undefined)?.errors ?? {})).toHaveLength(20);
  });
});

it("what the service says of a node is shown beside its faults, and the same thing is shown once", () => {
  const error = (type: string) => ({ type, message: "", details: "", extra_info: { input_name: "image" } });
  const entry = (...types: string[]) => ({ class_type: "X", dependent_outputs: [], errors: types.map(error) });
  const merged = mergedErrors({ "1": entry("dangling_link") }, { "1": entry("dangling_link", "other"), "2": entry("other") });
  expect(Object.entries(merged).map(([id, { errors }]) => [id, ...errors.map(({ type }) => type)])).toEqual([
    ["1", "dangling_link", "other"],
    ["2", "other"],
  ]);
});
