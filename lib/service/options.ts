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
  /** Absolute path of the service's data folder. Only one process may use it: a second one fails to start. */
  dataDir: string;
  shippedImagesDir: string;
  /** Absolute path of the bundled worker that runs nodes. */
  workerPath: string;
  /** Base of absolute URLs in responses. Defaults to the request's origin. */
  publicUrl?: string;
  now?: () => number;
  log?: ServiceLog;
};

export type UserStatus = "active" | "waitlisted";
export type KeyListing = { prefix: string; userName: string; userStatus: UserStatus; createdAtMs: number; revokedAtMs?: number };

export type ServiceKeys = {
  /** Creates the user if needed. The key is returned only once. */
  createKey(userName: string): Promise<{ key: string; prefix: string }>;
  listKeys(): Promise<KeyListing[]>;
  /** Returns false if no valid key has that prefix. */
  revokeKey(prefix: string): Promise<boolean>;
  /** Returns false if there is no such user. */
  setUserStatus(userName: string, status: UserStatus): Promise<boolean>;
};

export type Service = {
  /** Accepts any origin. The path must start with /api. Pass the body as `bytes` if the caller reads it itself. */
  fetch(request: Request, bytes?: AsyncIterable<Uint8Array>): Promise<Response>;
  findUserName(key: string): Promise<string | undefined>;
  /** Sends messages about the user's jobs, starting with the queue state. Returns undefined for an invalid key. */
  subscribe(key: string, clientId: string | undefined, notify: (message: string | Uint8Array) => void): Promise<Feed | undefined>;
  readiness: Readiness;
  /** Takes the lock, migrates, removes leftovers of a crash and starts the engine. */
  start(): Promise<void>;
  /** Drains requests and short jobs for a bounded time, requeues the other jobs, and releases the lock. */
  stop(): Promise<void>;
  keys: ServiceKeys;
  runners: ServiceRunners;
};
