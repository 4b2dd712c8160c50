// What changes one asset, as calls of the interface; and what a service turned out not to have.
// Guarantees: once seen to be absent an operation is offered no more in this tab.

import { create } from "zustand";
import { type CallInit } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { lacksOperation } from "@/lib/contract/failure";

/** Extensions that change an asset. A service that lists its tags has them, until it says otherwise. */
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

const useAllWithdrawn = create<Readonly<Record<string, ReadonlySet<AssetChange>>>>(() => ({}));
const nothing: ReadonlySet<AssetChange> = new Set();

function withdraw(connection: string, change: AssetChange): void {
  useAllWithdrawn.setState((all) => ({ [connection]: new Set([...(all[connection] ?? nothing), change]) }));
}

export function useWithdrawn(connection: string | undefined): ReadonlySet<AssetChange> {
  return useAllWithdrawn((all) => (connection === undefined ? nothing : (all[connection] ?? nothing)));
}

/** Whether a refusal says that the service has no such operation, which is offered no more then. */
export function learnAbsence(change: AssetChange, failure: ApiFailure, connection: string | undefined): boolean {
  if (lacksOperation(failure) && connection !== undefined) withdraw(connection, change);
  return lacksOperation(failure);
}
