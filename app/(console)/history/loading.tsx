import { PageSkeleton } from "@/components/frame/page-skeleton";

export default function Loading() {
  return <PageSkeleton page="history" tools="long" layout="rows" />;
}
