// Rows of apps, and the app cards built from them.

import "server-only";
import { type AppAccess, type AppDefinition } from "@/lib/contract/apps/app";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";

export type AppRow = {
  id: string;
  connection_id: string;
  /** Null: its maker has left. */
  maker_id: string | null;
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
  updated_at: number;
};
export type AppVersionRow = {
  app_id: string;
  number: number;
  at: number;
  /** The name of the member who made it, at that time. */
  by: string;
  changes: string;
  restored_from: number | null;
  definition: string;
};
export type AppPresetRow = { id: string; app_id: string; member_id: string; name: string; inputs: string; is_team: number };
export type AppFileRow = {
  app_id: string;
  member_id: string;
  name: string;
  bytes: number;
  pixels: number | null;
  given_at: number;
  own_name: string;
};
export type AppRunRow = {
  id: string;
  app_id: string;
  member_id: string;
  version: number;
  run_key: string | null;
  content_hash: string;
  inputs: string;
  job_id: string | null;
  state: string;
  created_at: number;
  ended_at: number | null;
  error: string | null;
  /** JSON of the facts behind the error's sentence; null if there are none. */
  error_facts: string | null;
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

type CardRow = Omit<AppRow, "words" | "definition" | "limits" | "roles"> & { maker_name: string | null; favoured_by: string | null };

export function toCard(row: CardRow): StoredCard {
  const { id, connection_id: connectionId, maker_id: makerId, title, text, version, updated_at: updatedAt } = row;
  return {
    id,
    connectionId,
    maker: makerId === null ? undefined : { id: makerId, name: row.maker_name ?? "" },
    title,
    text,
    tags: readKept<string[]>(row.tags),
    cover: row.cover ?? undefined,
    access: row.access === "team" || row.access === "members" ? row.access : "me",
    version,
    updatedAt,
    isFavourite: row.favoured_by !== null,
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
