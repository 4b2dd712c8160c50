// The structured error of a run, as the interface shows it: the node, the kind of error, the traceback, what the node was given.
// Every text in it is short, whatever a node was given. Must never: show a path of this machine or a sample of an image.

import { type ExecutionError } from "@/lib/contract/schemas/execution";
import { asStorageException } from "../storage-failure";
import { NodeFailure } from "./definition";
import { type GivenInput } from "./inputs";
import { describeValue, type NodeValue } from "./values";

const LONGEST_TEXT = 1000;
const MOST_OUTPUTS = 50;

export type FailedNode = {
  id: string;
  classType: string;
  title?: string;
  given: ReadonlyMap<string, GivenInput>;
  kept: Iterable<[string, readonly NodeValue[]]>;
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
    current_inputs: Object.fromEntries([...node.given].map(([input, { value }]) => [input, [shown(value)]])),
    current_outputs: Object.fromEntries([...node.kept].slice(0, MOST_OUTPUTS).map(([id, values]) => [id, values.map(shown)])),
  };
}

function exceptionType(error: Error): string {
  if (error instanceof NodeFailure) return error.type;
  if (error instanceof RangeError && /allocation|array length/i.test(error.message)) return "OOMError";
  return error.name;
}

function shown(value: NodeValue): unknown {
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") return value;
  return cut(describeValue(value));
}

function cut(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}

function stackLines(error: Error): string[] {
  const lines = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return lines.slice(0, 10).map((line) => cut(line.replace(/(file:\/\/)?\/[^\s()]*\/([^/\s()]+)/g, "$2")));
}
