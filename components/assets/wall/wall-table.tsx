import { useLocale, useTranslations } from "next-intl";
import { useMemo } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { type Sorting } from "@/components/data-table/features";
import { type ListState } from "@/components/frame/list/use-list-state";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { assetColumns, type AssetRow, assetRow } from "./asset-columns";
import { standAt } from "./drawn";
import { useHandle, useWanted, type WallProps } from "./gallery";
import { OffsetLabel } from "./offset-label";
import { useAllTilesKey } from "./use-all-key";
import { useWall } from "./use-wall";

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
