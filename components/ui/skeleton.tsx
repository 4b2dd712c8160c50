import { cn } from "./cn";

/** A grey block in the size of what will be there. The screen around it says once that it is loading. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden="true" className={cn("skeleton block animate-pulse bg-off-soft", className)} />;
}
