import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { type KeyboardEvent, useRef, useState } from "react";
import { useCanShare } from "@/components/frame/member-context";
import { Skeleton } from "@/components/ui/skeleton";
import { OtherMedia } from "./other-media";
import { type GetItem, MAX_COMPARED, type ViewerItem } from "./use-viewing";
import { useSlideshow, ViewerBar, ViewerDialog, ViewerKeys } from "./viewer-bar";
import { ZoomedPicture } from "./zoomed-picture";

type ViewerProps = {
  count: number;
  index: number;
  getItem: GetItem;
  onMove: (index: number) => void;
  onClose: () => void;
  onCompare?: (ids: readonly string[]) => void;
  isCovered?: boolean;
  /** False if the service serves no files. */
  canDownload?: boolean;
  /** The assets' connection, if public share links can be created on it. */
  shareConnectionId?: string;
};

const ShareDialog = dynamic(() => import("@/components/frame/share/share-dialog").then((module) => module.ShareDialog), { ssr: false });

/** Larger files are not preloaded. */
const MAX_PRELOAD_BYTES = 32 * 1024 * 1024;

/** Shows one item full size. Arrows change the item, Space plays, C marks it, + and - zoom, ? lists all keys. */
export function Viewer({
  count,
  index,
  getItem,
  onMove,
  onClose,
  onCompare,
  isCovered = false,
  canDownload = true,
  shareConnectionId,
}: ViewerProps) {
  const t = useTranslations("viewer");
  const dialog = useRef<HTMLDialogElement>(null);
  const [readyId, setReadyId] = useState<string>();
  const [markedItems, setMarkedItems] = useState<readonly ViewerItem[]>([]);
  const [isPaging, setPaging] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [sharedId, setSharedId] = useState<string>();
  const canShare = useCanShare();
  const item = getItem(index);
  const isReady = item !== undefined && readyId === item.id;
  const slideshow = useSlideshow({ isReady: isReady && !isCovered && !isHelpOpen && sharedId === undefined, index, count, onMove });
  const moveBy = (offset: 1 | -1, isRepeat = false) => {
    setPaging(isRepeat);
    if (index + offset >= 0 && index + offset < count) onMove(index + offset);
  };
  const isMarked = item !== undefined && markedItems.some(({ id }) => id === item.id);
  const toggleMark = () => {
    if (item?.kind !== "image" || !onCompare) return;
    setMarkedItems(isMarked ? markedItems.filter(({ id }) => id !== item.id) : [...markedItems, item].slice(-MAX_COMPARED));
  };
  const keys: Record<string, (isRepeat: boolean) => void> = {
    ArrowLeft: (isRepeat) => moveBy(-1, isRepeat),
    ArrowRight: (isRepeat) => moveBy(1, isRepeat),
    Home: () => onMove(0),
    End: () => onMove(count - 1),
    " ": slideshow.toggle,
    s: slideshow.toggle,
    c: toggleMark,
    "?": () => setHelpOpen(true),
  };
  const onKey = (event: KeyboardEvent): boolean => {
    if (event.ctrlKey || event.metaKey || event.altKey || isHandledByTarget(event)) return false;
    const handler = keys[event.key];
    if (!handler) return false;
    event.preventDefault();
    // Only arrows repeat while held down.
    if (!event.repeat || event.key.startsWith("Arrow")) handler(event.repeat);
    return true;
  };
  const nextItem = getItem(slideshow.isPlaying ? (index + 1) % count : index + 1);
  const shouldPreload = isReady && nextItem?.kind === "image" && (nextItem.sizeBytes ?? 0) <= MAX_PRELOAD_BYTES;
  return (
    <ViewerDialog
      dialog={dialog}
      label={t("label", { name: item?.name ?? "", at: index + 1, count })}
      onClose={onClose}
      onKey={onKey}
      isCovered={isCovered}
    >
      <ViewerBar
        item={item}
        index={index}
        count={count}
        slideshow={slideshow}
        comparison={
          onCompare && {
            isMarked,
            count: markedItems.length,
            onMark: toggleMark,
            onCompare: () => onCompare(markedItems.map(({ id }) => id)),
          }
        }
        canDownload={canDownload}
        onShare={canShare && shareConnectionId !== undefined && item ? () => setSharedId(item.id) : undefined}
        onMoveBy={moveBy}
        onKeys={() => setHelpOpen(true)}
        onClose={() => dialog.current?.close()}
      />
      {item ? (
        <ItemView
          key={item.id}
          item={item}
          isPaging={isPaging}
          canDownload={canDownload}
          onReady={() => setReadyId(item.id)}
          onMoveBy={moveBy}
          onKey={onKey}
        />
      ) : (
        <LoadingItem onKey={onKey} />
      )}
      {/* Loads the next item while this one is shown. */}
      {shouldPreload ? <link rel="prefetch" as="image" href={nextItem.src} /> : null}
      {sharedId === undefined ? null : (
        <ShareDialog subject={{ assets: [sharedId] }} connectionId={shareConnectionId} onClose={() => setSharedId(undefined)} />
      )}
      <ViewerKeys isOpen={isHelpOpen} canCompare={onCompare !== undefined} onClose={() => setHelpOpen(false)} />
    </ViewerDialog>
  );
}

/** Space clicks a focused button or link; arrows with Shift pan the picture. */
function isHandledByTarget({ key, shiftKey, target }: KeyboardEvent): boolean {
  if (key === " ") return target instanceof Element && target.closest("button, a") !== null;
  return shiftKey && key.startsWith("Arrow");
}

type ItemViewProps = {
  item: ViewerItem;
  isPaging: boolean;
  canDownload: boolean;
  onReady: () => void;
  onMoveBy: (offset: 1 | -1) => void;
  onKey: (event: KeyboardEvent) => boolean;
};

function ItemView({ item, isPaging, canDownload, onReady, onMoveBy, onKey }: ItemViewProps) {
  if (item.kind !== "image") return <OtherMedia item={item} canDownload={canDownload} onReady={onReady} onKey={onKey} />;
  const { src, name, poster } = item;
  return (
    <ZoomedPicture
      container="window"
      src={src}
      alt={name}
      poster={poster}
      initialSize={item}
      isPaging={isPaging}
      onReady={onReady}
      onSwipe={onMoveBy}
      onKey={onKey}
    />
  );
}

/** A placeholder for an item that isn't loaded yet, which handles the keys. */
function LoadingItem({ onKey }: { onKey: ItemViewProps["onKey"] }) {
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
