// The inputs of a node while it runs, read by name and type. Values that came along a link from "anything" are checked here, and linked
// numbers against their range, since this cannot be known before the run.

import { type Raster } from "../images/raster";
import { type InputField, type NodeDefinition, NodeFailure, type NodeInputs } from "./definition";
import { checkRange, writeNumber, writeTruth } from "./literal";
import { describeValue, isRaster, type NodeValue, typeOf } from "./values";

export type GivenInput = { value: NodeValue; /** The type that its source declares. */ type: string };

export function createInputs(definition: NodeDefinition, given: ReadonlyMap<string, GivenInput>): NodeInputs {
  for (const field of definition.inputs) checkGiven(field, given.get(field.name)?.value);

  const value = (name: string): NodeValue => given.get(name)?.value;
  const wrong = (name: string, wanted: string): never => {
    throw new NodeFailure("TypeError", `Input "${name}" needs ${wanted} and got ${typeOf(value(name))}.`);
  };
  const raster = (name: string, channels: 1 | 3, wanted: string): Raster => {
    const found = value(name);
    return isRaster(found) && found.channels === channels ? found : wrong(name, wanted);
  };
  const text = (name: string): string => {
    const found = value(name);
    return typeof found === "string" ? found : wrong(name, "STRING");
  };
  const numeric = (name: string): number | bigint => {
    const found = value(name);
    return typeof found === "number" || typeof found === "bigint" ? found : wrong(name, "a number");
  };
  return {
    image: (name) => raster(name, 3, "IMAGE"),
    mask: (name) => raster(name, 1, "MASK"),
    optionalMask: (name) => (value(name) === undefined ? undefined : raster(name, 1, "MASK")),
    number: (name) => Number(numeric(name)),
    integer: numeric,
    text,
    flag: (name) => {
      const found = value(name);
      return typeof found === "boolean" ? found : wrong(name, "BOOLEAN");
    },
    choice: (name, choices) => {
      const word = text(name);
      return choices.find((choice) => choice === word) ?? wrong(name, `one of ${choices.join(", ")}`);
    },
    anything: value,
    printed: (name) => printed(given.get(name)),
  };
}

function checkGiven(field: InputField, value: NodeValue): void {
  const problem = checkRange(field, value);
  if (problem) throw new NodeFailure("ValueError", `Input "${field.name}": ${problem.message}.`);
  if (field.type === "INT" && typeof value === "number" && !Number.isInteger(value)) {
    throw new NodeFailure("ValueError", `Input "${field.name}": ${value} is not a whole number.`);
  }
}

function printed(given: GivenInput | undefined): string {
  const value = given?.value;
  if (typeof value === "number") return writeNumber(given?.type ?? "*", value);
  if (typeof value === "boolean") return writeTruth(value);
  return describeValue(value);
}
