import { cn } from "./cn";
import { toneStyle, type Tone } from "./tone";
import { ToneIcon } from "./tone-icon";

type StatusBadgeProps = {
  tone: Tone;
  /** The state in words; an icon or a colour alone says nothing to many people. */
  word: string;
  /** What stands behind the word, one hover away. */
  title?: string;
  className?: string;
};

export function StatusBadge({ tone, word, title, className }: StatusBadgeProps) {
  return (
    <span
      title={title}
      data-tone={tone}
      className={cn(
        "inline-flex items-center gap-1.5 align-middle rounded-full py-px pr-2 pl-1.5 text-sm whitespace-nowrap",
        toneStyle[tone],
        className,
      )}
    >
      <ToneIcon tone={tone} />
      {word}
    </span>
  );
}
