import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { Button } from "@/components/ui/controls/button";
import { useEscape } from "@/components/ui/hooks/page-events";
import { useFocusWhenLost } from "@/components/ui/result-line";
import { type Tone, ToneIcon } from "@/components/ui/status-badge";

/** A bar at the bottom of the list with running actions and outcomes, above the selection's actions. */
export function BottomBar({ children }: { children: ReactNode }) {
  return (
    <div
      data-lower-edge=""
      className="pointer-events-none sticky bottom-16 z-40 mt-auto flex flex-col items-center gap-2 *:pointer-events-auto empty:hidden md:bottom-14 [&:not(:empty)~nav]:mt-0"
    >
      {children}
    </div>
  );
}

/** One line per action, in the order in which they were started. */
export function StatusLines({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div role="region" aria-label={label} className="flex max-w-[calc(100%-32px)] flex-col items-center gap-2">
      {children}
    </div>
  );
}

export function StatusLine({
  tone,
  text,
  children,
  onDismiss,
}: {
  tone: Tone;
  text: string;
  children?: ReactNode;
  onDismiss?: () => void;
}) {
  const common = useTranslations("common");
  const element = useFocusWhenLost<HTMLDivElement>();
  return (
    <div
      ref={element}
      tabIndex={-1}
      // Ignores the second click of a double click, which was meant for the previous content.
      onClickCapture={(event) => (event.detail > 1 ? event.stopPropagation() : undefined)}
      className="flex w-fit max-w-full flex-wrap items-center gap-x-3 gap-y-1.5 rounded-lg border border-line-strong bg-surface px-3.5 py-2 text-ink shadow-xl"
    >
      <span className="flex min-w-0 items-center gap-x-2">
        <ToneIcon tone={tone} />
        <span role="status" className="tabular-nums">
          {text}
        </span>
      </span>
      {children}
      {onDismiss ? (
        <Button tone="quiet" size="small" onClick={onDismiss}>
          {common("dismiss")}
        </Button>
      ) : null}
    </div>
  );
}

/** The actions for the selected rows, inside a `BottomBar`. Esc clears the selection. */
export function SelectionBar({ count, onClear, children }: { count: number; onClear: () => void; children: ReactNode }) {
  const t = useTranslations("common.selection");
  const isShown = count > 0;
  useEscape("selection", () => {
    if (isShown) onClear();
    return isShown;
  });
  if (!isShown) return null;
  return (
    <div
      role="region"
      aria-label={t("label")}
      className="flex w-fit items-center gap-x-3 gap-y-1 rounded-lg bg-ink px-3.5 py-2 text-bg shadow-xl max-sm:w-[calc(100%-16px)] max-sm:flex-wrap"
    >
      <b className="font-semibold whitespace-nowrap">{t("count", { count })}</b>
      <div className="contents max-sm:order-last max-sm:block max-sm:w-full">{children}</div>
      <button type="button" onClick={onClear} className="rounded-sm opacity-80 hover:opacity-100 max-sm:ml-auto">
        {t("release")}
      </button>
    </div>
  );
}

export const selectionItemStyle = "rounded-sm whitespace-nowrap underline-offset-4 hover:underline";

export function SelectionButton({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <button type="button" onClick={onClick} className={selectionItemStyle}>
      {children}
    </button>
  );
}
