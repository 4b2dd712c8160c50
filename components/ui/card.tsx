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

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-ink-3">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}

/** A member's initials. Hidden from screen readers, because the name is next to it. */
export function Avatar({ name, className }: { name: string; className?: string }) {
  return (
    <span
      aria-hidden="true"
      className={cn("avatar grid shrink-0 place-items-center rounded-full bg-line-strong text-xs text-ink select-none", className)}
    >
      {getInitials(name)}
    </span>
  );
}

/** Returns the initials of the first and last word, such as AK for "(Ada) Lovelace-King". */
function getInitials(name: string): string {
  const letters = name.split(/[\s\-_.@]+/).flatMap((word) => /[\p{L}\p{N}]\p{M}*/u.exec(word)?.[0] ?? []);
  return [letters[0], letters.length > 1 ? letters.at(-1) : undefined].map((letter) => letter?.toUpperCase() ?? "").join("");
}
