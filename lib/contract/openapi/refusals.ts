// The refusals of an operation, by status: those that follow from its shape, and those that are its own.

import { type ErrorCode, errorStatus } from "../errors";
import { type Operation } from "../operation";
import { type ComponentName, type Described } from "./described";
import { type JsonSchema } from "./wire-schema";

const isOfBody = (status: number) => [400, 408, 413].includes(status);
const always: readonly ErrorCode[] = ["UNAUTHORIZED", "INTERNAL", "SERVICE_UNAVAILABLE"];
const ofJson: readonly ErrorCode[] = ["INVALID_BODY", "INVALID_JSON", "TRUNCATED_UPLOAD", "REQUEST_TIMEOUT", "FILE_TOO_LARGE"];
const ofFile: readonly ErrorCode[] = [
  "TRUNCATED_UPLOAD",
  "REQUEST_TIMEOUT",
  "FILE_TOO_LARGE",
  "STORAGE_QUOTA_EXCEEDED",
  "INSUFFICIENT_STORAGE",
];

export function refusalsOf(operation: Operation, { refusals = [], ranges, bodyRefusal }: Described): Record<string, JsonSchema> {
  const codes = new Set<ErrorCode>([...always, ...refusals]);
  const add = (more: readonly ErrorCode[]) => more.forEach((code) => codes.add(code));
  const isUserdata = operation.path.startsWith("/api/userdata");
  if (ranges) add(["RANGE_NOT_SATISFIABLE", "PRECONDITION_FAILED"]);
  if (operation.query) codes.add("INVALID_QUERY");
  if (operation.body?.kind === "json") add(ofJson);
  if (operation.body?.kind === "multipart") add([...ofFile, "INVALID_BODY", "MISSING_FILE", "UNSUPPORTED_MEDIA_TYPE"]);
  if (operation.body?.kind === "octets") add(ofFile);
  if (operation.path.includes("{")) codes.add(operation.body?.kind === "octets" ? "BAD_REQUEST" : "NOT_FOUND");
  if (isUserdata) codes.add("BAD_REQUEST");

  const statuses = [...new Set([...codes].map((code) => errorStatus[code]))].sort((a, b) => a - b);
  const codesOf = (status: number) => [...codes].filter((code) => errorStatus[code] === status).sort();
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      refusal(operation, codesOf(status), isUserdata ? "text" : isOfBody(status) ? bodyRefusal : undefined),
    ]),
  );
}

/** `component`: what it answers in place of the envelope. */
function refusal(operation: Operation, codes: readonly ErrorCode[], component?: ComponentName | "text"): JsonSchema {
  const description = `${codes.join(", ")}.`;
  if (operation.method === "HEAD") return { description };
  if (component === "text") return { description, content: { "text/plain": { schema: { type: "string" } } } };
  const schema = component
    ? { $ref: `#/components/schemas/${component}` }
    : { allOf: [{ $ref: "#/components/schemas/Refusal" }, { type: "object", properties: { code: { enum: codes } } }] };
  return { description, content: { "application/json": { schema } } };
}
