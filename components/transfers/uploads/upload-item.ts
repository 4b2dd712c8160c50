// A file on its way into the service: what it is, what shall be on it, and what it is doing. Types only, and the words' keys.

import { type HashPoint } from "@/lib/browser/uploads/hash-file";
import { type Failure } from "@/lib/contract/failure";
import { type JsonObject } from "@/lib/contract/json/json";
import { type About, type Part } from "./about";

/** What a service answers of an asset that was made or found. */
export type StoredAsset = {
  id: string;
  name?: string;
  size?: number;
  asset_hash?: string;
  created_new?: boolean;
  tags?: readonly string[];
  user_metadata?: Readonly<JsonObject>;
};

/** Why a file is sent without having been offered by its hash. */
export type SentWhole =
  /** Hashing would have taken longer than sending, by what was measured. */
  | "hashing-slower"
  | "no-tags"
  /** The service cannot make an asset from a hash. */
  | "no-from-hash"
  | "other-hash"
  /** This browser could not hash it. */
  | "not-hashed";

export type Check =
  | { kind: "verified" }
  /** Alarm: what the service holds is not what was sent. */
  | { kind: "differs"; theirs: string }
  | { kind: "unchecked"; why: "no-hash" | "other-hash" | "not-hashed" };

export type UploadStatus =
  /** `isBehind`: the same content is on its way already, and sending it twice would not help. */
  | { kind: "waiting"; isBehind?: true }
  | { kind: "hashing"; share: number }
  /** By its id, then by its hash. */
  | { kind: "asking" }
  | { kind: "sending"; share: number }
  /** Everything was sent; the hash is still being made. */
  | { kind: "checking"; share: number }
  /** The service asked for a pause. */
  | { kind: "holding" }
  /** `lost`: bytes were being sent, so the file starts again. */
  | { kind: "paused"; lost: boolean }
  | { kind: "done"; asset: StoredAsset; sentBytes: number; check: Check }
  | { kind: "failed"; failure: Failure };

export type Unwritten = { parts: readonly Part[]; failure: Failure };

export type UploadItem = {
  key: number;
  /** Made here, so that the same file sent again is the same asset. */
  id: string;
  file: File;
  connection?: string;
  /** The files that were added together. */
  act?: string;
  about: About;
  hash?: string;
  hashedTo?: HashPoint;
  /** It was sent before and no clear answer came: the service is asked by its id first. */
  mayBeThere: boolean;
  sentWhole?: SentWhole;
  /** It calls itself a picture, and this browser cannot read it as one. */
  isNoPicture?: boolean;
  /** What shall be on the stored asset is being written there, or could not be. */
  changing?: "now" | Unwritten;
  /** What is on the stored asset, where that is not `about` yet. */
  standing?: About;
  status: UploadStatus;
};

export type UploadKind = UploadStatus["kind"];

const lanes: ReadonlySet<UploadKind> = new Set(["hashing", "asking", "sending", "checking", "holding"]);

export function isUnderWay({ status }: UploadItem): boolean {
  return lanes.has(status.kind);
}

/** Neither stored nor given up: closing the tab would lose it. */
export function isUnfinished(item: UploadItem): boolean {
  return isUnderWay(item) || item.status.kind === "waiting" || item.status.kind === "paused";
}

export function isAlarm({ status }: UploadItem): boolean {
  return status.kind === "done" && status.check.kind === "differs";
}

/** What shall be on it does not, and may be tried again. */
export function isUnwritten({ changing }: Pick<UploadItem, "changing">): boolean {
  return changing !== undefined && changing !== "now";
}

export function isProblem(item: UploadItem): boolean {
  return item.status.kind === "failed" || isAlarm(item);
}
