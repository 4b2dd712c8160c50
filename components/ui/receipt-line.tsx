import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { useFocusWhenLost } from "./hooks/use-focus-when-lost";
import { type Tone } from "./tone";
import { ToneIcon } from "./tone-icon";

type ReceiptLineProps = {
  tone: Tone;
  text: string;
  children?: ReactNode;
  /** Announced when an act is answered, but not when the page is opened again. */
  isAnswer?: boolean;
  onDismiss?: () => void;
};

/** The outcome of an act, or an offer to undo it, in the tool bar, where it moves nothing. Stays until dismissed or the next act begins. */
export function ReceiptLine({ tone, text, children, isAnswer = false, onDismiss }: ReceiptLineProps) {
  const t = useTranslations("common");
  const line = useFocusWhenLost<HTMLDivElement>(isAnswer);
  return (
    <div
      ref={line}
      tabIndex={-1}
      role="status"
      className="ml-auto flex shrink-0 items-center gap-1.5 rounded-md bg-off-soft py-0.5 pr-1 pl-2"
    >
      <ToneIcon tone={tone} />
      <span>{text}</span>
      {children}
      {onDismiss ? (
        <button
          type="button"
          aria-label={t("dismiss")}
          onClick={onDismiss}
          className="grid size-6 place-items-center rounded-sm text-ink-2 hover:text-ink"
        >
          <X aria-hidden="true" className="size-3.5" />
        </button>
      ) : null}
    </div>
  );
}
