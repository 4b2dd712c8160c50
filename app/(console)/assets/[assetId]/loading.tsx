import { AssetSkeleton } from "@/components/assets/assets-skeleton";

export default async function Loading() {
  return <AssetSkeleton />;
}
