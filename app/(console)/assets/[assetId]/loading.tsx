import { AssetSkeleton } from "@/components/assets/assets-skeleton";

export default function Loading() {
  return <AssetSkeleton />;
}
