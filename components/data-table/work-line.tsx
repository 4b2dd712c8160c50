"use client";

import { useTranslations } from "next-intl";
import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "@/components/ui/button";
import { type Tone } from "@/components/ui/tone";
import { ToneIcon } from "@/components/ui/tone-icon";

type WorkLineProps = {
  /** Names the region. */
  label: string;
  tone: Tone;
  text: string;
  children?: ReactNode;
  onDismiss?: () => void;
};

/** Where the bar of a selection was: what is done with it, and what became of it. */
export function WorkLine({ label, tone, text, children, onDismiss }: WorkLineProps) {
  const common = useTranslations("common");
  const line = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The button that was pressed is gone: the next key would begin at the top of the page.
    if (document.activeElement === document.body) line.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div
      ref={line}
      tabIndex={-1}
      role="region"
      aria-label={label}
      // The second click of a double click on what stood here before was not meant for what stands here now.
      onClickCapture={(event) => (event.detail > 1 ? event.stopPropagation() : undefined)}
      className="sticky bottom-16 z-30 mx-auto mt-auto flex w-fit max-w-[calc(100%-32px)] flex-wrap items-center gap-x-3 gap-y-1.5 rounded-lg border border-line-strong bg-surface px-3.5 py-2 text-ink shadow-xl md:bottom-14 [&~nav]:mt-0"
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
