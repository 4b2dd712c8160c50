import { type useTranslations } from "next-intl";
import { columnsFor } from "@/components/data-table/features";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { FileName } from "@/components/ui/cut";
import { Cut } from "@/components/ui/cut";
import { DisabledLink } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { apiPath } from "@/lib/browser/urls";
import { isAddressableId } from "@/lib/contract/params";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { formatBytes } from "@/lib/shared/format";
import { assetHref, shortJob } from "../asset-urls";
import { assetLooks } from "./asset-looks";
import { type Motion } from "./motion";
import { SelectBox } from "./select-box";
import { TilePicture } from "./tile-picture";
import { type Picking } from "./use-picking";
import { MOST_TILES } from "./wall-layout";

/** A row of the list; `asset` is undefined while it loads. */
export type AssetRow = { id: string; index: number; asset: AssetView | undefined };

const rowOfAsset = new WeakMap<AssetView, AssetRow>();
const waitingRows = Array.from({ length: MOST_TILES }, (_, at): AssetRow => ({ id: `waiting-${at}`, index: at, asset: undefined }));

/** Returns the same row for the same asset at the same index, so that scrolling renders only new rows; rows still loading are all alike. */
export function assetRow(asset: AssetView | undefined, index: number): AssetRow {
  if (!asset) return waitingRows[index % MOST_TILES] ?? { id: `at-${index}`, index, asset };
  const known = rowOfAsset.get(asset);
  if (known?.index === index) return known;
  const row = { id: asset.id, index, asset };
  rowOfAsset.set(asset, row);
  return row;
}

type Where = {
  connectionId: string | undefined;
  connection: string | undefined;
  locale: string;
  picking: Picking;
  motion: Motion;
  onOpen: (id: string) => boolean;
  /** Explains rows whose id can't be part of a URL. */
  cannotOpen: string;
};
type Words = ReturnType<typeof useTranslations<"assets">>;

const column = columnsFor<AssetRow>();
const nameStyle = "row-link min-w-0 truncate !font-sans !text-base";
// Not animated: a jump draws a screenful of these, and animating each costs work in every frame.
const waiting = <span className="block h-3.5 w-16 rounded-sm bg-sunken" />;

export function assetColumns(t: Words, { connectionId, connection, locale, picking, motion, onOpen, cannotOpen }: Where) {
  const timeOf = (ms: number | undefined) => (ms === undefined ? t("table.nothing") : <RelativeTime ms={ms} />);
  return [
    column.display({
      id: "select",
      header: t("table.select"),
      meta: assetLooks.select,
      cell: ({ row: { original } }) =>
        original.asset ? (
          <SelectBox id={original.id} name={original.asset.name} index={original.index} picking={picking} className="select-cell" />
        ) : null,
    }),
    column.display({
      id: "preview",
      header: t("table.preview"),
      meta: assetLooks.preview,
      cell: ({ row: { original } }) =>
        original.asset ? (
          <TilePicture
            asset={original.asset}
            connectionId={connectionId}
            edge={128}
            motion={motion}
            isEarly={false}
            isPlain
            className="h-9 w-[52px]"
          />
        ) : (
          <span className="block h-9 w-[52px] rounded-sm bg-sunken" />
        ),
    }),
    column.display({
      id: "name",
      header: t("table.name"),
      meta: assetLooks.name,
      cell: ({ row: { original } }) =>
        original.asset ? (
          <span className="flex min-w-0 items-center gap-0.5">
            {isAddressableId(original.id) ? (
              <a
                href={apiPath(assetHref(original.id, connection))}
                title={original.asset.name}
                data-asset={original.id}
                onClick={(event) => {
                  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
                  if (isPlain && onOpen(original.id)) event.preventDefault();
                }}
                className={nameStyle}
              >
                <FileName name={original.asset.name} />
              </a>
            ) : (
              <DisabledLink reason={cannotOpen} className={nameStyle}>
                <FileName name={original.asset.name} />
              </DisabledLink>
            )}
            {original.asset.jobId ? (
              <span title={original.asset.jobId} className="ml-1 font-mono text-sm text-ink-3">
                {shortJob(original.asset.jobId)}
              </span>
            ) : null}
            <CopyButton text={original.id} label={t("table.copyId")} />
          </span>
        ) : (
          waiting
        ),
    }),
    column.display({
      id: "tags",
      header: t("table.tags"),
      meta: assetLooks.tags,
      cell: ({ row: { original } }) => (original.asset ? <Cut text={original.asset.tags.join(", ")} className="text-ink-2" /> : waiting),
    }),
    column.display({
      id: "type",
      header: t("table.type"),
      meta: assetLooks.type,
      cell: ({ row: { original } }) =>
        original.asset ? <Cut text={original.asset.mimeType ?? t(`kind.${original.asset.kind}`)} className="text-ink-2" /> : null,
    }),
    column.display({
      id: "size",
      header: t("table.size"),
      meta: assetLooks.size,
      cell: ({ row: { original } }) =>
        original.asset?.sizeBytes === undefined ? t("table.nothing") : formatBytes(original.asset.sizeBytes, locale),
    }),
    column.display({
      id: "created",
      header: t("table.created"),
      meta: assetLooks.created,
      cell: ({ row: { original } }) => timeOf(original.asset?.createdAtMs),
    }),
    column.display({
      id: "used",
      header: t("table.used"),
      meta: assetLooks.used,
      cell: ({ row: { original } }) => timeOf(original.asset?.lastUsedAtMs),
    }),
  ];
}
