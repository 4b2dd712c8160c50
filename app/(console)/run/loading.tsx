import { EmptyRunSkeleton } from "@/components/run/run-skeleton";

export default function Loading() {
  return <EmptyRunSkeleton />;
}
