// Refusals before queueing, in a real server's format.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { empty, getErrors, invert, save, validate } from "./prompts";

type Recorded = {
  prompt: Record<string, unknown>;
  answer: { error?: { error: object; node_errors: Record<string, unknown> }; node_errors?: object };
};
const recorded: Record<string, Recorded> = JSON.parse(readFileSync("tests/fixtures/golden/refusals.json", "utf8"));

function recording(name: string): Recorded {
  const recordedCase = recorded[name];
  if (!recordedCase) throw new Error(`Nothing was recorded as ${name}.`);
  return recordedCase;
}

describe("a refusal has the recorded shape", () => {
  it("bad-graph: reports wrong inputs of reached nodes with the allowed values", () => {
    const refused = validate(recording("bad-graph").prompt);
    expect(refused).toMatchObject({
      ok: false,
      error: { type: "prompt_outputs_failed_validation", message: "Prompt outputs failed validation" },
    });
    expect(refused.nodeErrors).toMatchObject({
      "1": {
        class_type: "EmptyImage",
        dependent_outputs: ["3"],
        errors: [
          {
            type: "value_smaller_than_min",
            message: "Value -5 smaller than min of 1",
            details: "width",
            extra_info: { input_name: "width", input_config: ["INT", { default: 512, min: 1, max: 16384, step: 1 }], received_value: -5 },
          },
          {
            type: "invalid_input_type",
            message: "Failed to convert an input value to a INT value",
            details: expect.stringMatching(/^height, tall, /),
            extra_info: { input_name: "height", received_value: "tall", exception_message: expect.any(String) },
          },
        ],
      },
      "2": {
        class_type: "ImageBlend",
        errors: [
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
        ],
      },
      "4": {
        class_type: "SaveImage",
        errors: [{ type: "required_input_missing", details: "images", extra_info: { input_name: "images" } }],
      },
    });
  });

  it.each(["type-mismatch", "no-outputs", "cycle"])("%s: matches the recorded node errors", (name) => {
    const { prompt, answer } = recording(name);
    const refused = validate(prompt);
    expect(refused).toMatchObject({ ok: false, error: { ...answer.error?.error, details: expect.any(String) } });
    expect(refused.nodeErrors).toEqual(answer.error?.node_errors);
  });

  it("unknown-class: names the class and node in the error only", () => {
    expect(validate(recording("unknown-class").prompt)).toMatchObject({
      ok: false,
      error: {
        type: "missing_node_type",
        details: "Node ID '#1'",
        extra_info: { node_id: "1", class_type: "NoSuchNode", node_title: "NoSuchNode" },
      },
      nodeErrors: {},
    });
  });

  it("one-output-good: accepts the good output with the bad one's errors", () => {
    const { prompt, answer } = recording("one-output-good");
    expect(validate(prompt)).toMatchObject({ ok: true, outputs: ["2"], nodeErrors: answer.node_errors });
  });

  it("dangling-link: reports bad_linked_input on the node and input", () => {
    const refused = validate(recording("dangling-link").prompt);
    expect(Object.keys(refused.nodeErrors)).toEqual(["1"]);
    expect(getErrors(refused, "1")).toMatchObject([
      { type: "bad_linked_input", extra_info: { input_name: "image", received_value: ["9", 0] } },
    ]);
  });
});

describe("a link", () => {
  it.each([[["a"]], [["a", 0, 1]], [["a", -1]], [["a", 0.5]], [[1, 0]], [["a", 7]], [[]]])("%j is bad_linked_input", (link) => {
    expect(getErrors(validate({ a: empty, o: save(link) }), "o")).toMatchObject([{ type: "bad_linked_input" }]);
  });

  it("of another shape is reported in the interface's words", () => {
    expect(getErrors(validate({ a: empty, o: { class_type: "PreviewImage", inputs: { images: ["a"] } } }), "o")).toEqual([
      {
        type: "bad_linked_input",
        message: "Bad linked input, must be a length-2 list of [node_id, slot_index]",
        details: "images",
        extra_info: { input_name: "images", input_config: ["IMAGE", {}], received_value: ["a"] },
      },
    ]);
  });

  it("reports a name inherited by every object as dangling", () => {
    expect(getErrors(validate({ o: save(["constructor", 0]) }), "o")).toMatchObject([{ type: "bad_linked_input" }]);
  });
});

describe("an image name", () => {
  const graph = { l: { class_type: "LoadImage", inputs: { image: "cat.png" } }, o: save(["l", 0]) };

  it("is reported on its node when unknown", () => {
    const [error] = getErrors(validate(graph), "l");
    expect(error).toMatchObject({ type: "custom_validation_failed", extra_info: { input_name: "image" } });
    expect(error?.details).toContain("cat.png");
  });

  it("is resolved when known, so that it can be pinned", () => {
    expect(validate(graph, { images: ["cat.png"] })).toMatchObject({ ok: true, images: ["cat.png"] });
  });

  it("is not resolved behind a bad output", () => {
    const both = { ...graph, e: empty, p: save(["e", 0]) };
    expect(validate(both)).toMatchObject({ ok: true, outputs: ["p"], images: [] });
  });
});

describe("the shape of a prompt", () => {
  it.each([[{ a: 5 }], [{ a: null }], [{ a: { class_type: "SaveImage", inputs: [] } }]])("%j is an invalid_prompt", (prompt) => {
    expect(validate(prompt)).toMatchObject({ ok: false, error: { type: "invalid_prompt" } });
  });

  it("returns missing_node_type with the title for a node without a class", () => {
    const nameless = (title?: string) => ({ a: { inputs: {}, ...(title !== undefined && { _meta: { title } }) } });
    expect(validate(nameless())).toMatchObject({
      ok: false,
      error: {
        type: "missing_node_type",
        message: expect.stringContaining("Node 'ID #a' has no class_type"),
        details: "Node ID '#a'",
        extra_info: { node_id: "a", class_type: null, node_title: null },
      },
    });
    expect(validate(nameless("Sky"))).toMatchObject({ error: { message: expect.stringContaining("Node 'Sky' has no class_type") } });
    expect(validate({ a: { class_type: 3 } })).toMatchObject({ error: { type: "missing_node_type" } });
  });

  it("doesn't depend on display-only fields", () => {
    for (const _meta of [null, 5, { title: 5 }, { title: null }, { title: "Sky", more: {} }]) {
      expect(validate({ a: { ...empty, _meta }, o: { ...save(["a", 0]), is_changed: ["x"] } })).toMatchObject({ ok: true, outputs: ["o"] });
    }
  });

  it("reports the editor's format", () => {
    const refused = validate({ nodes: [], links: [], version: 0.4 });
    expect(refused).toMatchObject({ ok: false, error: { type: "invalid_prompt", message: expect.stringContaining("API format") } });
  });

  it("refuses a missing class even if no output needs it", () => {
    const prompt = { a: empty, o: save(["a", 0]), x: { class_type: "NoSuchNode", inputs: {} } };
    expect(validate(prompt)).toMatchObject({ ok: false, error: { type: "missing_node_type", extra_info: { node_id: "x" } } });
  });

  it("accepts errors on nodes that no output needs", () => {
    expect(validate({ a: empty, o: save(["a", 0]), x: invert(["nowhere", 0]) })).toMatchObject({ ok: true, nodeErrors: {} });
  });
});

describe("targets", () => {
  const graph = { a: empty, o: save(["a", 0]), p: save(["a", 0]) };

  it("choose among the outputs", () => {
    expect(validate(graph, { targets: ["p"] })).toMatchObject({ ok: true, outputs: ["p"] });
  });

  it("leave a prompt without outputs unless they are outputs", () => {
    expect(validate(graph, { targets: ["a"] })).toMatchObject({ ok: false, error: { type: "prompt_no_outputs" } });
  });
});

describe("a literal", () => {
  it("is converted to the node's type", () => {
    const { graph } = accepted({ a: { ...empty, inputs: { width: "12", height: 9.7, batch_size: true, color: 0 } }, o: save(["a", 0]) });
    expect(graph.a?.inputs).toEqual({ width: 12, height: 9, batch_size: 1, color: 0 });
  });

  it("is cut in the refusal when megabytes long", () => {
    const long = "x".repeat(3_000_000);
    const prompt = {
      a: { ...empty, inputs: { ...empty.inputs, width: long } },
      l: { class_type: "LoadImage", inputs: { image: long } },
      b: { class_type: "ImageBlend", inputs: { image1: ["a", 0], image2: ["l", 0], blend_factor: 1, blend_mode: { deep: [long] } } },
      o: save(["b", 0]),
    };
    expect(JSON.stringify(validate(prompt)).length).toBeLessThan(10_000);
  });

  it("drops null for an optional input", () => {
    const composite = { destination: ["a", 0], source: ["a", 0], x: 0, y: 0, resize_source: false, mask: null };
    expect(validate({ a: empty, c: { class_type: "ImageCompositeMasked", inputs: composite }, o: save(["c", 0]) }).ok).toBe(true);
  });

  it("is refused for an image input", () => {
    expect(getErrors(validate({ o: save("cat.png") }), "o")).toMatchObject([
      { type: "invalid_input_type", extra_info: { input_name: "images" } },
    ]);
  });

  it("accepts anything for a wildcard input", () => {
    expect(validate({ p: { class_type: "PreviewAny", inputs: { source: 5 } } }).ok).toBe(true);
    expect(validate({ p: { class_type: "PreviewAny", inputs: { source: { __value__: [1, 2] } } } }).ok).toBe(true);
  });
});

function accepted(prompt: Record<string, unknown>) {
  const validation = validate(prompt);
  if (!validation.ok) throw new Error(JSON.stringify(validation));
  return validation;
}

describe("a large graph", () => {
  const chain = (length: number, first: object) =>
    Object.fromEntries([["n0", first], ...Array.from({ length }, (_, i) => [`n${i + 1}`, invert([`n${i}`, 0])])]);

  it("checks 4,999 nodes in a row without a stack overflow", () => {
    expect(validate({ ...chain(4997, empty), o: save(["n4997", 0]) }).ok).toBe(true);
  });

  it("refuses one loop of thousands in few words", () => {
    const refused = validate({ ...chain(4997, invert(["n4997", 0])), o: save(["n4997", 0]) });
    expect(getErrors(refused, "n0")).toMatchObject([{ type: "dependency_cycle" }]);
    expect(refused.nodeErrors.n0?.dependent_outputs).toEqual(["o"]);
    expect(JSON.stringify(refused).length).toBeLessThan(200_000);
  });

  it("refuses thousands of loops with shared nodes in few words", () => {
    const blend = (a: string, b: string) => ({
      class_type: "ImageBlend",
      inputs: { image1: [a, 0], image2: [b, 0], blend_factor: 0.5, blend_mode: "normal" },
    });
    for (const back of [(i: number) => `n${i % 2}`, (i: number) => `n${Math.max(0, i - 50)}`]) {
      const loops = Object.fromEntries(Array.from({ length: 4990 }, (_, i) => [`n${i}`, blend(`n${(i + 1) % 4990}`, back(i))]));
      const refused = validate({ ...loops, o: save(["n0", 0]) });
      expect(refused.ok).toBe(false);
      expect(JSON.stringify(refused).length).toBeLessThan(2_000_000);
    }
  });

  it("names every one of many small loops and the affected output", () => {
    const pairs = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [
        [`a${i}`, invert([`b${i}`, 0])] as const,
        [`b${i}`, invert([`a${i}`, 0])] as const,
        [`o${i}`, save([`a${i}`, 0])] as const,
      ]).flat(),
    );
    const { nodeErrors } = validate({ ...pairs, e: empty, good: save(["e", 0]) });
    expect(new Set(Object.values(nodeErrors).flatMap((node) => node.dependent_outputs)).size).toBe(300);
  });

  it("names every one of thousands of bad nodes", () => {
    const bad = { ...empty, inputs: { ...empty.inputs, width: -1 } };
    const manyNodes = Object.fromEntries(
      Array.from({ length: 1600 }, (_, i) => [
        [`e${i}`, bad] as const,
        [`i${i}`, invert([`e${i}`, 0])] as const,
        [`o${i}`, save([`i${i}`, 0])] as const,
      ]).flat(),
    );
    expect(Object.keys(validate(manyNodes).nodeErrors)).toHaveLength(1600);
  });
});

describe("any prompt", () => {
  it("is accepted, or refused with a type and a message", () => {
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
