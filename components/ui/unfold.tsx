import { type ReactNode } from "react";
import { cn } from "./cn";
import { buttonStyle } from "./controls/button";

/** Additional text that opens in place, without script. */
export function Unfold({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <details className="min-w-0 open:basis-full">
      <summary className={cn(buttonStyle(), "w-fit list-none after:content-['▾'] [&::-webkit-details-marker]:hidden")}>{title}</summary>
      <pre
        tabIndex={0}
        className="mt-2 max-h-[360px] overflow-auto rounded-md border border-line bg-surface p-2.5 font-mono text-xs whitespace-pre"
      >
        {children}
      </pre>
    </details>
  );
}
