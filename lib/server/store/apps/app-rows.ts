// Rows of apps, and the app cards built from them.

import "server-only";
import { type AppAccess, type AppDefinition } from "@/lib/contract/apps/app";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";

export type AppRow = {
  id: string;
  connectionId: string;
  /** Null: its maker has left. */
  makerId: string | null;
  title: string;
  text: string;
  /** JSON, like all columns below it. */
  tags: string;
  cover: string | null;
  /** The text that searches look in, in lower case. */
  words: string;
  definition: string;
  /** team, members or me. */
  access: string;
  /** The roles whose members see it, if roles were chosen. */
  roles: string;
  limits: string;
  version: number;
  updatedAt: number;
};
export type AppVersionRow = {
  appId: string;
  number: number;
  at: number;
  /** The name of the member who made it, at that time. */
  by: string;
  changes: string;
  restoredFrom: number | null;
  definition: string;
};
export type AppPresetRow = { id: string; appId: string; memberId: string; name: string; inputs: string; isTeam: number };
export type AppFileRow = {
  appId: string;
  memberId: string;
  name: string;
  bytes: number;
  pixels: number | null;
  givenAt: number;
  ownName: string;
};
export type AppRunRow = {
  id: string;
  appId: string;
  memberId: string;
  version: number;
  runKey: string | null;
  contentHash: string;
  inputs: string;
  jobId: string | null;
  state: string;
  createdAt: number;
  endedAt: number | null;
  error: string | null;
  /** JSON of the facts behind the error's sentence; null if there are none. */
  errorFacts: string | null;
  /** Its outputs, once it has ended; null before. */
  results: string | null;
};

/** JSON that this store wrote, from values parsed with the contract's schemas. */
export function readKept<T>(json: string): T {
  return parseExactJson(json) as T;
}

export type StoredCard = {
  id: string;
  connectionId: string;
  maker: { id: string; name: string } | undefined;
  title: string;
  text: string;
  tags: string[];
  cover: string | undefined;
  access: AppAccess["kind"];
  version: number;
  updatedAt: number;
  isFavourite: boolean;
};

type CardRow = Omit<AppRow, "words" | "definition" | "limits" | "roles"> & { makerName: string | null; favouredBy: string | null };

export function toCard(row: CardRow): StoredCard {
  const { id, connectionId, makerId, title, text, version, updatedAt } = row;
  return {
    id,
    connectionId,
    maker: makerId === null ? undefined : { id: makerId, name: row.makerName ?? "" },
    title,
    text,
    tags: readKept<string[]>(row.tags),
    cover: row.cover ?? undefined,
    access: row.access === "team" || row.access === "members" ? row.access : "me",
    version,
    updatedAt,
    isFavourite: row.favouredBy !== null,
  };
}

export function rolesOf(access: AppAccess): string {
  return writeExactJson(access.kind === "members" ? access.roles : []);
}

export function faceOf(definition: AppDefinition) {
  const { title, text, tags, cover } = definition;
  const words = [title, text, ...tags].join("\n").toLowerCase();
  return { title, text, tags: writeExactJson(tags), cover: cover ?? null, words, definition: writeExactJson(definition) };
}
