import { type ReactNode, useId } from "react";
import { cn } from "./cn";

type CardProps = {
  title?: ReactNode;
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
  bodyClassName?: string;
};

export function Card({ title, note, actions, children, className, bodyClassName }: CardProps) {
  const id = useId();
  return (
    <section aria-labelledby={title ? id : undefined} className={cn("min-w-0 rounded-lg border border-line bg-surface", className)}>
      {title ? (
        <div className="flex min-h-[38px] items-center gap-2 border-b border-line px-3.5 py-1.5">
          <h2 id={id} className="font-semibold">
            {title}
          </h2>
          {note ? <span className="text-ink-3">{note}</span> : null}
          {actions ? <div className="ml-auto flex items-center gap-2">{actions}</div> : null}
        </div>
      ) : null}
      <div className={cn("card-body", bodyClassName)}>{children}</div>
    </section>
  );
}
