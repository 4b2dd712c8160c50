// The console's log: one JSON line per event, with secrets redacted.

import "server-only";
import pino, { type DestinationStream } from "pino";

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
