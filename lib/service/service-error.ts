// Foreseen errors inside the service: a code of the contract's table, a sentence, perhaps details.
// Compared by `code`, never by class: bundlers load one module several times in one process.

import { type ErrorCode, isErrorCode } from "@/lib/contract/failure";

export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details?: unknown;

  constructor(code: ErrorCode, message: string, details?: unknown, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

export type Refusal = { code: ErrorCode; message: string; details?: unknown };

/** Undefined for an unforeseen error. Node's own errors carry codes too (ENOENT): only codes of the table count. */
export function asRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string" || !isErrorCode(error.code)) return undefined;
  return { code: error.code, message: error.message, details: "details" in error ? error.details : undefined };
}
