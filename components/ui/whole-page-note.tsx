import { type ReactNode } from "react";
import { EmptyState } from "./empty-state";

/** Replaces a page: its title is the page's heading. */
export function WholePageNote({ title, text, action }: { title: string; text: string; action?: ReactNode }) {
  return (
    <div className="grid min-h-[calc(60*var(--dvh))] place-items-center">
      <EmptyState
        title={
          <span role="heading" aria-level={1}>
            {title}
          </span>
        }
        text={text}
        action={action}
      />
    </div>
  );
}
