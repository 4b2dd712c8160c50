// The one place where something thrown becomes an answer.
// Guarantees: an unforeseen error says nothing of itself outside and is logged once; userdata speaks plain text, everything else the envelope.

import { errorStatus } from "@/lib/contract/errors";
import { type ServiceLog } from "../options";
import { asRefusal, type Refusal } from "../service-error";
import { json, text } from "./answers";

export function toErrorAnswer(error: unknown, request: { method: string; path: string }, log: ServiceLog): Response {
  const refusal = asRefusal(error) ?? unforeseen(error, request, log);
  const { code, message, details } = refusal;
  const status = errorStatus[code];
  if (request.path.startsWith("/api/userdata")) return text(message, status);
  return json({ code, message, ...(details !== undefined && { details }) }, status);
}

function unforeseen(error: unknown, request: { method: string; path: string }, log: ServiceLog): Refusal {
  const systemCode = error instanceof Error && "code" in error ? String(error.code) : "";
  log.error({ err: error, method: request.method, path: request.path }, "a request failed");
  if (systemCode === "ENOSPC" || systemCode === "SQLITE_FULL")
    return { code: "INSUFFICIENT_STORAGE", message: "The disk of the service is full." };
  if (systemCode === "EROFS" || systemCode === "SQLITE_READONLY")
    return { code: "SERVICE_UNAVAILABLE", message: "The data folder of the service cannot be written to." };
  return { code: "INTERNAL", message: "The service failed to answer this request." };
}
