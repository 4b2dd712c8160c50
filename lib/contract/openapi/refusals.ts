// The refusals of an operation, by status: those that follow from its shape, and those that its row lists.

import { z } from "zod";
import { type ErrorCode, errorStatus } from "../errors";
import { hasRanges, type Operation } from "../operation";
import { component, nameOf, rare } from "../schemas/exact";
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

const envelope = component("Refusal", { code: z.string(), message: z.string(), details: rare(z.unknown()) });
const refOf = (schema: z.ZodType) => ({ $ref: `#/components/schemas/${nameOf(schema)}` });

export function refusalsOf(operation: Operation): Record<string, JsonSchema> {
  const { refusals = [], bodyRefusal } = operation;
  const codes = new Set<ErrorCode>([...always, ...refusals]);
  const add = (more: readonly ErrorCode[]) => more.forEach((code) => codes.add(code));
  const isUserdata = operation.path.startsWith("/api/userdata");
  if (hasRanges(operation)) add(["RANGE_NOT_SATISFIABLE", "PRECONDITION_FAILED"]);
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

/** `other`: answered in place of the envelope. */
function refusal(operation: Operation, codes: readonly ErrorCode[], other?: z.ZodType | "text"): JsonSchema {
  const description = `${codes.join(", ")}.`;
  if (operation.method === "HEAD") return { description };
  if (other === "text") return { description, content: { "text/plain": { schema: { type: "string" } } } };
  const schema = other ? refOf(other) : { allOf: [refOf(envelope), { type: "object", properties: { code: { enum: codes } } }] };
  return { description, content: { "application/json": { schema } } };
}
