import { AssetsSkeleton } from "@/components/assets/assets-skeleton";

export default async function Loading() {
  return <AssetsSkeleton />;
}
