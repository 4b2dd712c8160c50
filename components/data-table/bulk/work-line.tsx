import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { Button } from "@/components/ui/controls/button";
import { useFocusWhenLost } from "@/components/ui/hooks/use-focus-when-lost";
import { type Tone } from "@/components/ui/tone";
import { ToneIcon } from "@/components/ui/tone-icon";

/** Laid over the list's lower edge: acts in progress and their outcomes, above the actions for the selected rows. */
export function LowerEdge({ children }: { children: ReactNode }) {
  return (
    <div
      data-lower-edge=""
      className="pointer-events-none sticky bottom-16 z-30 mt-auto flex flex-col items-center gap-2 *:pointer-events-auto empty:hidden md:bottom-14 [&:not(:empty)~nav]:mt-0"
    >
      {children}
    </div>
  );
}

/** A line for each act, in the order in which they began. `label` names them all. */
export function WorkLines({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div role="region" aria-label={label} className="flex max-w-[calc(100%-32px)] flex-col items-center gap-2">
      {children}
    </div>
  );
}

type WorkLineProps = { tone: Tone; text: string; children?: ReactNode; onDismiss?: () => void };

export function WorkLine({ tone, text, children, onDismiss }: WorkLineProps) {
  const common = useTranslations("common");
  const line = useFocusWhenLost<HTMLDivElement>();
  return (
    <div
      ref={line}
      tabIndex={-1}
      // The second click of a double click was meant for what was here before, so it is ignored.
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
