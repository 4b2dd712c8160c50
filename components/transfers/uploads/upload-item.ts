// A file being uploaded: the file, its description, and its state. Types only, and the keys of their sentences.

import { type DroppedFiles } from "@/lib/browser/files/dropped-files";
import { type HashPoint } from "@/lib/browser/uploads/hash-file";
import { type Failure } from "@/lib/contract/failure";
import { type JsonObject } from "@/lib/contract/json/json";
import { type AssetFieldPart, type AssetFields } from "./asset-fields-form";

/** The service's response with the created or existing asset. */
export type StoredAsset = {
  id: string;
  name?: string;
  size?: number;
  asset_hash?: string;
  created_new?: boolean;
  tags?: readonly string[];
  user_metadata?: Readonly<JsonObject>;
};

/** Why a file is sent without offering its hash first. */
export type SentWhole =
  /** By measurement, hashing would have taken longer than sending. */
  | "hashing-slower"
  | "no-tags"
  /** The service cannot make an asset from a hash. */
  | "no-from-hash"
  | "other-hash"
  /** This browser could not hash it. */
  | "not-hashed";

export type Check =
  | { kind: "verified" }
  /** Alarm: the service holds something else than what was sent. */
  | { kind: "differs"; serverHash: string }
  | { kind: "unchecked"; why: "no-hash" | "other-hash" | "not-hashed" };

export type UploadStatus =
  /** `isBehind`: the same content is being sent already, and sending it twice would not help. */
  | { kind: "waiting"; isBehind?: true }
  | { kind: "hashing"; share: number }
  /** Looks it up at the service, by its id, then by its hash. */
  | { kind: "asking" }
  | { kind: "sending"; share: number }
  /** Everything was sent; the hash is still being computed. */
  | { kind: "checking"; share: number }
  /** The service requested a pause. */
  | { kind: "holding" }
  /** `lost`: bytes were being sent, so the file starts again. */
  | { kind: "paused"; isLost: boolean }
  | { kind: "done"; asset: StoredAsset; sentBytes: number; check: Check }
  | { kind: "failed"; failure: Failure };

export type FieldsFailure = { parts: readonly AssetFieldPart[]; failure: Failure };

export type UploadItem = {
  key: number;
  /** Generated here, so that resending the same file yields the same asset. */
  id: string;
  file: File;
  connection?: string;
  /** The id of the files added together. */
  action?: string;
  assetFields: AssetFields;
  hash?: string;
  hashedTo?: HashPoint;
  /** Sent before without a clear response: looks up its id at the service first. */
  mayBeStored: boolean;
  sentWhole?: SentWhole;
  /** It claims to be a picture, but this browser cannot read it as one. */
  isNoPicture?: boolean;
  /** The description is being written to the stored asset, or could not be. */
  changing?: "now" | FieldsFailure;
  /** The fields of the stored asset, if they differ from `assetFields`. */
  standing?: AssetFields;
  status: UploadStatus;
};

export type UploadKind = UploadStatus["kind"];

const lanes: ReadonlySet<UploadKind> = new Set(["hashing", "asking", "sending", "checking", "holding"]);

export function isUnderWay({ status }: UploadItem): boolean {
  return lanes.has(status.kind);
}

/** Neither stored nor abandoned: closing the tab would lose it. */
export function isUnfinished(item: UploadItem): boolean {
  return isUnderWay(item) || item.status.kind === "waiting" || item.status.kind === "paused";
}

export function isAlarm({ status }: UploadItem): boolean {
  return status.kind === "done" && status.check.kind === "differs";
}

/** Its description was not written, and may be tried again. */
export function isUnwritten({ changing }: Pick<UploadItem, "changing">): boolean {
  return changing !== undefined && changing !== "now";
}

export function isProblem(item: UploadItem): boolean {
  return item.status.kind === "failed" || isAlarm(item);
}

/** The newest request; its number distinguishes two requests for the same way. */
export type UploadRequest = { id: number } & (
  | { source: "files"; dropped: Promise<DroppedFiles> }
  | { source: "url"; address?: string }
  | { source: "hash" }
  | { source: "tray" }
  /** Something of an earlier visit is still in progress. */
  | { source: "resume" }
);
