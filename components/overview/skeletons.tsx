import { Skeleton } from "@/components/ui/skeleton";

export const pictureGrid = "grid grid-cols-3 gap-2.5 sm:grid-cols-4 lg:grid-cols-6";

export function RowsSkeleton({ rows }: { rows: number }) {
  return (
    <ul>
      {Array.from({ length: rows }, (_, index) => (
        <li key={index} className="flex min-h-[49px] items-center gap-3 border-b border-line px-3.5 last:border-b-0">
          <Skeleton className="h-3.5 w-2/5" />
          <Skeleton className="ml-auto h-3.5 w-16" />
        </li>
      ))}
    </ul>
  );
}

/** One row on a wide screen. */
export function PicturesSkeleton() {
  return (
    <ul className={pictureGrid}>
      {Array.from({ length: 6 }, (_, index) => (
        <li key={index}>
          <Skeleton className="aspect-[4/3] w-full" />
        </li>
      ))}
    </ul>
  );
}
