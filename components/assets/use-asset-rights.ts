import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { type AssetChange } from "./asset-calls";

export type AssetRights = {
  /** True if the role allows the change and the service supports it. */
  can: (change: AssetChange) => boolean;
  canTag: boolean;
  /** Why some changes are not offered, where known. */
  why: "role" | "service" | "unsure" | undefined;
};

const changes: readonly AssetChange[] = ["tags.remove", "assets.edit", "assets.delete"];

/** Which changes are possible here. */
export function useAssetRights(connectionId: string | undefined, canChange: boolean): AssetRights {
  const { has, failure } = useCapabilities(canChange ? connectionId : undefined, changes);
  const lacksSome = changes.some((change) => has(change) === false);
  const why = !canChange ? "role" : lacksSome ? "service" : failure ? "unsure" : undefined;
  return { can: (change) => canChange && has(change) === true, canTag: canChange, why };
}
