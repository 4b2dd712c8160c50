// An app as lists show it, read from its row, and what of a definition and its access is stored in columns of their own. Pure.

import "server-only";
import { type AppAccess, type AppDefinition } from "@/lib/contract/apps/app";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type AppRow, readKept } from "./app-rows";

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
