// Nodes for numbers, texts and booleans, and one that shows any value as text.

import { type InputField, type NodeDefinition } from "../definition";
import { field, output } from "./fields";

/** As wide as in the family: beyond what a number holds. */
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
