// A file being uploaded: the file, its description, and its state. Types only, and the keys of their sentences.

import { useMemo, useSyncExternalStore } from "react";
import { useConnections } from "@/components/frame/connection/connection-context";
import { type Dropped } from "@/lib/browser/files/dropped-files";
import { type KeptIn, ofBrowser, persisted } from "@/lib/browser/persisted";
import { type HashPoint } from "@/lib/browser/uploads/hash-file";
import { type Failure } from "@/lib/contract/failure";
import { type JsonObject } from "@/lib/contract/json/json";
import { list, number, object, type ReadBy, text } from "@/lib/contract/json/readers";
import { type About, type Part } from "./about-form";

/** The service's answer about an asset that was made or found. */
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
  | { kind: "differs"; theirs: string }
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
  /** The service asked for a pause. */
  | { kind: "holding" }
  /** `lost`: bytes were being sent, so the file starts again. */
  | { kind: "paused"; lost: boolean }
  | { kind: "done"; asset: StoredAsset; sentBytes: number; check: Check }
  | { kind: "failed"; failure: Failure };

export type Unwritten = { parts: readonly Part[]; failure: Failure };

export type UploadItem = {
  key: number;
  /** Made here, so that sending the same file again gives the same asset. */
  id: string;
  file: File;
  connection?: string;
  /** The id of the files added together. */
  act?: string;
  about: About;
  hash?: string;
  hashedTo?: HashPoint;
  /** It was sent before without a clear answer: the service is asked for its id first. */
  mayBeThere: boolean;
  sentWhole?: SentWhole;
  /** It claims to be a picture, but this browser cannot read it as one. */
  isNoPicture?: boolean;
  /** The description is being written to the stored asset, or could not be. */
  changing?: "now" | Unwritten;
  /** The stored asset's description, if it differs from `about`. */
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

/** Its description was not written, and may be tried again. */
export function isUnwritten({ changing }: Pick<UploadItem, "changing">): boolean {
  return changing !== undefined && changing !== "now";
}

export function isProblem(item: UploadItem): boolean {
  return item.status.kind === "failed" || isAlarm(item);
}

/** The newest request; its number distinguishes two requests for the same way. */
export type WayRequest = { id: number } & (
  | { way: "files"; dropped: Promise<Dropped> }
  | { way: "url"; address?: string }
  | { way: "hash" }
  | { way: "tray" }
  /** Something of an earlier visit is still in progress. */
  | { way: "resume" }
);

// Alarms about stored files that differ from what was sent, in this browser until dismissed. They hold only a file's name, size and hashes.

/** `id`: the one made here for the file. `ours`: absent if the size alone showed the difference. */
const alarm = object({ id: text, assetId: text, name: text, size: number, theirs: text, atMs: number }, { connection: text, ours: text });
export type KeptAlarm = ReadBy<typeof alarm>;
export const ALARMS_KEY = "lightdesk.uploads.alarms";
const MAX_COUNT = 100;

/** Always the same object, on the server too. */
const noAlarms: readonly KeptAlarm[] = [];

export function createAlarmBook(keptIn: KeptIn = ofBrowser) {
  const kept = persisted(ALARMS_KEY, readAlarms, keptIn);
  return {
    get: kept.get,
    subscribe: kept.subscribe,
    add: (alarm: KeptAlarm) => void kept.set([...kept.get().filter(({ id }) => id !== alarm.id), alarm].slice(-MAX_COUNT)),
    remove(id: string): void {
      const before = kept.get();
      if (before.some((alarm) => alarm.id === id)) kept.set(before.filter((alarm) => alarm.id !== id));
    },
  };
}

function readAlarms(kept: unknown): readonly KeptAlarm[] {
  return list(alarm)(kept)?.slice(-MAX_COUNT) ?? noAlarms;
}

export function toKeptAlarm(item: UploadItem, atMs: number): KeptAlarm | undefined {
  const { id, connection, file, about, hash, status } = item;
  if (!isAlarm(item) || status.kind !== "done" || status.check.kind !== "differs") return undefined;
  const { theirs } = status.check;
  return { id, connection, assetId: status.asset.id, name: about.name || file.name, size: file.size, ours: hash, theirs, atMs };
}

export const keptAlarms = createAlarmBook();

/** Alarms of connections that this member may use: those of another member in the same browser are hidden. */
export function useOwnAlarms(): readonly KeptAlarm[] {
  const connections = useConnections();
  const all = useSyncExternalStore(keptAlarms.subscribe, keptAlarms.get, () => noAlarms);
  return useMemo(() => {
    const known = new Set(connections.map(({ id }) => id));
    return all.filter(({ connection }) => connection !== undefined && known.has(connection));
  }, [all, connections]);
}
