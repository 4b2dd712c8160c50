import { createField, createOutput, type InputField, isRaster, type NodeDefinition, NodeFailure, toOptional } from "../definition";

const MAX_INT64 = 2n ** 63n - 1n;

function createPrimitive(type: string, displayName: string, input: InputField, run: NodeDefinition["run"]): NodeDefinition {
  const typeName = type[0] + type.slice(1).toLowerCase();
  return {
    name: `Primitive${typeName}`,
    displayName,
    description: "Provides one value to other nodes.",
    category: "utilities/primitive",
    inputs: [input],
    outputs: [createOutput(type)],
    run,
  };
}

export const primitiveInt = createPrimitive(
  "INT",
  "Int",
  createField("INT", "value", { min: -MAX_INT64, max: MAX_INT64, control_after_generate: "fixed" }),
  (inputs) => ({ values: [inputs.integer("value")] }),
);

export const primitiveFloat = createPrimitive(
  "FLOAT",
  "Float",
  createField("FLOAT", "value", { min: -MAX_INT64, max: MAX_INT64, step: 0.1 }),
  (inputs) => ({
    values: [inputs.number("value")],
  }),
);

export const primitiveString = createPrimitive("STRING", "Text", createField("STRING", "value", { multiline: false }), (inputs) => ({
  values: [inputs.text("value")],
}));

export const primitiveBoolean = createPrimitive("BOOLEAN", "Boolean", createField("BOOLEAN", "value", {}), (inputs) => ({
  values: [inputs.flag("value")],
}));

export const stringConcatenate: NodeDefinition = {
  name: "StringConcatenate",
  displayName: "Concatenate Text",
  description: "Joins two texts with a delimiter between them.",
  category: "text",
  inputs: [
    createField("STRING", "string_a", { multiline: true }),
    createField("STRING", "string_b", { multiline: true }),
    createField("STRING", "delimiter", { default: "", multiline: false }),
  ],
  outputs: [createOutput("STRING")],
  run: (inputs) => ({ values: [[inputs.text("string_a"), inputs.text("string_b")].join(inputs.text("delimiter"))] }),
};

export const previewAny: NodeDefinition = {
  name: "PreviewAny",
  displayName: "Preview as Text",
  description: "Shows a value as text.",
  category: "utilities",
  inputs: [createField("*", "source", {})],
  outputs: [createOutput("STRING")],
  isOutput: true,
  run(inputs) {
    const text = inputs.asText("source");
    return { values: [text], texts: [text] };
  },
};

const TICK_MS = 100;

export const waitNode: NodeDefinition = {
  name: "Wait",
  displayName: "Wait",
  description: "Waits, then returns its input.",
  category: "practice",
  inputs: [createField("FLOAT", "seconds", { default: 1, min: 0, max: 3600, step: 0.1 }), toOptional(createField("*", "anything", {}))],
  outputs: [createOutput("*", "anything")],
  cacheable: false,
  async run(inputs, context) {
    const value = inputs.value("anything");
    const totalMs = inputs.number("seconds") * 1000;
    if (isRaster(value)) context.tick(0, value);
    const startMs = performance.now();
    for (let elapsedMs = 0; elapsedMs < totalMs; elapsedMs = performance.now() - startMs) {
      context.tick(elapsedMs / totalMs);
      await context.wait(Math.min(TICK_MS, totalMs - elapsedMs));
    }
    return { values: [value] };
  },
};

export const failNode: NodeDefinition = {
  name: "Fail",
  displayName: "Fail",
  description: "Fails the job with the message.",
  category: "practice",
  inputs: [createField("STRING", "message", { default: "This node always fails." }), toOptional(createField("*", "anything", {}))],
  outputs: [createOutput("*", "anything")],
  cacheable: false,
  run(inputs) {
    throw new NodeFailure("RuntimeError", inputs.text("message"));
  },
};
