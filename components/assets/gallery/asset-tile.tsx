import { useTranslations } from "next-intl";
import { memo, type ReactNode } from "react";
import { useSelectionValue } from "@/components/data-table/selection";
import { cn } from "@/components/ui/cn";
import { RelativeTime } from "@/components/ui/time";
import { FileName } from "@/components/ui/truncated";
import { apiPath, type ThumbnailSize, toShortId } from "@/lib/browser/urls";
import { isAddressableId } from "@/lib/contract/params";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { formatBytes } from "@/lib/shared/text";
import { getAssetHref } from "../asset-api";
import { TileThumbnail } from "../asset-thumbnail";
import { type ScrollMotion } from "./scroll-motion";
import { type AssetSelection } from "./use-asset-selection";

type AssetTileProps = {
  /** Undefined while loading. */
  asset: AssetView | undefined;
  index: number;
  count: number;
  locale: string;
  /** The service's id, for the preview. */
  connectionId?: string;
  /** The connection in the URL, if any. */
  connection?: string;
  edge: ThumbnailSize;
  /** Whether other assets have the same name, so that the caption must distinguish them. */
  hasDuplicateName: boolean;
  fit: "cover" | "contain";
  isOpen: boolean;
  isInitial: boolean;
  /** Whether Tab moves to this tile. */
  isCurrent: boolean;
  motion: ScrollMotion;
  selection: AssetSelection;
};

/** A plain link, since thousands are mounted and unmounted while scrolling. The gallery handles all clicks. */
export const AssetTile = memo(function AssetTile(props: AssetTileProps) {
  const {
    asset,
    index,
    count,
    locale,
    connectionId,
    connection,
    edge,
    hasDuplicateName,
    fit,
    isOpen,
    isInitial,
    isCurrent,
    motion,
    selection,
  } = props;
  const { store } = selection;
  const canOpen = asset === undefined || isAddressableId(asset.id);
  const isSelected = useSelectionValue(store, () => asset !== undefined && store.has(asset.id));
  return (
    <li aria-setsize={count} aria-posinset={index + 1} data-chosen={isSelected || undefined} className="group/tile relative min-w-0">
      <a
        href={asset && canOpen ? apiPath(getAssetHref(asset.id, connection)) : undefined}
        role={canOpen ? undefined : "link"}
        aria-disabled={!canOpen || undefined}
        data-index={index}
        data-asset={asset?.id}
        tabIndex={isCurrent ? 0 : -1}
        draggable={false}
        aria-current={isOpen ? "true" : undefined}
        className={cn(
          "block rounded-sm outline-offset-2",
          isOpen && "outline-2 outline-accent",
          isSelected && "bg-accent-soft outline-2 outline-accent",
        )}
      >
        {asset ? (
          <TileThumbnail
            asset={asset}
            connectionId={connectionId}
            edge={edge}
            fit={fit}
            motion={motion}
            isInitial={isInitial}
            className="tile-picture"
          />
        ) : (
          <span className="tile-picture block rounded-sm bg-sunken" />
        )}
        <span className="flex h-[27px] items-baseline gap-2 px-px py-1">
          <span title={asset && canOpen ? getTitle(asset) : undefined} className="min-w-0 flex-1 truncate">
            {asset ? <FileName name={asset.name} /> : " "}
          </span>
          {canOpen ? null : <CannotOpenOverlay />}
          {asset ? getCaption(asset, locale, hasDuplicateName) : null}
        </span>
      </a>
      {asset ? <SelectionCheckbox id={asset.id} name={asset.name} index={index} selection={selection} className="tile-select" /> : null}
    </li>
  );
});

/** Covers the tile. A separate component, since only these tiles need a translation. */
function CannotOpenOverlay() {
  const reason = useTranslations("common")("cannotOpen");
  return (
    <span title={reason} className="absolute inset-0">
      <span className="sr-only">{reason}</span>
    </span>
  );
}

function getTitle({ name, jobId }: AssetView): string {
  return jobId ? `${name} · ${toShortId(jobId)}` : name;
}

/** The asset's size, or its job or date if the name is not unique. Not a component, since hundreds are mounted and unmounted. */
function getCaption({ jobId, createdAtMs, sizeBytes }: AssetView, locale: string, hasDuplicateName: boolean): ReactNode {
  const style = "text-sm whitespace-nowrap text-ink-3";
  if (hasDuplicateName && jobId) return <span className={cn(style, "font-mono")}>{toShortId(jobId)}</span>;
  if (hasDuplicateName && createdAtMs !== undefined) return <RelativeTime ms={createdAtMs} className={style} />;
  return sizeBytes === undefined ? null : <span className={style}>{formatBytes(sizeBytes, locale)}</span>;
}

type SelectionCheckboxProps = { id: string; name: string; index: number; selection: AssetSelection; className?: string };

/** Shift-click selects the range from the last clicked tile. */
export function SelectionCheckbox({ id, name, index, selection, className }: SelectionCheckboxProps) {
  const isSelected = useSelectionValue(selection.store, () => selection.store.has(id));
  return (
    <label className={className} onClick={(event) => event.stopPropagation()}>
      {/* A plain element, since hundreds are mounted and unmounted while scrolling. */}
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={name}
        checked={isSelected}
        className="size-4"
        onChange={({ nativeEvent }) => {
          if (nativeEvent instanceof MouseEvent && nativeEvent.shiftKey) void selection.extendTo(index);
          else selection.toggle(index);
        }}
      />
    </label>
  );
}
