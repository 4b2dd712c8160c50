import { useTranslations } from "next-intl";
import { memo, type ReactNode } from "react";
import { useSelectionValue } from "@/components/data-table/selection";
import { cn } from "@/components/ui/cn";
import { RelativeTime } from "@/components/ui/time";
import { FileName } from "@/components/ui/truncated";
import { apiPath, shortId, type ThumbnailEdge } from "@/lib/browser/urls";
import { isAddressableId } from "@/lib/contract/params";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { formatBytes } from "@/lib/shared/text";
import { assetHref } from "../asset-calls";
import { TilePicture } from "../asset-picture";
import { type Motion } from "./motion";
import { type Picking } from "./use-picking";

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
  edge: ThumbnailEdge;
  /** Whether other assets have the same name, so that the caption must distinguish them. */
  isNamesake: boolean;
  fit: "cover" | "contain";
  isOpen: boolean;
  isEarly: boolean;
  /** Whether Tab moves to this tile. */
  isCurrent: boolean;
  motion: Motion;
  picking: Picking;
};

/** A plain link, since thousands are mounted and unmounted while scrolling. The gallery handles all clicks. */
export const AssetTile = memo(function AssetTile(props: AssetTileProps) {
  const { asset, index, count, locale, connectionId, connection, edge, isNamesake, fit, isOpen, isEarly, isCurrent, motion, picking } =
    props;
  const { store } = picking;
  const canOpen = asset === undefined || isAddressableId(asset.id);
  const isSelected = useSelectionValue(store, () => asset !== undefined && store.has(asset.id));
  return (
    <li aria-setsize={count} aria-posinset={index + 1} data-chosen={isSelected || undefined} className="group/tile relative min-w-0">
      <a
        href={asset && canOpen ? apiPath(assetHref(asset.id, connection)) : undefined}
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
          <TilePicture
            asset={asset}
            connectionId={connectionId}
            edge={edge}
            fit={fit}
            motion={motion}
            isEarly={isEarly}
            className="tile-picture"
          />
        ) : (
          <span className="tile-picture block rounded-sm bg-sunken" />
        )}
        <span className="flex h-[27px] items-baseline gap-2 px-px py-1">
          <span title={asset && canOpen ? getTitle(asset) : undefined} className="min-w-0 flex-1 truncate">
            {asset ? <FileName name={asset.name} /> : " "}
          </span>
          {canOpen ? null : <CannotOpen />}
          {asset ? getCaption(asset, locale, isNamesake) : null}
        </span>
      </a>
      {asset ? <SelectBox id={asset.id} name={asset.name} index={index} picking={picking} className="tile-select" /> : null}
    </li>
  );
});

/** Covers the tile. A separate component because only these tiles need text. */
function CannotOpen() {
  const reason = useTranslations("common")("cannotOpen");
  return (
    <span title={reason} className="absolute inset-0">
      <span className="sr-only">{reason}</span>
    </span>
  );
}

function getTitle({ name, jobId }: AssetView): string {
  return jobId ? `${name} · ${shortId(jobId)}` : name;
}

/** The asset's size, or its job or date if the name is not unique. Not a component, since hundreds are mounted and unmounted. */
function getCaption({ jobId, createdAtMs, sizeBytes }: AssetView, locale: string, isNamesake: boolean): ReactNode {
  const style = "text-sm whitespace-nowrap text-ink-3";
  if (isNamesake && jobId) return <span className={cn(style, "font-mono")}>{shortId(jobId)}</span>;
  if (isNamesake && createdAtMs !== undefined) return <RelativeTime ms={createdAtMs} className={style} />;
  return sizeBytes === undefined ? null : <span className={style}>{formatBytes(sizeBytes, locale)}</span>;
}

type SelectBoxProps = { id: string; name: string; index: number; picking: Picking; className?: string };

/** A click with Shift selects the range since the last click. */
export function SelectBox({ id, name, index, picking, className }: SelectBoxProps) {
  const isSelected = useSelectionValue(picking.store, () => picking.store.has(id));
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
          if (nativeEvent instanceof MouseEvent && nativeEvent.shiftKey) void picking.extend(index);
          else picking.toggle(index);
        }}
      />
    </label>
  );
}
