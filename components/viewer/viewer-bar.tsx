import { ChevronLeft, ChevronRight, Columns2, Download, Keyboard, Pause, Play, Share2, X } from "lucide-react";
import { useTranslations } from "next-intl";
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useEffectEvent, useRef, useState } from "react";
import { Button, buttonStyle, IconButton } from "@/components/ui/controls/button";
import { Options, Select } from "@/components/ui/controls/fields";
import { Dialog, KeyList } from "@/components/ui/dialog";
import { Link } from "@/components/ui/link";
import { FileName } from "@/components/ui/truncated";
import { type ViewerItem } from "./use-viewing";

type ViewerBarProps = {
  item: ViewerItem | undefined;
  index: number;
  count: number;
  slideshow: ReturnType<typeof useSlideshow>;
  /** Whether this item is marked for comparison, and how many are. Absent if comparing is not offered. */
  comparison: { isMarked: boolean; count: number; onMark: () => void; onCompare: () => void } | undefined;
  canDownload: boolean;
  /** Absent if share links can't be created. */
  onShare: (() => void) | undefined;
  onMoveBy: (offset: 1 | -1) => void;
  onKeys: () => void;
  onClose: () => void;
};

export function ViewerBar({ item, index, count, slideshow, comparison, canDownload, onShare, onMoveBy, onKeys, onClose }: ViewerBarProps) {
  const t = useTranslations("viewer");
  const playLabel = t(slideshow.isPlaying ? "pause" : "play");
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
      <span className="min-w-0 flex-1 truncate" title={item?.name}>
        {item?.href ? (
          <Link href={item.href} className="font-medium hover:underline">
            <FileName name={item.name} />
          </Link>
        ) : (
          item?.name
        )}{" "}
        <span className="text-ink-3">{item?.note}</span>
      </span>
      <span role="status" className="text-ink-3 tabular-nums">
        {t("place", { at: index + 1, count })}
      </span>
      <div className="flex flex-wrap items-center gap-2 max-sm:order-last max-sm:w-full">
        <IconButton
          icon={ChevronLeft}
          label={t("previous")}
          title={`${t("previous")} (←)`}
          aria-disabled={index === 0 || undefined}
          onClick={() => onMoveBy(-1)}
        />
        <IconButton
          icon={ChevronRight}
          label={t("next")}
          title={`${t("next")} (→)`}
          aria-disabled={index + 1 >= count || undefined}
          onClick={() => onMoveBy(1)}
        />
        {count > 1 ? (
          <>
            <IconButton icon={slideshow.isPlaying ? Pause : Play} label={playLabel} onClick={slideshow.toggle} />
            <Select
              aria-label={t("seconds")}
              value={slideshow.seconds}
              onChange={({ currentTarget: { value } }) =>
                slideshow.setSeconds(slideSeconds.find((seconds) => String(seconds) === value) ?? 4)
              }
              className="max-sm:hidden"
            >
              <Options of={slideSeconds.map((seconds) => [seconds, t("each", { seconds })])} />
            </Select>
          </>
        ) : null}
        {comparison && item?.kind === "image" ? (
          <Button aria-pressed={comparison.isMarked} tone={comparison.isMarked ? "primary" : "plain"} onClick={comparison.onMark}>
            {t("mark")}
          </Button>
        ) : null}
        {comparison && comparison.count > 1 ? (
          <Button onClick={comparison.onCompare}>
            <Columns2 aria-hidden="true" className="size-4" />
            {t("compare", { count: comparison.count })}
          </Button>
        ) : null}
        {item && canDownload ? (
          <a
            href={item.src}
            download={item.name}
            aria-label={t("download", { name: item.name })}
            title={t("download", { name: item.name })}
            className={buttonStyle({ size: "icon" })}
          >
            <Download aria-hidden="true" className="size-4" />
          </a>
        ) : null}
        {onShare ? <IconButton icon={Share2} label={t("share", { name: item?.name ?? "" })} onClick={onShare} /> : null}
        <IconButton icon={Keyboard} label={t("keys.title")} title={`${t("keys.title")} (?)`} onClick={onKeys} className="max-sm:hidden" />
      </div>
      <IconButton icon={X} label={t("close")} title={`${t("close")} (Esc)`} onClick={onClose} />
    </div>
  );
}

const keys = [
  { action: "turn", keyNames: ["←", "→"] },
  { action: "ends", keyNames: ["Home", "End"] },
  { action: "zoom", keyNames: ["+", "-"] },
  { action: "fit", keyNames: ["0"] },
  { action: "pixels", keyNames: ["1"] },
  { action: "pan", keyNames: ["Shift", "←", "↑", "↓", "→"] },
  { action: "slides", keyNames: ["Space"] },
  { action: "mark", keyNames: ["C"] },
  { action: "close", keyNames: ["Esc"] },
  { action: "keys", keyNames: ["?"] },
] as const;

export function ViewerKeys({ isOpen, canCompare, onClose }: { isOpen: boolean; canCompare: boolean; onClose: () => void }) {
  const t = useTranslations("viewer.keys");
  const visibleKeys = keys.filter(({ action }) => action !== "mark" || canCompare);
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t("title")} actions="close">
      <KeyList rows={visibleKeys.map(({ action, keyNames }) => ({ keys: keyNames, text: t(action) }))} className="gap-y-2" />
    </Dialog>
  );
}

const slideSeconds = [2, 4, 8, 15] as const;
type SlideSeconds = (typeof slideSeconds)[number];

type SlideshowOptions = {
  isReady: boolean;
  index: number;
  count: number;
  onMove: (index: number) => void;
};

/** Advances automatically, and from the last slide to the first. Each slide is shown for the full time after it has loaded. */
export function useSlideshow({ isReady, index, count, onMove }: SlideshowOptions) {
  const [isPlaying, setPlaying] = useState(false);
  const [seconds, setSeconds] = useState<SlideSeconds>(4);
  const move = useEffectEvent(onMove);
  useEffect(() => {
    if (!isPlaying || !isReady || count < 2) return;
    const timer = setTimeout(() => move((index + 1) % count), seconds * 1000);
    return () => clearTimeout(timer);
  }, [isPlaying, isReady, index, count, seconds]);
  return { isPlaying, seconds, setSeconds, toggle: () => setPlaying((current) => !current), stop: () => setPlaying(false) };
}

type ViewerDialogProps = {
  dialog: RefObject<HTMLDialogElement | null>;
  label: string;
  onClose: () => void;
  /** Receives keys that no element inside handles. */
  onKey?: (event: KeyboardEvent) => void;
  isCovered?: boolean;
  children: ReactNode;
};

/** A full-window dialog: Esc closes it and restores the focus. */
export function ViewerDialog({ dialog, label, onClose, onKey, isCovered = false, children }: ViewerDialogProps) {
  const wasCovered = useRef(false);
  useEffect(() => {
    const element = dialog.current;
    if (element && !element.open) {
      element.showModal();
      focusShownItem(element);
    }
    return () => element?.close();
  }, [dialog]);
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      onCancel={(event) => {
        if (event.target === event.currentTarget) wasCovered.current = isCovered;
      }}
      onClose={({ target, currentTarget }) => {
        // React also bubbles close events of nested dialogs.
        if (target !== currentTarget) return;
        // After a reload, one Esc would close all dialogs that were opened without a click.
        if (!wasCovered.current) return onClose();
        wasCovered.current = false;
        currentTarget.showModal();
        focusShownItem(currentTarget);
      }}
      onKeyDown={(event) => {
        if (event.defaultPrevented || !(event.target instanceof Element)) return;
        const isInThisDialog = event.target.closest("dialog") === event.currentTarget;
        if (isInThisDialog && !event.target.closest("select, input, video, audio")) onKey?.(event);
      }}
      className="m-0 h-dvh max-h-none w-screen max-w-none bg-bg p-0 text-ink"
    >
      <div className="flex h-full flex-col">{children}</div>
    </dialog>
  );
}

/** Focuses the shown item instead of the dialog's first link, so that it receives the keys. */
function focusShownItem(dialog: HTMLDialogElement): void {
  dialog.querySelector<HTMLElement>('[role="group"][tabindex="0"]')?.focus();
}
