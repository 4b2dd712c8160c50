import { type ComponentProps } from "react";
import { cn } from "@/components/ui/cn";

/** The frame of an open job: beside the list on wide screens, over it on narrow ones. It is drawn before its content. */
export function JobPanelFrame({ className, ...rest }: ComponentProps<"aside">) {
  return (
    <aside
      {...rest}
      className={cn(
        "fixed inset-0 z-40 overflow-y-auto bg-surface p-4 focus:outline-none lg:sticky lg:inset-auto lg:top-[calc(52px+var(--tool-bar))] lg:z-10 lg:h-[calc(100*var(--dvh)-52px-var(--tool-bar))] lg:w-[360px] lg:shrink-0 lg:border-l lg:border-line",
        className,
      )}
    />
  );
}
