// The types of an uploaded file, its description and its state.

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
  /** Hashing would take longer than sending. */
  | "hashing-slower"
  | "no-tags"
  /** The service can't create assets from hashes. */
  | "no-from-hash"
  | "other-hash"
  /** The browser couldn't hash the file. */
  | "not-hashed";

export type Check =
  | { kind: "verified" }
  /** Alarm: the stored content differs from the sent content. */
  | { kind: "differs"; serverHash: string }
  | { kind: "unchecked"; why: "no-hash" | "other-hash" | "not-hashed" };

export type UploadStatus =
  /** `isBehind`: waits because the same content is already being sent. */
  | { kind: "waiting"; isBehind?: true }
  | { kind: "hashing"; share: number }
  /** Looks up the file at the service by its id, then by its hash. */
  | { kind: "asking" }
  | { kind: "sending"; share: number }
  /** All bytes were sent; the hash is still being computed. */
  | { kind: "checking"; share: number }
  /** The service requested a pause. */
  | { kind: "holding" }
  /** `lost`: bytes were being sent, so the upload restarts. */
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
  /** Whether it was sent without a clear response, so that its id is looked up first. */
  mayBeStored: boolean;
  sentWhole?: SentWhole;
  /** Whether it claims to be a picture, but the browser can't decode it. */
  isNoPicture?: boolean;
  /** Whether the description is being written to the stored asset, or failed to be. */
  changing?: "now" | FieldsFailure;
  /** The fields of the stored asset, if they differ from `assetFields`. */
  standing?: AssetFields;
  status: UploadStatus;
};

export type UploadKind = UploadStatus["kind"];

const activeKinds: ReadonlySet<UploadKind> = new Set(["hashing", "asking", "sending", "checking", "holding"]);

export function isUnderWay({ status }: UploadItem): boolean {
  return activeKinds.has(status.kind);
}

/** Neither stored nor abandoned, so closing the tab would lose it. */
export function isUnfinished(item: UploadItem): boolean {
  return isUnderWay(item) || item.status.kind === "waiting" || item.status.kind === "paused";
}

export function isAlarm({ status }: UploadItem): boolean {
  return status.kind === "done" && status.check.kind === "differs";
}

/** Whether the description was not written and can be retried. */
export function isUnwritten({ changing }: Pick<UploadItem, "changing">): boolean {
  return changing !== undefined && changing !== "now";
}

export function isProblem(item: UploadItem): boolean {
  return item.status.kind === "failed" || isAlarm(item);
}

/** The newest request. The id distinguishes two requests for the same source. */
export type UploadRequest = { id: number } & (
  | { source: "files"; dropped: Promise<DroppedFiles> }
  | { source: "url"; address?: string }
  | { source: "hash" }
  | { source: "tray" }
  /** Downloads of an earlier visit are still in progress. */
  | { source: "resume" }
);
