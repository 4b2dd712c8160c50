import { type ExecutionError } from "@/lib/contract/schemas/execution";
import { type Raster } from "../images/raster";
import { toStorageException } from "../service-error";
import {
  describeValue,
  getValueType,
  type InputField,
  isRaster,
  type NodeDefinition,
  NodeFailure,
  type NodeInputs,
  type NodeValue,
} from "./definition";
import { checkRange, writeBoolean, writeNumber } from "./literal";

export type ReceivedInput = { value: NodeValue; /** The type that its source declares. */ type: string };

export function createInputs(definition: NodeDefinition, inputs: ReadonlyMap<string, ReceivedInput>): NodeInputs {
  for (const field of definition.inputs) checkValue(field, inputs.get(field.name)?.value);

  const getInput = (name: string): NodeValue => inputs.get(name)?.value;
  const throwTypeError = (name: string, expectedType: string): never => {
    throw new NodeFailure("TypeError", `Input "${name}" needs ${expectedType} and got ${getValueType(getInput(name))}.`);
  };
  const getRaster = (name: string, channels: 1 | 3, expectedType: string): Raster => {
    const input = getInput(name);
    return isRaster(input) && input.channels === channels ? input : throwTypeError(name, expectedType);
  };
  const getText = (name: string): string => {
    const input = getInput(name);
    return typeof input === "string" ? input : throwTypeError(name, "STRING");
  };
  const getNumber = (name: string): number | bigint => {
    const input = getInput(name);
    return typeof input === "number" || typeof input === "bigint" ? input : throwTypeError(name, "a number");
  };
  return {
    image: (name) => getRaster(name, 3, "IMAGE"),
    mask: (name) => getRaster(name, 1, "MASK"),
    optionalMask: (name) => (getInput(name) === undefined ? undefined : getRaster(name, 1, "MASK")),
    number: (name) => Number(getNumber(name)),
    integer: getNumber,
    text: getText,
    flag: (name) => {
      const input = getInput(name);
      return typeof input === "boolean" ? input : throwTypeError(name, "BOOLEAN");
    },
    choice: (name, choices) => {
      const text = getText(name);
      return choices.find((choice) => choice === text) ?? throwTypeError(name, `one of ${choices.join(", ")}`);
    },
    value: getInput,
    asText: (name) => formatInput(inputs.get(name)),
  };
}

function checkValue(field: InputField, value: NodeValue): void {
  const rangeError = checkRange(field, value);
  if (rangeError) throw new NodeFailure("ValueError", `Input "${field.name}": ${rangeError.message}.`);
  if (field.type === "INT" && typeof value === "number" && !Number.isInteger(value)) {
    throw new NodeFailure("ValueError", `Input "${field.name}": ${value} is not a whole number.`);
  }
}

function formatInput(input: ReceivedInput | undefined): string {
  const value = input?.value;
  if (typeof value === "number") return writeNumber(input?.type ?? "*", value);
  if (typeof value === "boolean") return writeBoolean(value);
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
  const storageException = toStorageException(error);
  const type = storageException?.type ?? getExceptionType(error);
  const message = shorten(storageException?.message ?? error.message);
  const name = node.title === undefined ? node.classType : `${node.classType} "${shorten(node.title)}"`;
  const firstLine = `In node ${node.id} (${name}):`;
  return {
    node_id: node.id,
    node_type: node.classType,
    exception_type: type,
    exception_message: message,
    traceback: [firstLine, ...getStackLines(error), `${type}: ${message}`],
    current_inputs: Object.fromEntries([...node.inputs].map(([input, { value }]) => [input, [toReportValue(value)]])),
    current_outputs: Object.fromEntries([...node.nodeValues].slice(0, MAX_OUTPUTS).map(([id, values]) => [id, values.map(toReportValue)])),
  };
}

function getExceptionType(error: Error): string {
  if (error instanceof NodeFailure) return error.type;
  if (error instanceof RangeError && /allocation|array length/i.test(error.message)) return "OOMError";
  return error.name;
}

function toReportValue(value: NodeValue): unknown {
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return value;
  return shorten(describeValue(value));
}

function shorten(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
}

function getStackLines(error: Error): string[] {
  const lines = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return lines.slice(0, 10).map((line) => shorten(line).replace(/(file:\/\/)?\/[^\s()]*\/([^/\s()]+)/g, "$2"));
}
