"use client";

import { type AssetChange, useWithdrawn } from "./asset-calls";
import { useTags } from "./use-tags";

export type AssetRights = {
  /** May be offered: the role allows it and the service has it. */
  can: (change: AssetChange) => boolean;
  canTag: boolean;
  /** Why some of it is not offered, where that is known. */
  why: "role" | "service" | "unsure" | undefined;
};

/** What may be changed here. A service of the generation that lists its tags also removes them, edits and deletes; that is asked for once. */
export function useAssetRights(connectionId: string | undefined, canChange: boolean): AssetRights {
  const { state } = useTags(canChange ? connectionId : undefined);
  const withdrawn = useWithdrawn(connectionId);
  const why = !canChange ? "role" : state === "absent" || withdrawn.size > 0 ? "service" : state === "unknown" ? "unsure" : undefined;
  return { can: (change) => canChange && state === "present" && !withdrawn.has(change), canTag: canChange, why };
}
