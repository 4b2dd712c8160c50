// The name of this installation, the lock on its data folder, and the doctor's requests to a running console.
// Does not import the store, because the launcher uses it.

import "server-only";
import { createHmac, timingSafeEqual } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { getErrorCode } from "@/lib/shared/error-codes";

export const INSTALLATION_HEADER = "lightdesk-installation";

export function nameInstallation(authSecret: string): string {
  return createHmac("sha256", authSecret).update("installation").digest("hex").slice(0, 16);
}

export function readAuthSecretFile(dataDir: string): string | undefined {
  const file = join(dataDir, "auth-secret");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}

const LOCK_FILE = "running.sqlite";
/** On `globalThis`, so that the lock is never garbage-collected. */
const lockKey = Symbol.for("lightdesk.data-folder");

export function lockDataFolder(dataDir: string): void {
  let lock: SqliteConnection | undefined;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    lock = new SqliteConnection(join(dataDir, LOCK_FILE), { timeoutMs: 0 });
    lock.exec("BEGIN EXCLUSIVE");
    Reflect.set(globalThis, lockKey, lock);
  } catch (error) {
    lock?.close();
    // The store reports a folder that is not writable.
    if (!String(getErrorCode(error)).startsWith("SQLITE_BUSY")) return;
    throw new Error(`LIGHTDESK_DATA_DIR must not be shared: another Lightdesk uses ${dataDir}. Stop it first.`, {
      cause: error,
    });
  }
}

export const PROOF_HEADER = "lightdesk-doctor";
export const SEEN_HEADER = "lightdesk-seen";
const PROOF_VALID_MS = 60_000;

/** `from` is the remote end of the connection. `client` is the address used for limits, sessions and logs. */
const seenSchema = z.object({ from: z.string(), client: z.string(), host: z.string(), forwardedFor: z.string().nullable() });
export type SeenInstallation = z.infer<typeof seenSchema>;

export function createDoctorProof(authSecret: string, nowMs: number): string {
  return `${nowMs}.${createHmac("sha256", authSecret).update(`doctor ${nowMs}`).digest("hex")}`;
}

type SeenOptions = { authSecret: string | undefined; addressOf: (request: IncomingMessage) => string; nowMs: number };

export function respondWithSeen(request: IncomingMessage, response: ServerResponse, { authSecret, addressOf, nowMs }: SeenOptions): void {
  const { headers, socket } = request;
  if (authSecret === undefined || !isProofValid(String(headers[PROOF_HEADER] ?? ""), authSecret, nowMs)) return;
  const facts: SeenInstallation = {
    from: (socket.remoteAddress ?? "unknown").replace(/^::ffff:(?=\d+\.)/, ""),
    client: addressOf(request),
    host: headers.host ?? "",
    forwardedFor: headers["x-forwarded-for"] === undefined ? null : String(headers["x-forwarded-for"]),
  };
  response.setHeader(SEEN_HEADER, encodeURIComponent(writeExactJson(facts)));
}

function isProofValid(proof: string, authSecret: string, nowMs: number): boolean {
  const at = Number(/^(\d{1,15})\./.exec(proof)?.[1] ?? NaN);
  if (!(Math.abs(nowMs - at) <= PROOF_VALID_MS)) return false;
  const [actual, expected] = [Buffer.from(proof), Buffer.from(createDoctorProof(authSecret, at))];
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

export function readSeen(header: string | null): SeenInstallation | undefined {
  return header === null ? undefined : seenSchema.parse(JSON.parse(decodeURIComponent(header)));
}
