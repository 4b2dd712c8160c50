import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { type AssetChange } from "./asset-calls";

export type AssetRights = {
  /** May be offered: the role allows it and the service has it. */
  can: (change: AssetChange) => boolean;
  canTag: boolean;
  /** Why some of it is not offered, where that is known. */
  why: "role" | "service" | "unsure" | undefined;
};

const changes: readonly AssetChange[] = ["tags.remove", "assets.edit", "assets.delete"];

/** What may be changed here. */
export function useAssetRights(connectionId: string | undefined, canChange: boolean): AssetRights {
  const { has, failure } = useCapabilities(canChange ? connectionId : undefined, changes);
  const lacksSome = changes.some((change) => has(change) === false);
  const why = !canChange ? "role" : lacksSome ? "service" : failure ? "unsure" : undefined;
  return { can: (change) => canChange && has(change) === true, canTag: canChange, why };
}
