import { MaskSkeleton } from "@/components/mask/mask-skeleton";

export default async function Loading() {
  return <MaskSkeleton />;
}
