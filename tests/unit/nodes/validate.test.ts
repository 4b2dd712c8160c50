// Refusals before queueing, in the shape of a real server's answers.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { empty, errorsOf, invert, save, validate } from "./prompts";

type Recorded = {
  prompt: Record<string, unknown>;
  answer: { error?: { error: object; node_errors: Record<string, unknown> }; node_errors?: object };
};
const recorded: Record<string, Recorded> = JSON.parse(readFileSync("tests/fixtures/golden/refusals.json", "utf8"));

function recording(name: string): Recorded {
  const found = recorded[name];
  if (!found) throw new Error(`Nothing was recorded as ${name}.`);
  return found;
}

describe("a refusal has the recorded shape", () => {
  it("bad-graph: every wrong input of every reached node, with what was received and what is allowed", () => {
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

  it.each(["type-mismatch", "no-outputs", "cycle"])("%s: as recorded, to the letter of the node errors", (name) => {
    const { prompt, answer } = recording(name);
    const refused = validate(prompt);
    expect(refused).toMatchObject({ ok: false, error: { ...answer.error?.error, details: expect.any(String) } });
    expect(refused.nodeErrors).toEqual(answer.error?.node_errors);
  });

  it("unknown-class: the class and its node in the error, nothing on the nodes", () => {
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

  it("one-output-good: accepted for the good output, with the errors of the bad one", () => {
    const { prompt, answer } = recording("one-output-good");
    expect(validate(prompt)).toMatchObject({ ok: true, outputs: ["2"], nodeErrors: answer.node_errors });
  });

  it("dangling-link: bad_linked_input on the node and input that holds it", () => {
    const refused = validate(recording("dangling-link").prompt);
    expect(Object.keys(refused.nodeErrors)).toEqual(["1"]);
    expect(errorsOf(refused, "1")).toMatchObject([
      { type: "bad_linked_input", extra_info: { input_name: "image", received_value: ["9", 0] } },
    ]);
  });
});

describe("a link", () => {
  it.each([[["a"]], [["a", 0, 1]], [["a", -1]], [["a", 0.5]], [[1, 0]], [["a", 7]], [[]]])("%j is bad_linked_input", (link) => {
    expect(errorsOf(validate({ a: empty, o: save(link) }), "o")).toMatchObject([{ type: "bad_linked_input" }]);
  });

  it("of another shape is reported in the family's words, with a configuration of two parts", () => {
    expect(errorsOf(validate({ a: empty, o: { class_type: "PreviewImage", inputs: { images: ["a"] } } }), "o")).toEqual([
      {
        type: "bad_linked_input",
        message: "Bad linked input, must be a length-2 list of [node_id, slot_index]",
        details: "images",
        extra_info: { input_name: "images", input_config: ["IMAGE", {}], received_value: ["a"] },
      },
    ]);
  });

  it("to a name that every object has is dangling too", () => {
    expect(errorsOf(validate({ o: save(["constructor", 0]) }), "o")).toMatchObject([{ type: "bad_linked_input" }]);
  });
});

describe("an image name", () => {
  const graph = { l: { class_type: "LoadImage", inputs: { image: "cat.png" } }, o: save(["l", 0]) };

  it("that means nothing is reported on the node, with the name", () => {
    const [error] = errorsOf(validate(graph), "l");
    expect(error).toMatchObject({ type: "custom_validation_failed", extra_info: { input_name: "image" } });
    expect(error?.details).toContain("cat.png");
  });

  it("that means something is answered, so that it can be pinned", () => {
    expect(validate(graph, { images: ["cat.png"] })).toMatchObject({ ok: true, images: ["cat.png"] });
  });

  it("behind a bad output is not asked for", () => {
    const both = { ...graph, e: empty, p: save(["e", 0]) };
    expect(validate(both)).toMatchObject({ ok: true, outputs: ["p"], images: [] });
  });
});

describe("the shape of a prompt", () => {
  it.each([[{ a: 5 }], [{ a: null }], [{ a: { class_type: "SaveImage", inputs: [] } }]])("%j is an invalid_prompt", (prompt) => {
    expect(validate(prompt)).toMatchObject({ ok: false, error: { type: "invalid_prompt" } });
  });

  it("without a class on a node is missing_node_type, with the title that the node has", () => {
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

  it("does not depend on what is meant for people alone", () => {
    for (const _meta of [null, 5, { title: 5 }, { title: null }, { title: "Sky", more: {} }]) {
      expect(validate({ a: { ...empty, _meta }, o: { ...save(["a", 0]), is_changed: ["x"] } })).toMatchObject({ ok: true, outputs: ["o"] });
    }
  });

  it("in the editor's format is reported as that", () => {
    const refused = validate({ nodes: [], links: [], version: 0.4 });
    expect(refused).toMatchObject({ ok: false, error: { type: "invalid_prompt", message: expect.stringContaining("API format") } });
  });

  it("with a missing class that no output reaches is still refused", () => {
    const prompt = { a: empty, o: save(["a", 0]), x: { class_type: "NoSuchNode", inputs: {} } };
    expect(validate(prompt)).toMatchObject({ ok: false, error: { type: "missing_node_type", extra_info: { node_id: "x" } } });
  });

  it("with errors on nodes that no output reaches is accepted", () => {
    expect(validate({ a: empty, o: save(["a", 0]), x: invert(["nowhere", 0]) })).toMatchObject({ ok: true, nodeErrors: {} });
  });
});

describe("targets", () => {
  const graph = { a: empty, o: save(["a", 0]), p: save(["a", 0]) };

  it("choose among the outputs", () => {
    expect(validate(graph, { targets: ["p"] })).toMatchObject({ ok: true, outputs: ["p"] });
  });

  it("that are no outputs leave a prompt without outputs", () => {
    expect(validate(graph, { targets: ["a"] })).toMatchObject({ ok: false, error: { type: "prompt_no_outputs" } });
  });
});

describe("a literal", () => {
  it("is handed on as the node wants it", () => {
    const { graph } = accepted({ a: { ...empty, inputs: { width: "12", height: 9.7, batch_size: true, color: 0 } }, o: save(["a", 0]) });
    expect(graph.a?.inputs).toEqual({ width: 12, height: 9, batch_size: 1, color: 0 });
  });

  it("of megabytes is cut in the refusal", () => {
    const long = "x".repeat(3_000_000);
    const prompt = {
      a: { ...empty, inputs: { ...empty.inputs, width: long } },
      l: { class_type: "LoadImage", inputs: { image: long } },
      b: { class_type: "ImageBlend", inputs: { image1: ["a", 0], image2: ["l", 0], blend_factor: 1, blend_mode: { deep: [long] } } },
      o: save(["b", 0]),
    };
    expect(JSON.stringify(validate(prompt)).length).toBeLessThan(10_000);
  });

  it("of null where an input may be left out is left out", () => {
    const laid = { destination: ["a", 0], source: ["a", 0], x: 0, y: 0, resize_source: false, mask: null };
    expect(validate({ a: empty, c: { class_type: "ImageCompositeMasked", inputs: laid }, o: save(["c", 0]) }).ok).toBe(true);
  });

  it("where an image belongs is refused", () => {
    expect(errorsOf(validate({ o: save("cat.png") }), "o")).toMatchObject([
      { type: "invalid_input_type", extra_info: { input_name: "images" } },
    ]);
  });

  it("for anything may be anything", () => {
    expect(validate({ p: { class_type: "PreviewAny", inputs: { source: 5 } } }).ok).toBe(true);
    expect(validate({ p: { class_type: "PreviewAny", inputs: { source: { __value__: [1, 2] } } } }).ok).toBe(true);
  });
});

function accepted(prompt: Record<string, unknown>) {
  const validation = validate(prompt);
  if (!validation.ok) throw new Error(JSON.stringify(validation));
  return validation;
}
