// Options and interface of the embedded service.

import { type ServiceRunners } from "@/lib/contract/runners/runners";
import { type Feed } from "@/lib/shared/http-types";
import { type Readiness } from "@/lib/shared/readiness";
import { type ServiceSettings } from "./settings";

export type LogFields = Readonly<Record<string, unknown>>;
export type ServiceLog = {
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
};

export type ServiceOptions = Partial<ServiceSettings> & {
  /** Absolute path; the service's own folder. One process at a time: a second one refuses to start, and names the first. */
  dataDir: string;
  shippedImagesDir: string;
  /** Absolute path of the bundled worker that runs nodes. */
  workerPath: string;
  /** Base of the absolute URLs in answers; without it, the origin of each request. */
  publicUrl?: string;
  now?: () => number;
  log?: ServiceLog;
};

export type UserStatus = "active" | "waitlisted";
export type KeyListing = { prefix: string; userName: string; userStatus: UserStatus; createdAtMs: number; revokedAtMs?: number };

export type ServiceKeys = {
  /** Makes the user if there is none. The key is readable only in this answer. */
  createKey(userName: string): Promise<{ key: string; prefix: string }>;
  listKeys(): Promise<KeyListing[]>;
  /** False if no valid key has that prefix. */
  revokeKey(prefix: string): Promise<boolean>;
  /** False if there is no such user. */
  setUserStatus(userName: string, status: UserStatus): Promise<boolean>;
};

export type Service = {
  /** Works for any origin; the path begins with /api. `bytes`: the bytes of the body, if the caller has them without the request. */
  fetch(request: Request, bytes?: AsyncIterable<Uint8Array>): Promise<Response>;
  userOf(key: string): Promise<string | undefined>;
  /** Sends messages about the user's jobs, starting with the queue state. Undefined for an invalid key. */
  listen(key: string, clientId: string | undefined, notify: (message: string | Uint8Array) => void): Promise<Feed | undefined>;
  readiness: Readiness;
  /** Takes the lock, migrates, sweeps what a crash left, starts the engine. */
  start(): Promise<void>;
  /** Takes no new work; open requests and short jobs end within a bounded grace, the rest goes back to pending; the lock is released. */
  stop(): Promise<void>;
  keys: ServiceKeys;
  runners: ServiceRunners;
};
