import { useLocale, useTranslations } from "next-intl";
import { type ReactNode, useMemo } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { type ColumnStyle, createColumns, type Sorting } from "@/components/data-table/table-columns";
import { type ListState, useIsNavigating, useListQuery } from "@/components/frame/list/list-state";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { DisabledLink } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time";
import { FileName, Truncated } from "@/components/ui/truncated";
import { apiPath, toShortId } from "@/lib/browser/urls";
import { isAddressableId } from "@/lib/contract/params";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { formatBytes } from "@/lib/shared/text";
import { getAssetHref } from "../asset-api";
import { TileThumbnail } from "../asset-thumbnail";
import { SelectionCheckbox } from "./asset-tile";
import { type GalleryViewProps, useGalleryHandle, useRequestedRows } from "./gallery";
import { MAX_TILES } from "./gallery-layout";
import { getOffsetStyle } from "./gallery-scroll";
import { type ScrollMotion } from "./scroll-motion";
import { type AssetSelection, useSelectAllTilesShortcut } from "./use-asset-selection";
import { OffsetLabel, useGallery } from "./use-gallery";

type AssetsTableProps = GalleryViewProps & { listState: ListState<AssetsQuery> };

const assetColumnStyles = {
  select: { width: "w-[44px] md:w-[48px]", hiddenHeader: true, isFixedWidth: true },
  preview: { width: "w-[76px]", hiddenHeader: true, isFixedWidth: true },
  name: {},
  tags: { width: "lg:w-[22%]", visibility: "max-lg:hidden" },
  type: { width: "xl:w-[110px]", visibility: "max-xl:hidden" },
  size: { width: "w-[92px]", align: "end" },
  created: { width: "sm:w-[120px]", visibility: "max-sm:hidden", align: "end" },
  used: { width: "xl:w-[120px]", visibility: "max-xl:hidden", align: "end" },
} as const satisfies Record<string, ColumnStyle>;

const ROW_PX = 46;
const HEAD_PX = 34;
const INITIAL_ROW_COUNT = 40;
const getLayout = () => ({ columns: 1, rowPx: ROW_PX });
const getRowId = (row: AssetRow) => row.id;

/** The same list as table rows. Only rows near the viewport are rendered. */
export function AssetsTable({
  source,
  selection,
  connectionId,
  connection,
  openId,
  startIndex,
  onOpen,
  onScrollEnd,
  onReady,
  listState,
}: AssetsTableProps) {
  const t = useTranslations("assets");
  const cannotOpenText = useTranslations("common")("cannotOpen");
  const locale = useLocale();
  const gallery = useGallery({ count: source.count, getLayout, startIndex, onScrollEnd, headPx: HEAD_PX });
  const { rendered, container, motion } = gallery;
  const [from, to] = rendered ? [rendered.from, rendered.to] : [startIndex, Math.min(source.count, startIndex + INITIAL_ROW_COUNT)];
  const getVisibleIndexes = useGalleryHandle(onReady, gallery, from, to);
  useRequestedRows(source, gallery);
  useSelectAllTilesShortcut({ source, selection, getVisibleIndexes, list: container });
  const rows = getVisibleIndexes().map((index) => toAssetRow(source.at(index), index));
  const columns = useMemo(
    () => createAssetColumns(t, { connectionId, connection, locale, selection, motion, onOpen, cannotOpenText }),
    [t, connectionId, connection, locale, selection, motion, onOpen, cannotOpenText],
  );
  return (
    <div className="overflow-x-clip">
      <div
        ref={container}
        style={{ marginTop: HEAD_PX, ...(rendered && { height: rendered.heightPx }) }}
        // The header is positioned before measuring, so that nothing moves later.
        className="relative"
      >
        <div
          style={rendered && getOffsetStyle(rendered.topPx)}
          className={rendered ? "absolute inset-x-0 -top-[34px]" : "relative -top-[34px]"}
        >
          <DataTable
            caption={t("table.caption")}
            columns={columns}
            rows={rows}
            rowId={getRowId}
            isSelected={(row) => row.id === openId}
            part={{ first: from, total: source.count }}
            sorting={getSorting(useListQuery(listState), listState.navigate)}
            isFixed
            className={useIsNavigating(listState) ? "opacity-60" : undefined}
          />
        </div>
      </div>
      <OffsetLabel gallery={gallery} source={source} />
    </div>
  );
}

/** The first click sorts by the default order (newest, largest or A first). The second click reverses it. */
function getSorting(query: AssetsQuery, navigate: ListState<AssetsQuery>["navigate"]): Sorting {
  const createSort = (sort: AssetsQuery["sort"], defaultOrder: AssetsQuery["order"]) => {
    const isCurrent = query.sort === sort;
    const reversedOrder = defaultOrder === "asc" ? "desc" : "asc";
    return {
      ...(isCurrent && { direction: query.order }),
      onSort: () => navigate({ sort, order: isCurrent && query.order === defaultOrder ? reversedOrder : defaultOrder }),
    };
  };
  return {
    name: createSort("name", "asc"),
    size: createSort("size", "desc"),
    created: createSort("created_at", "desc"),
    used: createSort("last_access_time", "desc"),
  };
}

/** A table row. `asset` is undefined while it loads. */
type AssetRow = { id: string; index: number; asset: AssetView | undefined };

const rowCache = new WeakMap<AssetView, AssetRow>();
const loadingRows = Array.from({ length: MAX_TILES }, (_, index): AssetRow => ({ id: `waiting-${index}`, index, asset: undefined }));

/** Returns the same row for the same asset and index, so that scrolling renders only new rows. */
function toAssetRow(asset: AssetView | undefined, index: number): AssetRow {
  if (!asset) return loadingRows[index % MAX_TILES] ?? { id: `at-${index}`, index, asset };
  const cachedRow = rowCache.get(asset);
  if (cachedRow?.index === index) return cachedRow;
  const row = { id: asset.id, index, asset };
  rowCache.set(asset, row);
  return row;
}

type ColumnOptions = {
  connectionId: string | undefined;
  connection: string | undefined;
  locale: string;
  selection: AssetSelection;
  motion: ScrollMotion;
  onOpen: (id: string) => boolean;
  /** Explains rows whose id can't be part of a URL. */
  cannotOpenText: string;
};
type Translate = ReturnType<typeof useTranslations<"assets">>;

const columnHelper = createColumns<AssetRow>();
const nameStyle = "row-link min-w-0 truncate !font-sans !text-base";
// Not animated, since a jump renders a screenful of these cells.
const loadingCell = <span className="block h-3.5 w-16 rounded-sm bg-sunken" />;

function createAssetColumns(t: Translate, { connectionId, connection, locale, selection, motion, onOpen, cannotOpenText }: ColumnOptions) {
  const renderTime = (ms: number | undefined) => (ms === undefined ? t("table.nothing") : <RelativeTime ms={ms} />);
  /** Shows `placeholder` while the asset loads. */
  const createColumn = (
    id: keyof typeof assetColumnStyles,
    cell: (asset: AssetView, index: number) => ReactNode,
    placeholder: ReactNode = null,
  ) =>
    columnHelper.display({
      id,
      header: t(`table.${id}`),
      meta: assetColumnStyles[id],
      cell: ({ row: { original } }) => (original.asset ? cell(original.asset, original.index) : placeholder),
    });
  return [
    createColumn("select", ({ id, name }, index) => (
      <SelectionCheckbox id={id} name={name} index={index} selection={selection} className="select-cell" />
    )),
    createColumn(
      "preview",
      (asset) => (
        <TileThumbnail
          asset={asset}
          connectionId={connectionId}
          edge={128}
          motion={motion}
          isInitial={false}
          isPlain
          className="h-9 w-[52px]"
        />
      ),
      <span className="block h-9 w-[52px] rounded-sm bg-sunken" />,
    ),
    createColumn(
      "name",
      ({ id, name, jobId }) => (
        <span className="flex min-w-0 items-center gap-0.5">
          {isAddressableId(id) ? (
            <a
              href={apiPath(getAssetHref(id, connection))}
              title={name}
              data-asset={id}
              onClick={(event) => {
                const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
                if (isPlain && onOpen(id)) event.preventDefault();
              }}
              className={nameStyle}
            >
              <FileName name={name} />
            </a>
          ) : (
            <DisabledLink reason={cannotOpenText} className={nameStyle}>
              <FileName name={name} />
            </DisabledLink>
          )}
          {jobId ? (
            <span title={jobId} className="ml-1 font-mono text-sm text-ink-3">
              {toShortId(jobId)}
            </span>
          ) : null}
          <CopyButton text={id} label={t("table.copyId")} />
        </span>
      ),
      loadingCell,
    ),
    createColumn("tags", ({ tags }) => <Truncated text={tags.join(", ")} className="text-ink-2" />, loadingCell),
    createColumn("type", ({ mimeType, kind }) => <Truncated text={mimeType ?? t(`kind.${kind}`)} className="text-ink-2" />),
    createColumn(
      "size",
      ({ sizeBytes }) => (sizeBytes === undefined ? t("table.nothing") : formatBytes(sizeBytes, locale)),
      t("table.nothing"),
    ),
    createColumn("created", ({ createdAtMs }) => renderTime(createdAtMs), t("table.nothing")),
    createColumn("used", ({ lastUsedAtMs }) => renderTime(lastUsedAtMs), t("table.nothing")),
  ];
}
