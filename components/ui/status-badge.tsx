import { cn } from "./cn";
import { type Tone, toneStyle } from "./tone";
import { ToneIcon } from "./tone-icon";

type StatusBadgeProps = {
  tone: Tone;
  /** The state in words, as an icon or a colour alone is not accessible. */
  word: string;
  /** The explanation, shown on hover. */
  title?: string;
  className?: string;
};

/** A function without state, so that a long list may call it instead of mounting it. */
export function StatusBadge({ tone, word, title, className }: StatusBadgeProps) {
  return (
    <span title={title} data-tone={tone} className={cn("status", toneStyle[tone], className)}>
      {ToneIcon({ tone })}
      {word}
    </span>
  );
}
