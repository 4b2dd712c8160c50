import { useLocale, useTranslations } from "next-intl";
import { useMemo } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { columnsFor, type Sorting } from "@/components/data-table/table-columns";
import { type ListState } from "@/components/frame/list/use-list-state";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { Cut, FileName } from "@/components/ui/cut";
import { DisabledLink } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { apiPath } from "@/lib/browser/urls";
import { isAddressableId } from "@/lib/contract/params";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { formatBytes } from "@/lib/shared/format";
import { TilePicture } from "../asset-picture";
import { assetHref, shortJob } from "../asset-urls";
import { assetLooks } from "../assets-skeleton";
import { SelectBox } from "./asset-tile";
import { useHandle, useWanted, type WallProps } from "./gallery";
import { type Motion } from "./motion";
import { type Picking } from "./use-picking";
import { useAllTilesKey } from "./use-tile-keys";
import { OffsetLabel, useWall } from "./use-wall";
import { MAX_TILES } from "./wall-layout";
import { standAt } from "./wall-scroll";

type WallTableProps = WallProps & { place: ListState<AssetsQuery> };

const ROW_PX = 46;
const HEAD_PX = 34;
const FIRST_ROWS = 40;
const layoutOf = () => ({ columns: 1, rowPx: ROW_PX });
const rowId = (row: AssetRow) => row.id;

/** The same list as rows: only the part near the view is a table. */
export function WallTable({
  source,
  picking,
  connectionId,
  connection,
  openId,
  startIndex,
  onOpen,
  onRest,
  onReady,
  place,
}: WallTableProps) {
  const t = useTranslations("assets");
  const cannotOpen = useTranslations("common")("cannotOpen");
  const locale = useLocale();
  const wall = useWall({ count: source.count, layoutOf, startIndex, onRest, headPx: HEAD_PX });
  const { drawn, container, motion } = wall;
  const [from, to] = drawn ? [drawn.from, drawn.to] : [startIndex, Math.min(source.count, startIndex + FIRST_ROWS)];
  const inView = useHandle(onReady, wall, from, to);
  useWanted(source, wall);
  useAllTilesKey({ source, picking, inView, list: container });
  const rows = inView().map((index) => assetRow(source.at(index), index));
  const columns = useMemo(
    () => assetColumns(t, { connectionId, connection, locale, picking, motion, onOpen, cannotOpen }),
    [t, connectionId, connection, locale, picking, motion, onOpen, cannotOpen],
  );
  return (
    <div className="overflow-x-clip">
      <div
        ref={container}
        style={{ marginTop: HEAD_PX, ...(drawn && { height: drawn.heightPx }) }}
        // The header has its place above from the start, so that nothing moves after measuring.
        className="relative"
      >
        <div style={drawn && standAt(drawn.topPx)} className={drawn ? "absolute inset-x-0 -top-[34px]" : "relative -top-[34px]"}>
          <DataTable
            caption={t("table.caption")}
            columns={columns}
            rows={rows}
            rowId={rowId}
            isSelected={(row) => row.id === openId}
            part={{ first: from, total: source.count }}
            sorting={sortingOf(place)}
            isFixed
            className={place.isMoving ? "opacity-60" : undefined}
          />
        </div>
      </div>
      <OffsetLabel wall={wall} source={source} />
    </div>
  );
}

/** The first click sorts by newest, largest or A first; the second reverses it. */
function sortingOf({ query, go }: ListState<AssetsQuery>): Sorting {
  const by = (sort: AssetsQuery["sort"], usual: AssetsQuery["order"]) => {
    const isNow = query.sort === sort;
    const turned = usual === "asc" ? "desc" : "asc";
    return {
      ...(isNow && { direction: query.order }),
      onSort: () => go({ sort, order: isNow && query.order === usual ? turned : usual }),
    };
  };
  return {
    name: by("name", "asc"),
    size: by("size", "desc"),
    created: by("created_at", "desc"),
    used: by("last_access_time", "desc"),
  };
}

/** A row of the list; `asset` is undefined while it loads. */
type AssetRow = { id: string; index: number; asset: AssetView | undefined };

const rowOfAsset = new WeakMap<AssetView, AssetRow>();
const waitingRows = Array.from({ length: MAX_TILES }, (_, at): AssetRow => ({ id: `waiting-${at}`, index: at, asset: undefined }));

/** Returns the same row for the same asset at the same index, so that scrolling renders only new rows; rows still loading are all alike. */
function assetRow(asset: AssetView | undefined, index: number): AssetRow {
  if (!asset) return waitingRows[index % MAX_TILES] ?? { id: `at-${index}`, index, asset };
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

function assetColumns(t: Words, { connectionId, connection, locale, picking, motion, onOpen, cannotOpen }: Where) {
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
