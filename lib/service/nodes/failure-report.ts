import { type ExecutionError } from "@/lib/contract/schemas/execution";
import { type Raster } from "../images/raster";
import { asStorageException } from "../service-error";
import {
  describeValue,
  type InputField,
  isRaster,
  type NodeDefinition,
  NodeFailure,
  type NodeInputs,
  type NodeValue,
  typeOf,
} from "./definition";
import { checkRange, writeNumber, writeTruth } from "./literal";

export type ReceivedInput = { value: NodeValue; /** The type that its source declares. */ type: string };

export function createInputs(definition: NodeDefinition, inputs: ReadonlyMap<string, ReceivedInput>): NodeInputs {
  for (const field of definition.inputs) checkGiven(field, inputs.get(field.name)?.value);

  const value = (name: string): NodeValue => inputs.get(name)?.value;
  const wrong = (name: string, expectedType: string): never => {
    throw new NodeFailure("TypeError", `Input "${name}" needs ${expectedType} and got ${typeOf(value(name))}.`);
  };
  const raster = (name: string, channels: 1 | 3, expectedType: string): Raster => {
    const input = value(name);
    return isRaster(input) && input.channels === channels ? input : wrong(name, expectedType);
  };
  const text = (name: string): string => {
    const input = value(name);
    return typeof input === "string" ? input : wrong(name, "STRING");
  };
  const numeric = (name: string): number | bigint => {
    const input = value(name);
    return typeof input === "number" || typeof input === "bigint" ? input : wrong(name, "a number");
  };
  return {
    image: (name) => raster(name, 3, "IMAGE"),
    mask: (name) => raster(name, 1, "MASK"),
    optionalMask: (name) => (value(name) === undefined ? undefined : raster(name, 1, "MASK")),
    number: (name) => Number(numeric(name)),
    integer: numeric,
    text,
    flag: (name) => {
      const input = value(name);
      return typeof input === "boolean" ? input : wrong(name, "BOOLEAN");
    },
    choice: (name, choices) => {
      const word = text(name);
      return choices.find((choice) => choice === word) ?? wrong(name, `one of ${choices.join(", ")}`);
    },
    anything: value,
    printed: (name) => printed(inputs.get(name)),
  };
}

function checkGiven(field: InputField, value: NodeValue): void {
  const problem = checkRange(field, value);
  if (problem) throw new NodeFailure("ValueError", `Input "${field.name}": ${problem.message}.`);
  if (field.type === "INT" && typeof value === "number" && !Number.isInteger(value)) {
    throw new NodeFailure("ValueError", `Input "${field.name}": ${value} is not a whole number.`);
  }
}

function printed(input: ReceivedInput | undefined): string {
  const value = input?.value;
  if (typeof value === "number") return writeNumber(input?.type ?? "*", value);
  if (typeof value === "boolean") return writeTruth(value);
  return describeValue(value);
}

const MAX_TEXT_LENGTH = 1000;
const MAX_OUTPUTS = 50;

export type FailedNode = {
  id: string;
  classType: string;
  title?: string;
  inputs: ReadonlyMap<string, ReceivedInput>;
  nodeValues: Iterable<[string, readonly NodeValue[]]>;
};

export function toExecutionError(cause: unknown, node: FailedNode): ExecutionError {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  const storage = asStorageException(error);
  const type = storage?.type ?? exceptionType(error);
  const message = cut(storage?.message ?? error.message);
  const name = node.title === undefined ? node.classType : `${node.classType} "${cut(node.title)}"`;
  const first = `In node ${node.id} (${name}):`;
  return {
    node_id: node.id,
    node_type: node.classType,
    exception_type: type,
    exception_message: message,
    traceback: [first, ...stackLines(error), `${type}: ${message}`],
    current_inputs: Object.fromEntries([...node.inputs].map(([input, { value }]) => [input, [toReportValue(value)]])),
    current_outputs: Object.fromEntries([...node.nodeValues].slice(0, MAX_OUTPUTS).map(([id, values]) => [id, values.map(toReportValue)])),
  };
}

function exceptionType(error: Error): string {
  if (error instanceof NodeFailure) return error.type;
  if (error instanceof RangeError && /allocation|array length/i.test(error.message)) return "OOMError";
  return error.name;
}

function toReportValue(value: NodeValue): unknown {
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return value;
  return cut(describeValue(value));
}

function cut(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
}

function stackLines(error: Error): string[] {
  const lines = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return lines.slice(0, 10).map((line) => cut(line.replace(/(file:\/\/)?\/[^\s()]*\/([^/\s()]+)/g, "$2")));
}
