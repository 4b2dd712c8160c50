import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode, useEffect, useRef } from "react";
import { type Tone, ToneIcon } from "./status-badge";

type ResultLineProps = {
  tone: Tone;
  text: string;
  children?: ReactNode;
  /** Announced when an action completes, but not when the page is reopened. */
  isResult?: boolean;
  onDismiss?: () => void;
};

/** The outcome of an action, or its Undo button, in the toolbar. Shown until it is dismissed or another action starts. */
export function ResultLine({ tone, text, children, isResult = false, onDismiss }: ResultLineProps) {
  const t = useTranslations("common");
  const element = useFocusWhenLost<HTMLDivElement>(isResult);
  return (
    <div
      ref={element}
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

/** Focuses the result of an action if the clicked button was removed. Otherwise the focus would move to the top of the page. */
export function useFocusWhenLost<Element extends HTMLElement>(isResult = true) {
  const element = useRef<Element>(null);
  useEffect(() => {
    if (isResult && document.activeElement === document.body) element.current?.focus({ preventScroll: true });
  }, [isResult]);
  return element;
}
