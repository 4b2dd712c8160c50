import { AssetsSkeleton } from "@/components/assets/assets-skeleton";

export default function Loading() {
  return <AssetsSkeleton />;
}
