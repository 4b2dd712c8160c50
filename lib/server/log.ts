// The console's log: one JSON line per event, with secrets redacted.

import "server-only";
import pino, { type DestinationStream } from "pino";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { isFullDisk, isStoreUnavailable, isUniqueViolation } from "@/lib/shared/error-codes";

type LogFields = Readonly<Record<string, unknown>>;

export type Log = {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
};

const secretNames = ["key", "apiKey", "password", "token", "secret", "cookie", "authorization", '["x-api-key"]', '["set-cookie"]'];
const secretPaths = secretNames.flatMap((name) => (name.startsWith("[") ? [name, `*${name}`] : [name, `*.${name}`, `*.*.${name}`]));

export function createLog(level: string, destination?: DestinationStream): Log {
  const options = { level, base: { app: "console" }, redact: { paths: secretPaths, censor: "[removed]" } };
  return destination ? pino(options, destination) : pino(options);
}

const diskFullFailure = createFailure(
  "INSUFFICIENT_STORAGE",
  "The disk of the console's data folder is full. The operator must free some space.",
);
const storeUnavailableFailure = createFailure(
  "SERVICE_UNAVAILABLE",
  "The console's database is unreachable. Try again in a moment. You stay signed in.",
);

/** Converts an error that no handler caught, and logs it unless the client caused it. `message` describes what failed. */
export function toFailure({ log }: { log: Log }, err: unknown, fields: LogFields, message: string): Failure {
  if (isUniqueViolation(err)) return createFailure("CONFLICT", "This already exists. Reload and try again.");
  const [logMessage, failure] = isFullDisk(err)
    ? ["console disk full", diskFullFailure]
    : isStoreUnavailable(err)
      ? ["console database unavailable", storeUnavailableFailure]
      : [message, createFailure("INTERNAL", "Something went wrong in the console.")];
  log.error({ ...fields, err }, logMessage);
  return failure;
}
