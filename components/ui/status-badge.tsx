import { cn } from "./cn";
import { toneStyle, type Tone } from "./tone";
import { ToneIcon } from "./tone-icon";

type StatusBadgeProps = {
  tone: Tone;
  /** The state in words; an icon or a colour alone says nothing to many people. */
  word: string;
  /** What is behind the word, one hover away. */
  title?: string;
  className?: string;
};

/** Without state, so that a list of many may call it instead of mounting it. */
export function StatusBadge({ tone, word, title, className }: StatusBadgeProps) {
  return (
    <span title={title} data-tone={tone} className={cn("status", toneStyle[tone], className)}>
      {ToneIcon({ tone })}
      {word}
    </span>
  );
}
