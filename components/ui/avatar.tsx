import { cn } from "./cn";

/** A person as two letters. Screen readers skip it, as the name is beside it. */
export function Avatar({ name, className }: { name: string; className?: string }) {
  return (
    <span
      aria-hidden="true"
      className={cn("avatar grid shrink-0 place-items-center rounded-full bg-line-strong text-xs text-ink select-none", className)}
    >
      {initialsOf(name)}
    </span>
  );
}

/** The initials of the first and the last word; other characters are skipped, so that "(Ada) Lovelace-King" is AK. */
function initialsOf(name: string): string {
  const letters = name.split(/[\s\-_.@]+/).flatMap((word) => /[\p{L}\p{N}]\p{M}*/u.exec(word)?.[0] ?? []);
  return [letters[0], letters.length > 1 ? letters.at(-1) : undefined].map((letter) => letter?.toUpperCase() ?? "").join("");
}
