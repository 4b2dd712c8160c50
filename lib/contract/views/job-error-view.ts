// Why a job failed, from any view that says it: the structured error, the timeline's last message, or the status view's text.
// Guarantees: never throws; recognises a late validation failure (JSON inside the exception's text).
// Free of zod: browsers load it with the first page.

import { type Failure, parseLateValidation } from "../failure";
import { isObject, objectOf, parseJson, textOf } from "../json/json";
import { type ExecutionError } from "../schemas/execution";

export type JobErrorView = {
  nodeId?: string;
  nodeType?: string;
  type: string;
  message: string;
  traceback: string[];
  /** The service accepted the graph and refused its nodes later: the same facts as in a refusal of POST /api/prompt. */
  lateValidation?: Failure;
};

/** Also reads an `execution_error` message of the timeline, which has the same fields. Undefined if it says nothing. */
export function toJobErrorView(error: unknown): JobErrorView | undefined {
  if (typeof error === "string") return fromText(error);
  if (!isObject(error)) return undefined;
  const message = typeof error.exception_message === "string" ? error.exception_message : "";
  const type = textOf(error.exception_type) ?? "";
  if (message === "" && type === "" && textOf(error.node_id) === undefined) return undefined;
  return withFacts({
    nodeId: textOf(error.node_id),
    nodeType: textOf(error.node_type),
    type,
    message,
    traceback: linesOf(error.traceback),
  });
}

const SHOWN_ERROR = 140;

/** One line for a list: "LoadImage: file not found". For a refusal that arrived as JSON inside the text, the line is its message. */
export function errorLine({ nodeType, type, message, lateValidation }: JobErrorView): string {
  const reason = lateValidation?.message ?? (message.trim().split("\n")[0] || type);
  const line = [nodeType, reason].filter(Boolean).join(": ");
  return line.length > SHOWN_ERROR ? `${line.slice(0, SHOWN_ERROR - 1)}…` : line;
}

const LONGEST_FIELD = 500;
const LONGEST_LISTED = 2000;

/** Bounded, for a list: without the traceback and the inputs at failure, which only the job's own page shows. */
export function toListedError(sent: unknown): ExecutionError | undefined {
  const error = toJobErrorView(sent);
  return (
    error && {
      node_id: error.nodeId?.slice(0, LONGEST_FIELD),
      node_type: error.nodeType?.slice(0, LONGEST_FIELD),
      exception_type: error.type.slice(0, LONGEST_FIELD),
      exception_message: (error.lateValidation?.message ?? error.message).slice(0, LONGEST_LISTED),
      traceback: [],
    }
  );
}

/** error_message of the status view: plain, or the JSON of an execution error or of a refusal. */
function fromText(text: string): JobErrorView | undefined {
  if (text.trim() === "") return undefined;
  const parsed = objectOf(parseJson(text));
  return (parsed && toJobErrorView(parsed)) ?? withFacts({ type: "", message: text, traceback: [] });
}

function withFacts(error: JobErrorView): JobErrorView {
  const { nodeId, nodeType, ...rest } = error;
  const lateValidation = parseLateValidation(error.message);
  return {
    ...(nodeId !== undefined && { nodeId }),
    ...(nodeType !== undefined && { nodeType }),
    ...rest,
    ...(lateValidation && { lateValidation }),
  };
}

function linesOf(traceback: unknown): string[] {
  if (typeof traceback === "string") return traceback.trim() === "" ? [] : [traceback];
  return Array.isArray(traceback) ? traceback.filter((line) => typeof line === "string") : [];
}
