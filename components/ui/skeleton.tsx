import { cn } from "./cn";

/** A grey block in the size of the coming content. The screen around it announces once that it is loading. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden="true" className={cn("skeleton block animate-pulse bg-off-soft", className)} />;
}
