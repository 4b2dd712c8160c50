import { EmptyRunSkeleton } from "@/components/run/run-skeleton";

export default async function Loading() {
  return <EmptyRunSkeleton />;
}
