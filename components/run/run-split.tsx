import { useTranslations } from "next-intl";
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from "react";
import { cn } from "@/components/ui/cn";
import { persisted } from "@/lib/browser/persisted";

// The share of the page that the drawing takes beside the form, remembered in this browser.
// Guarantees: the share always leaves room for both sides.
const shares = { least: 25, most: 65, usual: 46, step: 3 } as const;

function bounded(share: number): number {
  return Math.min(shares.most, Math.max(shares.least, Math.round(share)));
}

const keptShare = persisted("lightdesk.run.split", (kept) => (typeof kept === "number" ? bounded(kept) : shares.usual));

type RunSplitProps = {
  isWide: boolean;
  /** Beside the form on wide screens, in its place on narrow ones; undefined while it is hidden. */
  graph: ReactNode;
  /** Below both, no wider than the form. */
  foot: ReactNode;
  className?: string;
  children: ReactNode;
};

/** The drawing stays in view while the form scrolls; the divider between them moves by pointer and by arrow keys. */
export function RunSplit({ isWide, graph, foot, className, children }: RunSplitProps) {
  const t = useTranslations("run.split");
  const [share, setShare] = useState(() => (isWide ? keptShare.get() : shares.usual));
  const isBeside = isWide && graph !== undefined;
  const footStyle = { display: "contents", "--form-width": isBeside ? `calc((100% - 11px) * ${(100 - share) / 100})` : "100%" };
  return (
    <>
      <div
        className={cn("flex-1", isBeside && "grid", className)}
        style={isBeside ? { gridTemplateColumns: `minmax(0, ${share}fr) 11px minmax(0, ${100 - share}fr)` } : undefined}
      >
        {graph === undefined ? null : (
          <section
            aria-label={t("graph")}
            className={cn(
              "min-w-0",
              isBeside
                ? "sticky top-[52px] h-[calc(100*var(--dvh)-52px)] p-4 pr-0 pl-5"
                : "h-[calc(100*var(--dvh)-208px)] min-h-[340px] p-4 md:h-[calc(100*var(--dvh)-52px)]",
            )}
          >
            {graph}
          </section>
        )}
        {isBeside ? <Divider share={share} onShare={setShare} /> : null}
        <section aria-label={t("form")} hidden={!isBeside && graph !== undefined} className="min-w-0">
          {children}
        </section>
      </div>
      <div style={footStyle}>{foot}</div>
    </>
  );
}

function Divider({ share, onShare }: { share: number; onShare: (share: number) => void }) {
  const t = useTranslations("run.split");
  const bar = useRef<HTMLDivElement>(null);
  function drag({ clientX }: PointerEvent) {
    const box = bar.current?.parentElement?.getBoundingClientRect();
    if (box && box.width > 0) onShare(bounded(((clientX - box.left) / box.width) * 100));
  }
  const moves: Record<string, number> = {
    ArrowLeft: share - shares.step,
    ArrowRight: share + shares.step,
    Home: shares.least,
    End: shares.most,
  };
  function onKeyDown(event: KeyboardEvent) {
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    onShare(bounded(to));
    keptShare.set(bounded(to));
  }
  return (
    <div
      ref={bar}
      role="separator"
      tabIndex={0}
      aria-label={t("divider")}
      aria-orientation="vertical"
      aria-valuemin={shares.least}
      aria-valuemax={shares.most}
      aria-valuenow={share}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => (event.currentTarget.hasPointerCapture(event.pointerId) ? drag(event) : undefined)}
      onPointerUp={() => keptShare.set(share)}
      onDoubleClick={() => {
        onShare(shares.usual);
        keptShare.set(shares.usual);
      }}
      className="group sticky top-[52px] grid h-[calc(100*var(--dvh)-52px)] cursor-col-resize touch-none place-items-center"
    >
      <span aria-hidden="true" className="h-10 w-[3px] rounded-full bg-line-strong group-hover:bg-control" />
    </div>
  );
}
