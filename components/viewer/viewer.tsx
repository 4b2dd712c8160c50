"use client";

import { ChevronLeft, ChevronRight, Columns2, Download, Pause, Play, X } from "lucide-react";
import Link from "next/link";
import { useTranslations } from "next-intl";
import { type KeyboardEvent, useRef, useState } from "react";
import { Button, buttonStyle } from "@/components/ui/button";
import { Select } from "@/components/ui/select";
import { Skeleton } from "@/components/ui/skeleton";
import { OtherMedia } from "./other-media";
import { slideSeconds, useSlideshow } from "./use-slideshow";
import { ViewerDialog } from "./viewer-dialog";
import { type ItemAt, MOST_COMPARED, type ViewerItem } from "./viewer-item";
import { ZoomedPicture } from "./zoomed-picture";

type ViewerProps = {
  count: number;
  at: number;
  itemAt: ItemAt;
  onMove: (at: number) => void;
  onClose: () => void;
  /** With it, pictures can be marked and compared. */
  onCompare?: (ids: readonly string[]) => void;
  /** Something stands before it: the slides wait. */
  isCovered?: boolean;
  /** False where the service hands out no files. */
  canDownload?: boolean;
};

/** One thing in full, and from it to the next: arrows turn the page, S plays, C marks for comparing, + and - zoom. */
export function Viewer({ count, at, itemAt, onMove, onClose, onCompare, isCovered = false, canDownload = true }: ViewerProps) {
  const t = useTranslations("viewer");
  const dialog = useRef<HTMLDialogElement>(null);
  const [readyId, setReadyId] = useState<string>();
  const [marked, setMarked] = useState<readonly ViewerItem[]>([]);
  const item = itemAt(at);
  const slideshow = useSlideshow({ isReady: item !== undefined && readyId === item.id && !isCovered, at, count, onMove });
  const turn = (by: 1 | -1) => {
    if (at + by >= 0 && at + by < count) onMove(at + by);
  };
  const isMarked = item !== undefined && marked.some(({ id }) => id === item.id);
  const mark = () => {
    if (item?.kind !== "image" || !onCompare) return;
    setMarked(isMarked ? marked.filter(({ id }) => id !== item.id) : [...marked, item].slice(-MOST_COMPARED));
  };
  const keys: Record<string, () => void> = {
    ArrowLeft: () => turn(-1),
    ArrowRight: () => turn(1),
    Home: () => onMove(0),
    End: () => onMove(count - 1),
    s: slideshow.toggle,
    c: mark,
  };
  const onKey = (event: KeyboardEvent): boolean => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (!act) return false;
    event.preventDefault();
    act();
    return true;
  };
  const next = itemAt(at + 1);
  return (
    <ViewerDialog
      dialog={dialog}
      label={t("label", { name: item?.name ?? "", at: at + 1, count })}
      onClose={onClose}
      onKey={onKey}
      isCovered={isCovered}
    >
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <span className="min-w-0 flex-1 truncate">
          {item?.href ? (
            <Link href={item.href} className="font-medium hover:underline">
              {item.name}
            </Link>
          ) : (
            item?.name
          )}{" "}
          <span className="text-ink-3">{item?.note}</span>
        </span>
        <span role="status" className="text-ink-3">
          {t("place", { at: at + 1, count })}
        </span>
        <div className="flex flex-wrap items-center gap-2 max-sm:order-last max-sm:w-full">
          <Button
            size="icon"
            aria-label={t("previous")}
            title={t("previous")}
            aria-disabled={at === 0 || undefined}
            onClick={() => turn(-1)}
          >
            <ChevronLeft aria-hidden="true" className="size-4" />
          </Button>
          <Button size="icon" aria-label={t("next")} title={t("next")} aria-disabled={at + 1 >= count || undefined} onClick={() => turn(1)}>
            <ChevronRight aria-hidden="true" className="size-4" />
          </Button>
          {count > 1 ? (
            <>
              <Button
                size="icon"
                aria-label={t(slideshow.isPlaying ? "pause" : "play")}
                title={t(slideshow.isPlaying ? "pause" : "play")}
                onClick={slideshow.toggle}
              >
                {slideshow.isPlaying ? <Pause aria-hidden="true" className="size-4" /> : <Play aria-hidden="true" className="size-4" />}
              </Button>
              <Select
                aria-label={t("seconds")}
                value={slideshow.seconds}
                onChange={({ currentTarget: { value } }) => slideshow.setSeconds(slideSeconds.find((one) => String(one) === value) ?? 4)}
                className="max-sm:hidden"
              >
                {slideSeconds.map((seconds) => (
                  <option key={seconds} value={seconds}>
                    {t("each", { seconds })}
                  </option>
                ))}
              </Select>
            </>
          ) : null}
          {onCompare && item?.kind === "image" ? (
            <Button aria-pressed={isMarked} tone={isMarked ? "primary" : "plain"} onClick={mark}>
              {t("mark")}
            </Button>
          ) : null}
          {onCompare && marked.length > 1 ? (
            <Button onClick={() => onCompare(marked.map(({ id }) => id))}>
              <Columns2 aria-hidden="true" className="size-4" />
              {t("compare", { count: marked.length })}
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
        </div>
        <Button size="icon" aria-label={t("close")} title={t("close")} onClick={() => dialog.current?.close()}>
          <X aria-hidden="true" className="size-4" />
        </Button>
      </div>
      {item ? (
        <Shown key={item.id} item={item} canDownload={canDownload} onReady={() => setReadyId(item.id)} onKey={onKey} />
      ) : (
        <Coming onKey={onKey} />
      )}
      {/* The next one is fetched while this one is looked at. */}
      {next?.kind === "image" ? <link rel="prefetch" as="image" href={next.src} /> : null}
    </ViewerDialog>
  );
}

type ShownProps = { item: ViewerItem; canDownload: boolean; onReady: () => void; onKey: (event: KeyboardEvent) => boolean };

function Shown(props: ShownProps) {
  const { item, onReady, onKey } = props;
  if (item.kind !== "image") return <OtherMedia {...props} />;
  return <ZoomedPicture place="window" src={item.src} alt={item.name} poster={item.poster} onReady={onReady} onKey={onKey} />;
}

/** Not known yet: the keys go on working. */
function Coming({ onKey }: { onKey: ShownProps["onKey"] }) {
  const t = useTranslations("viewer");
  return (
    <div
      ref={(element) => element?.focus()}
      role="group"
      aria-label={t("loading")}
      tabIndex={0}
      onKeyDown={onKey}
      className="grid min-h-0 flex-1 place-items-center"
    >
      <Skeleton className="size-64" />
    </div>
  );
}
