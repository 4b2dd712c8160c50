// Validation errors must match the responses recorded from a real server.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { validatePrompt } from "@/lib/service/nodes/validate";

const validate = (prompt: Record<string, unknown>, { targets, images }: { targets?: string[]; images?: string[] } = {}) =>
  validatePrompt(prompt, {
    files: new Map(images?.map((name) => [name, { mediaType: "image/png", isImage: true }])),
    ...(targets && { targets }),
  });
const emptyImageNode = { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } };
const createInvertNode = (from: unknown) => ({ class_type: "ImageInvert", inputs: { image: from } });
const createSaveNode = (from: unknown) => ({ class_type: "SaveImage", inputs: { images: from, filename_prefix: "x" } });
const getErrors = (validation: ReturnType<typeof validate>, id: string) => validation.nodeErrors[id]?.errors ?? [];

type Recording = {
  prompt: Record<string, unknown>;
  answer: { error?: { error: object; node_errors: Record<string, unknown> }; node_errors?: object };
};
const recordings: Record<string, Recording> = JSON.parse(readFileSync("tests/fixtures/golden/refusals.json", "utf8"));

function getRecording(name: string): Recording {
  const recording = recordings[name];
  if (!recording) throw new Error(`tests/fixtures/golden/refusals.json has no case "${name}".`);
  return recording;
}

describe("a rejected prompt", () => {
  it("reports invalid inputs with their allowed values (bad-graph)", () => {
    const validation = validate(getRecording("bad-graph").prompt);
    expect(validation).toMatchObject({
      ok: false,
      error: { type: "prompt_outputs_failed_validation", message: "Prompt outputs failed validation" },
    });
    const widthConfig = ["INT", { default: 512, min: 1, max: 16384, step: 1 }];
    expect(validation.nodeErrors).toMatchObject({
      "1": { class_type: "EmptyImage", dependent_outputs: ["3"] },
      "2": { class_type: "ImageBlend" },
      "4": { class_type: "SaveImage" },
    });
    expect(getErrors(validation, "1")).toMatchObject([
      {
        type: "value_smaller_than_min",
        message: "Value -5 smaller than min of 1",
        details: "width",
        extra_info: { input_name: "width", input_config: widthConfig, received_value: -5 },
      },
      {
        type: "invalid_input_type",
        message: "Failed to convert an input value to a INT value",
        details: expect.stringMatching(/^height, tall, /),
        extra_info: { input_name: "height", received_value: "tall", exception_message: expect.any(String) },
      },
    ]);
    expect(getErrors(validation, "2")).toMatchObject([
      {
        type: "value_bigger_than_max",
        message: "Value 4.0 bigger than max of 1.0",
        details: "blend_factor",
        extra_info: { received_value: 4 },
      },
      {
        type: "value_not_in_list",
        message: "Value not in list",
        details: "blend_mode: 'sparkle' not in ['normal', 'multiply', 'screen', 'overlay', 'soft_light', 'difference']",
        extra_info: { input_name: "blend_mode", received_value: "sparkle" },
      },
    ]);
    expect(getErrors(validation, "4")).toMatchObject([
      { type: "required_input_missing", details: "images", extra_info: { input_name: "images" } },
    ]);
  });

  it.each(["type-mismatch", "no-outputs", "cycle"])("matches the recorded node errors (%s)", (name) => {
    const { prompt, answer } = getRecording(name);
    const validation = validate(prompt);
    expect(validation).toMatchObject({ ok: false, error: { ...answer.error?.error, details: expect.any(String) } });
    expect(validation.nodeErrors).toEqual(answer.error?.node_errors);
  });

  it("reports an unknown class only in the prompt error (unknown-class)", () => {
    expect(validate(getRecording("unknown-class").prompt)).toMatchObject({
      ok: false,
      error: {
        type: "missing_node_type",
        details: "Node ID '#1'",
        extra_info: { node_id: "1", class_type: "NoSuchNode", node_title: "NoSuchNode" },
      },
      nodeErrors: {},
    });
  });

  it("accepts a valid output and reports the other's errors (one-output-good)", () => {
    const { prompt, answer } = getRecording("one-output-good");
    expect(validate(prompt)).toMatchObject({ ok: true, outputs: ["2"], nodeErrors: answer.node_errors });
  });

  it("reports bad_linked_input on the node and input (dangling-link)", () => {
    const validation = validate(getRecording("dangling-link").prompt);
    expect(Object.keys(validation.nodeErrors)).toEqual(["1"]);
    expect(getErrors(validation, "1")).toMatchObject([
      { type: "bad_linked_input", extra_info: { input_name: "image", received_value: ["9", 0] } },
    ]);
  });
});

describe("link validation", () => {
  it.each([[["a", 0, 1]], [["a", -1]], [["a", 0.5]], [[1, 0]], [["a", 7]], [[]], [["constructor", 0]]])(
    "reports bad_linked_input for %j",
    (link) => {
      expect(getErrors(validate({ a: emptyImageNode, o: createSaveNode(link) }), "o")).toMatchObject([{ type: "bad_linked_input" }]);
    },
  );

  it("reports a malformed link with the recorded message", () => {
    const error = {
      type: "bad_linked_input",
      message: "Bad linked input, must be a length-2 list of [node_id, slot_index]",
      details: "images",
      extra_info: { input_name: "images", input_config: ["IMAGE", {}], received_value: ["a"] },
    };
    expect(getErrors(validate({ a: emptyImageNode, o: { class_type: "PreviewImage", inputs: { images: ["a"] } } }), "o")).toEqual([error]);
  });
});

describe("image name validation", () => {
  const graph = { l: { class_type: "LoadImage", inputs: { image: "cat.png" } }, o: createSaveNode(["l", 0]) };

  it("reports an unknown image on its node", () => {
    const [error] = getErrors(validate(graph), "l");
    expect(error).toMatchObject({ type: "custom_validation_failed", extra_info: { input_name: "image" } });
    expect(error?.details).toContain("cat.png");
  });

  it("resolves a known image", () => {
    expect(validate(graph, { images: ["cat.png"] })).toMatchObject({ ok: true, images: ["cat.png"] });
  });

  it("skips the images of an invalid output", () => {
    const graphWithValidOutput = { ...graph, e: emptyImageNode, p: createSaveNode(["e", 0]) };
    expect(validate(graphWithValidOutput)).toMatchObject({ ok: true, outputs: ["p"], images: [] });
  });
});

describe("prompt structure validation", () => {
  it.each([[{ a: 5 }], [{ a: null }], [{ a: { class_type: "SaveImage", inputs: [] } }]])("reports invalid_prompt for %j", (prompt) => {
    expect(validate(prompt)).toMatchObject({ ok: false, error: { type: "invalid_prompt" } });
  });

  it("reports missing_node_type with the title of a node without a class", () => {
    const createPromptWithoutClass = (title?: string) => ({ a: { inputs: {}, ...(title !== undefined && { _meta: { title } }) } });
    expect(validate(createPromptWithoutClass())).toMatchObject({
      ok: false,
      error: {
        type: "missing_node_type",
        message: expect.stringContaining("Node 'ID #a' has no class_type"),
        details: "Node ID '#a'",
        extra_info: { node_id: "a", class_type: null, node_title: null },
      },
    });
    expect(validate(createPromptWithoutClass("Sky"))).toMatchObject({
      error: { message: expect.stringContaining("Node 'Sky' has no class_type") },
    });
    expect(validate({ a: { class_type: 3 } })).toMatchObject({ error: { type: "missing_node_type" } });
  });

  it("ignores display-only fields", () => {
    for (const _meta of [null, 5, { title: 5 }, { title: "Sky", more: {} }]) {
      expect(validate({ a: { ...emptyImageNode, _meta }, o: { ...createSaveNode(["a", 0]), is_changed: ["x"] } })).toMatchObject({
        ok: true,
        outputs: ["o"],
      });
    }
  });

  it("rejects the editor format with a hint", () => {
    const validation = validate({ nodes: [], links: [], version: 0.4 });
    expect(validation).toMatchObject({ ok: false, error: { type: "invalid_prompt", message: expect.stringContaining("API format") } });
  });

  it("rejects an unknown class but ignores errors on nodes that no output needs", () => {
    const graph = { a: emptyImageNode, o: createSaveNode(["a", 0]) };
    expect(validate({ ...graph, x: { class_type: "NoSuchNode", inputs: {} } })).toMatchObject({
      ok: false,
      error: { type: "missing_node_type", extra_info: { node_id: "x" } },
    });
    expect(validate({ ...graph, x: createInvertNode(["nowhere", 0]) })).toMatchObject({ ok: true, nodeErrors: {} });
  });
});

describe("targets", () => {
  const graph = { a: emptyImageNode, o: createSaveNode(["a", 0]), p: createSaveNode(["a", 0]) };

  it("select among the outputs", () => {
    expect(validate(graph, { targets: ["p"] })).toMatchObject({ ok: true, outputs: ["p"] });
  });

  it("cause prompt_no_outputs when there is no output node", () => {
    expect(validate(graph, { targets: ["a"] })).toMatchObject({ ok: false, error: { type: "prompt_no_outputs" } });
  });
});

describe("literal validation", () => {
  it("converts a literal to the input's type", () => {
    const { graph } = validateValidPrompt({
      a: { ...emptyImageNode, inputs: { width: "12", height: 9.7, batch_size: true, color: 0 } },
      o: createSaveNode(["a", 0]),
    });
    expect(graph.a?.inputs).toEqual({ width: 12, height: 9, batch_size: 1, color: 0 });
  });

  it("truncates a literal of several megabytes in the error", () => {
    const long = "x".repeat(3_000_000);
    const prompt = {
      a: { ...emptyImageNode, inputs: { ...emptyImageNode.inputs, width: long } },
      l: { class_type: "LoadImage", inputs: { image: long } },
      b: { class_type: "ImageBlend", inputs: { image1: ["a", 0], image2: ["l", 0], blend_factor: 1, blend_mode: { deep: [long] } } },
      o: createSaveNode(["b", 0]),
    };
    expect(JSON.stringify(validate(prompt)).length).toBeLessThan(10_000);
  });

  it("drops null for an optional input", () => {
    const composite = { destination: ["a", 0], source: ["a", 0], x: 0, y: 0, resize_source: false, mask: null };
    expect(
      validate({ a: emptyImageNode, c: { class_type: "ImageCompositeMasked", inputs: composite }, o: createSaveNode(["c", 0]) }).ok,
    ).toBe(true);
  });

  it("rejects a literal for an image input", () => {
    expect(getErrors(validate({ o: createSaveNode("cat.png") }), "o")).toMatchObject([
      { type: "invalid_input_type", extra_info: { input_name: "images" } },
    ]);
  });

  it("accepts any literal for a wildcard input", () => {
    for (const source of [5, { __value__: [1, 2] }])
      expect(validate({ p: { class_type: "PreviewAny", inputs: { source } } }).ok).toBe(true);
  });
});

function validateValidPrompt(prompt: Record<string, unknown>) {
  const validation = validate(prompt);
  if (!validation.ok) throw new Error(JSON.stringify(validation));
  return validation;
}

describe("large graph validation", () => {
  const chain = (length: number, first: object) =>
    Object.fromEntries([["n0", first], ...Array.from({ length }, (_, i) => [`n${i + 1}`, createInvertNode([`n${i}`, 0])])]);

  it("accepts a chain of thousands of nodes and reports a cycle concisely", () => {
    expect(validate({ ...chain(4997, emptyImageNode), o: createSaveNode(["n4997", 0]) }).ok).toBe(true);
    const validation = validate({ ...chain(4997, createInvertNode(["n4997", 0])), o: createSaveNode(["n4997", 0]) });
    expect(getErrors(validation, "n0")).toMatchObject([{ type: "dependency_cycle" }]);
    expect(validation.nodeErrors.n0?.dependent_outputs).toEqual(["o"]);
    expect(JSON.stringify(validation).length).toBeLessThan(200_000);
  });

  it("reports thousands of cycles with shared nodes concisely", () => {
    const blend = (a: string, b: string) => ({
      class_type: "ImageBlend",
      inputs: { image1: [a, 0], image2: [b, 0], blend_factor: 0.5, blend_mode: "normal" },
    });
    for (const getLinkedId of [(i: number) => `n${i % 2}`, (i: number) => `n${Math.max(0, i - 50)}`]) {
      const cycles = Object.fromEntries(Array.from({ length: 4990 }, (_, i) => [`n${i}`, blend(`n${(i + 1) % 4990}`, getLinkedId(i))]));
      const validation = validate({ ...cycles, o: createSaveNode(["n0", 0]) });
      expect(validation.ok).toBe(false);
      expect(JSON.stringify(validation).length).toBeLessThan(2_000_000);
    }
  });

  it("reports every small cycle and its affected output", () => {
    const pairs = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [
        [`a${i}`, createInvertNode([`b${i}`, 0])] as const,
        [`b${i}`, createInvertNode([`a${i}`, 0])] as const,
        [`o${i}`, createSaveNode([`a${i}`, 0])] as const,
      ]).flat(),
    );
    const { nodeErrors } = validate({ ...pairs, e: emptyImageNode, good: createSaveNode(["e", 0]) });
    expect(new Set(Object.values(nodeErrors).flatMap((node) => node.dependent_outputs)).size).toBe(300);
  });

  it("reports every invalid node of a large prompt", () => {
    const invalidNode = { ...emptyImageNode, inputs: { ...emptyImageNode.inputs, width: -1 } };
    const manyNodes = Object.fromEntries(
      Array.from({ length: 1600 }, (_, i) => [[`e${i}`, invalidNode] as const, [`o${i}`, createSaveNode([`e${i}`, 0])] as const]).flat(),
    );
    expect(Object.keys(validate(manyNodes).nodeErrors)).toHaveLength(1600);
  });
});

describe("any prompt", () => {
  it("is accepted, or rejected with a message", () => {
    const input = fc.oneof(fc.jsonValue(), fc.tuple(fc.constantFrom("a", "b", "c", "__proto__"), fc.integer({ min: -1, max: 3 })));
    const node = fc.record({
      class_type: fc.constantFrom("EmptyImage", "ImageInvert", "ImageBlend", "SaveImage", "Wait", "PreviewAny", "LoadImage"),
      inputs: fc.dictionary(
        fc.constantFrom("image", "images", "image1", "image2", "width", "source", "anything", "seconds", "filename_prefix"),
        input,
      ),
    });
    const prompt = fc.dictionary(
      fc.constantFrom("a", "b", "c", "__proto__", "constructor"),
      fc.oneof({ weight: 9, arbitrary: node }, fc.jsonValue()),
    );
    fc.assert(
      fc.property(prompt, (value) => {
        const validation = validate(value);
        if (validation.ok) expect(validation.outputs.length).toBeGreaterThan(0);
        else expect(validation.error.message).not.toBe("");
      }),
    );
  });
});
