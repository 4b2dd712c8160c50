import { type ReactNode } from "react";

type EmptyStateProps = {
  /** What the page or list is for. */
  title: ReactNode;
  text?: ReactNode;
  /** The one next step. */
  action?: ReactNode;
};

export function EmptyState({ title, text, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-16 text-center">
      <p className="font-semibold">{title}</p>
      {text ? <p className="max-w-[46ch] text-ink-2">{text}</p> : null}
      {action ? <div className="mt-2">{action}</div> : null}
    </div>
  );
}
