import { type Stamped, usePoll } from "@/lib/browser/poll/use-poll";
import { type Failure } from "@/lib/contract/failure";
import { type Asset } from "@/lib/contract/schemas/asset";
import { type AssetDetail, type AssetView, toAssetDetail } from "@/lib/contract/views/asset-view";
import { assetPath } from "../asset-calls";

const read = (asset: Asset) => toAssetDetail(asset);
const rarely = () => "background" as const;

type UseAsset = {
  id: string;
  connectionId: string | undefined;
  initial?: Stamped<AssetDetail>;
  initialFailure?: Failure;
  /** The asset as the list has it, shown until the asset's own answer arrives. */
  listed?: AssetView;
};

/** One asset, polled. */
export function useAsset({ id, connectionId, initial, initialFailure, listed }: UseAsset) {
  const path = connectionId ? assetPath(id, connectionId) : undefined;
  const poll = usePoll(path, { initial, initialFailure, read, motion: rarely });
  const asset: AssetDetail | undefined = poll.value ?? (listed && { ...listed, others: {} });
  return { ...poll, asset };
}
