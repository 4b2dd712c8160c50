import { field, type InputField, type NodeDefinition, NodeFailure, optional, output } from "../definition";

const BOUND = 2n ** 63n - 1n;

function primitive(type: string, displayName: string, input: InputField, read: NodeDefinition["run"]): NodeDefinition {
  const word = type[0] + type.slice(1).toLowerCase();
  return {
    name: `Primitive${word}`,
    displayName,
    description: "Holds one value for other nodes.",
    category: "utilities/primitive",
    inputs: [input],
    outputs: [output(type)],
    run: read,
  };
}

export const primitiveInt = primitive(
  "INT",
  "Int",
  field("INT", "value", { min: -BOUND, max: BOUND, control_after_generate: "fixed" }),
  (inputs) => ({ values: [inputs.integer("value")] }),
);

export const primitiveFloat = primitive("FLOAT", "Float", field("FLOAT", "value", { min: -BOUND, max: BOUND, step: 0.1 }), (inputs) => ({
  values: [inputs.number("value")],
}));

export const primitiveString = primitive("STRING", "Text", field("STRING", "value", { multiline: false }), (inputs) => ({
  values: [inputs.text("value")],
}));

export const primitiveBoolean = primitive("BOOLEAN", "Boolean", field("BOOLEAN", "value", {}), (inputs) => ({
  values: [inputs.flag("value")],
}));

export const stringConcatenate: NodeDefinition = {
  name: "StringConcatenate",
  displayName: "Concatenate Text",
  description: "Joins two texts with a delimiter between them.",
  category: "text",
  inputs: [
    field("STRING", "string_a", { multiline: true }),
    field("STRING", "string_b", { multiline: true }),
    field("STRING", "delimiter", { default: "", multiline: false }),
  ],
  outputs: [output("STRING")],
  run: (inputs) => ({ values: [[inputs.text("string_a"), inputs.text("string_b")].join(inputs.text("delimiter"))] }),
};

export const previewAny: NodeDefinition = {
  name: "PreviewAny",
  displayName: "Preview as Text",
  description: "Shows a value as text.",
  category: "utilities",
  inputs: [field("*", "source", {})],
  outputs: [output("STRING")],
  isOutput: true,
  run(inputs) {
    const text = inputs.printed("source");
    return { values: [text], texts: [text] };
  },
};

const TICK_MS = 100;

export const wait: NodeDefinition = {
  name: "Wait",
  displayName: "Wait",
  description: "Lets time pass, then hands on what it was given.",
  category: "practice",
  inputs: [field("FLOAT", "seconds", { default: 1, min: 0, max: 3600, step: 0.1 }), optional(field("*", "anything", {}))],
  outputs: [output("*", "anything")],
  cacheable: false,
  async run(inputs, context) {
    const total = inputs.number("seconds") * 1000;
    const start = performance.now();
    for (let past = 0; past < total; past = performance.now() - start) {
      context.tick(past / total);
      await context.wait(Math.min(TICK_MS, total - past));
    }
    return { values: [inputs.anything("anything")] };
  },
};

export const fail: NodeDefinition = {
  name: "Fail",
  displayName: "Fail",
  description: "Ends the job with an error that carries the message.",
  category: "practice",
  inputs: [field("STRING", "message", { default: "This node always fails." }), optional(field("*", "anything", {}))],
  outputs: [output("*", "anything")],
  cacheable: false,
  run(inputs) {
    throw new NodeFailure("RuntimeError", inputs.text("message"));
  },
};
