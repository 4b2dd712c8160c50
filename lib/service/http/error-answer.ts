// The one place where a thrown error becomes an answer.
// Guarantees: an unforeseen error reveals nothing about itself and is logged once; userdata answers in plain text, everything else in the
// envelope.

import { errorStatus } from "@/lib/contract/failure";
import { isUniqueViolation } from "@/lib/shared/error-codes";
import { type ServiceLog } from "../options";
import { asRefusal, type Refusal } from "../service-error";
import { asStorageFailure } from "../storage-failure";
import { json, text } from "./answers";

/** Two concurrent requests stored the same thing. */
const conflict: Refusal = { code: "CONFLICT", message: "This exists already. Reload, then try again." };
const unforeseen: Refusal = { code: "INTERNAL", message: "The service failed to answer this request." };

export function toErrorAnswer(error: unknown, request: { method: string; path: string }, log: ServiceLog): Response {
  const refusal = asRefusal(error) ?? asStorageFailure(error) ?? (isUniqueViolation(error) ? conflict : unforeseen);
  const status = errorStatus[refusal.code];
  // Errors that the sender did not cause concern the operator. This is the only place that logs their cause.
  if (status >= 500 && status !== errorStatus.NOT_IMPLEMENTED)
    log.error({ err: error, method: request.method, path: request.path }, "a request failed");
  return toRefusal(refusal, request.path);
}

export function toRefusal({ code, message, details }: Refusal, path: string): Response {
  const status = errorStatus[code];
  if (path.startsWith("/api/userdata")) return text(message, status);
  return json({ code, message, ...(details !== undefined && { details }) }, status);
}
