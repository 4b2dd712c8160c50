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
import { toPlainAddress } from "@/lib/shared/ip-address";

export const INSTALLATION_HEADER = "lightdesk-installation";

export function deriveInstallationName(authSecret: string): string {
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
export const SEEN_REQUEST_HEADER = "lightdesk-seen";
const PROOF_LIFETIME_MS = 60_000;

/** `from` is the remote end of the connection. `client` is the address used for limits, sessions and logs. */
const seenRequestSchema = z.object({ from: z.string(), client: z.string(), host: z.string(), forwardedFor: z.string().nullable() });
export type SeenRequest = z.infer<typeof seenRequestSchema>;

export function createDoctorProof(authSecret: string, nowMs: number): string {
  return `${nowMs}.${createHmac("sha256", authSecret).update(`doctor ${nowMs}`).digest("hex")}`;
}

type SeenRequestOptions = { authSecret: string | undefined; getAddress: (request: IncomingMessage) => string; nowMs: number };

export function addSeenRequestHeader(
  request: IncomingMessage,
  response: ServerResponse,
  { authSecret, getAddress, nowMs }: SeenRequestOptions,
): void {
  const { headers, socket } = request;
  if (authSecret === undefined || !isProofValid(String(headers[PROOF_HEADER] ?? ""), authSecret, nowMs)) return;
  const seenRequest: SeenRequest = {
    from: toPlainAddress(socket.remoteAddress ?? "unknown"),
    client: getAddress(request),
    host: headers.host ?? "",
    forwardedFor: headers["x-forwarded-for"] === undefined ? null : String(headers["x-forwarded-for"]),
  };
  response.setHeader(SEEN_REQUEST_HEADER, encodeURIComponent(writeExactJson(seenRequest)));
}

function isProofValid(proof: string, authSecret: string, nowMs: number): boolean {
  const createdAtMs = Number(/^(\d{1,15})\./.exec(proof)?.[1] ?? NaN);
  if (!(Math.abs(nowMs - createdAtMs) <= PROOF_LIFETIME_MS)) return false;
  const [actual, expected] = [Buffer.from(proof), Buffer.from(createDoctorProof(authSecret, createdAtMs))];
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

export function parseSeenRequest(header: string | null): SeenRequest | undefined {
  return header === null ? undefined : seenRequestSchema.parse(JSON.parse(decodeURIComponent(header)));
}
