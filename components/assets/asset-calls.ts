// The API calls that change one asset.

import { type CallInit } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";

/** Extensions that change an asset. */
export type AssetChange = "tags.remove" | "assets.edit" | "assets.delete";

export type TagsAnswer = {
  total_tags: string[];
  added: string[];
  removed: string[];
  already_present: string[];
  not_present: string[];
};
export type AssetEdit = {
  name?: string;
  mime_type?: string;
  preview_id?: string | null;
  user_metadata?: Record<string, unknown>;
};

type Path = `/${string}`;
export function assetPath(id: string, connection: string | undefined, under: "" | "/tags" = ""): Path {
  return withQuery(`/api/assets/${encodeURIComponent(id)}${under}`, { connection });
}

export const requests = {
  addTags: (tags: readonly string[]): CallInit => ({ method: "POST", json: { tags } }),
  removeTags: (tags: readonly string[]): CallInit => ({ method: "DELETE", json: { tags } }),
  edit: (edit: AssetEdit): CallInit => ({ method: "PUT", json: edit }),
  remove: { method: "DELETE" } satisfies CallInit,
};
