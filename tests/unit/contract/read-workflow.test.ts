import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { findJsonError, getLineAndColumn } from "@/lib/contract/json/json-text";
import { readWorkflow, unwrapWorkflow, workflowLimits } from "@/lib/contract/workflow/read-workflow";

const graph = {
  "4": { class_type: "LoadImage", inputs: { image: "photo.png" }, _meta: { title: "Photo" } },
  "9": { class_type: "SaveImage", inputs: { images: ["4", 0], filename_prefix: "cat" } },
};
const job = {
  prompt: graph,
  extra_data: { api_key_comfy_org: "[REDACTED]", client_id: "c", extra_pnginfo: { workflow: { id: "w", name: "Poster" } } },
};
const getFailure = (text: string) => {
  const reading = readWorkflow(text);
  return reading.ok ? "read" : reading.failure;
};

describe("reading a workflow file", () => {
  it("reads a bare graph after a byte order mark and whitespace", () => {
    expect(readWorkflow(`\uFEFF\n ${JSON.stringify(graph)}`)).toEqual({ ok: true, value: { graph } });
  });

  it("reads a submission and drops its partner key", () => {
    expect(readWorkflow(JSON.stringify(job))).toEqual({
      ok: true,
      value: { graph, title: "Poster", extraData: { client_id: "c", extra_pnginfo: { workflow: { id: "w", name: "Poster" } } } },
    });
  });

  it("reads a job's details", () => {
    expect(readWorkflow(JSON.stringify({ id: "j", status: "completed", workflow: job }))).toMatchObject({
      ok: true,
      value: { title: "Poster" },
    });
  });

  it.each([
    ["a request to a hosted worker", { input: { workflow: graph, images: [] } }],
    ["the prompt of a hosted worker's request", { input: { prompt: graph } }],
    ["a data field", { data: { workflow: graph } }],
    ["a list with one item", [{ prompt: graph }]],
    ["a JSON string", { workflow: JSON.stringify(graph) }],
    ["an object with an unrelated prompt text", { prompt: "a cat", workflow: graph }],
  ])("unwraps a graph from %s", (_, wrapped) => {
    expect(readWorkflow(JSON.stringify(wrapped))).toEqual({ ok: true, value: { graph } });
  });

  const drawing = { id: "w", name: "Poster", nodes: [{ id: 4 }] };
  it.each([
    ["the editor's own result", { output: graph, workflow: drawing }],
    ["image metadata", { prompt: JSON.stringify(graph), workflow: JSON.stringify(drawing) }],
  ])("keeps the drawing in %s", (_, file) => {
    expect(readWorkflow(JSON.stringify(file))).toEqual({
      ok: true,
      value: { graph, title: "Poster", extraData: { extra_pnginfo: { workflow: drawing } } },
    });
  });

  it("returns an editor file from the same wrappers", () => {
    for (const wrapped of [{ input: { workflow: drawing } }, { workflow: drawing, prompt: "a cat" }, [drawing]])
      expect(getFailure(JSON.stringify(wrapped))).toEqual({ code: "ui_format", file: drawing });
  });

  it("reads NaN and Infinity as null and keeps them in strings", () => {
    const text = '{"1":{"class_type":"X","inputs":{"a":NaN,"b":[-Infinity , Infinity],"c":"1, NaN, \\"NaN, 2"},"is_changed":[NaN]}}';
    expect(readWorkflow(text)).toMatchObject({
      value: { graph: { "1": { inputs: { a: null, b: [null, null], c: '1, NaN, "NaN, 2' }, is_changed: [null] } } },
    });
  });

  it.each([
    ['{"5":{"class_type":"X","inputs":{"5":1,"a":[{"5":2}]}},"6":{"class_type":"X"}}', undefined],
    ['{"5":{"class_type":"X"},"6":{"class_type":"Y"},"5":{"class_type":"Z"},"\\u0035":{"class_type":"Z"}}', ["5"]],
    ['{"a":{"5":1},"input":{"prompt":{"5":{"class_type":"X"},"5":{"class_type":"Y"}}}}', ["5"]],
    ['[{"__proto__":{"class_type":"X"},"__proto__":{"class_type":"Y"},"n":{"class_type":"X","inputs":{"s":NaN}}}]', ["__proto__"]],
  ])("reports duplicate ids in %s", (text, duplicates) => {
    const reading = readWorkflow(text);
    expect(reading.ok && reading.value.duplicates).toEqual(duplicates);
  });

  it("reads a node with the id prompt", () => {
    const reading = readWorkflow(JSON.stringify({ prompt: { class_type: "PreviewAny", inputs: {} } }));
    expect(reading).toMatchObject({ ok: true, value: { graph: { prompt: { class_type: "PreviewAny" } } } });
  });

  it("accepts a node with missing inputs and unknown fields", () => {
    const reading = readWorkflow(JSON.stringify({ "1": { class_type: "X", is_changed: [1] } }));
    expect(reading).toEqual({ ok: true, value: { graph: { "1": { class_type: "X", inputs: {}, is_changed: [1] } } } });
  });
});

describe("reading an invalid file", () => {
  it.each([
    [" \n", { code: "empty" }],
    ["{}", { code: "no_nodes" }],
    ['{"input": {"workflow": {}}}', { code: "no_nodes" }],
    ['{"nodes": [], "links": [], "version": 0.4}', { code: "no_nodes" }],
    ["[]", { code: "no_graph", found: "list" }],
    ['{"a": 1,\n "b": oops}', { code: "not_json", line: 2, column: 7 }],
    ['{"a": 1', { code: "not_json", line: 1, column: 8 }],
    ["null", { code: "no_graph", found: "null" }],
    ['"x"', { code: "no_graph", found: "text" }],
    ["7", { code: "no_graph", found: "number" }],
    ["true", { code: "no_graph", found: "boolean" }],
    ['{"name": "package", "version": "1"}', { code: "no_graph", found: "object" }],
    ['{"nodes": [{}, {}], "links": [], "version": 0.4}', { code: "ui_format", file: { nodes: [{}, {}], links: [], version: 0.4 } }],
    ['{"prompt": {"nodes": [{}]}}', { code: "ui_format", file: { nodes: [{}] } }],
    ['{"a": NaN, "b": -Infinity, "c": oops}', { code: "not_json", line: 1, column: 33 }],
    ['{"a": "NaN, x", "b": NAN}', { code: "not_json", line: 1, column: 22 }],
    ['{"1": {"class_type": "X"}, "2": {"inputs": {}}}', { code: "node_without_class", nodeId: "2" }],
    ['{"1": {"class_type": "X"}, "2": null}', { code: "node_without_class", nodeId: "2" }],
    ['{"1": {"class_type": "X", "inputs": []}}', { code: "node_with_bad_inputs", nodeId: "1" }],
  ])("rejects %j", (text, expected) => {
    expect(getFailure(text)).toEqual(expected);
  });

  it("rejects too many characters, too many nodes and deep nesting", () => {
    expect(getFailure("x".repeat(workflowLimits.characters + 1))).toMatchObject({ code: "too_large", limit: "characters" });
    const manyNodes = Object.fromEntries(Array.from({ length: 5001 }, (_, index) => [index, { class_type: "X" }]));
    expect(getFailure(JSON.stringify(manyNodes))).toEqual({ code: "too_large", limit: "nodes", max: 5000, found: 5001 });
    const deep = `{"1": {"class_type": "X", "inputs": {"a": ${"[".repeat(200)}${"]".repeat(200)}}}}`;
    expect(getFailure(deep)).toMatchObject({ code: "too_large", limit: "depth", max: 100 });
    const veryDeep = `{"1": ${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`;
    expect(getFailure(veryDeep)).toMatchObject({ code: "too_large", limit: "depth" });
  });

  it("never throws for any dropped file", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void readWorkflow(text)));
    fc.assert(fc.property(fc.anything(), (value) => void unwrapWorkflow(value)));
  });

  it("reads its own output as the same graph", () => {
    const node = fc.record({ class_type: fc.string({ minLength: 1 }), inputs: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })) });
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[0-9:]{1,6}$/), node, { minKeys: 1 }), (anyGraph) => {
        const firstResult = readWorkflow(JSON.stringify(anyGraph));
        expect(firstResult.ok && readWorkflow(writeExactJson(firstResult.value.graph))).toEqual(firstResult);
      }),
    );
  });
});

describe("the workflow of a job", () => {
  it("unwraps a job's workflow for submission", () => {
    expect(unwrapWorkflow(job)).toEqual({ graph, extraData: { client_id: "c", extra_pnginfo: { workflow: { id: "w", name: "Poster" } } } });
    expect(unwrapWorkflow(graph)?.graph).toEqual(graph);
  });

  it.each([[undefined], [null], [{}], [{ prompt: {} }], [[]], ["text"]])("finds no workflow in %j", (value) => {
    expect(unwrapWorkflow(value)).toBeUndefined();
  });
});

describe("finding a JSON error", () => {
  it.each([
    ['{"a"}', 4],
    ['{"a":1,}', 7],
    ['"abc', 4],
    ['"a\nb"', 2],
    ['"a\\x"', 2],
    ["01", 1],
    ["[1]]", 3],
    ["", 0],
    ["{'a':1}", 1],
    ["[tru]", 1],
  ])("finds the error in %j at offset %d", (text, offset) => {
    expect(findJsonError(text)).toBe(offset);
  });

  it("finds no error exactly when JSON.parse accepts the text", () => {
    const broken = fc.tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 })).map(([text, position, insert]) => {
      const offset = position % (text.length + 1);
      return text.slice(0, offset) + insert + text.slice(offset + 1);
    });
    fc.assert(
      fc.property(fc.oneof(fc.json(), broken, fc.string()), (text) => {
        const isJson = (() => {
          try {
            JSON.parse(text);
            return true;
          } catch {
            return false;
          }
        })();
        expect(findJsonError(text) === -1).toBe(isJson);
        expect(findJsonError(text)).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 2000 },
    );
  });

  it("finds an error in very large texts", () => {
    expect(findJsonError(`"${"\\n".repeat(2_000_000)}`)).toBe(4_000_001);
    expect(findJsonError("[".repeat(2_000_000))).toBe(2_000_000);
  });

  it("counts every kind of line break", () => {
    expect(getLineAndColumn("a\r\nb\nc\rde", 8)).toEqual({ line: 4, column: 2 });
  });
});
