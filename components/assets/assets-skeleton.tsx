"use client";

import { useTranslations } from "next-intl";
import { type ColumnLook } from "@/components/data-table/table-columns";
import { TableSkeleton } from "@/components/data-table/table-skeleton";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { PageHeader, PageSkeleton } from "@/components/frame/page-header";
import { Skeleton } from "@/components/ui/skeleton";
import { type AssetsLook, ownTags, usualLook } from "./assets-address";
import { GAP_X, plainLayout } from "./wall/wall-layout";

/** More than fit on the first screen of most windows. */
const TILES = 60;
const tiles = Array.from({ length: TILES }, (_, index) => index);

type AssetsSkeletonProps = { look?: Pick<AssetsLook, "look" | "size"> };

/** Exactly as tall as the window, so that nothing can be scrolled before it is there. */
export function AssetsSkeleton({ look = usualLook }: AssetsSkeletonProps) {
  const t = useTranslations("assets");
  const { widthPx, picturePx } = plainLayout(look.size);
  const columns = {
    gridTemplateColumns: `repeat(auto-fill, minmax(min(${widthPx}px, 100%), 1fr))`,
    columnGap: GAP_X,
    "--tile-picture": `${picturePx}px`,
  };
  return (
    <>
      <PageHeader title={t("title")} />
      <ToolBar label={t("filter.label")}>
        <Skeleton className="h-[30px] w-[150px] shrink-0 max-sm:w-[176px] 2xl:w-[220px]" />
        {[...ownTags.map(() => "w-14 max-[1399px]:hidden"), "w-24", "w-14", "w-24", "w-28"].map((width, index) => (
          <Skeleton key={index} className={`h-[26px] shrink-0 rounded-full ${width}`} />
        ))}
      </ToolBar>
      {look.look === "table" ? (
        <AssetsTableSkeleton />
      ) : (
        <div role="status" aria-label={t("loading")} className="max-h-[calc(100*var(--dvh)-104px)] overflow-hidden p-4 md:px-5">
          <div className="tiles" style={columns}>
            {tiles.map((place) => (
              <div key={place}>
                <Skeleton className="tile-picture" />
                <Skeleton className="my-1 h-[19px] w-2/3" />
              </div>
            ))}
          </div>
        </div>
      )}
    </>
  );
}

export function AssetsTableSkeleton() {
  return (
    <TableSkeleton
      label={useTranslations("assets")("loading")}
      isFixed
      isTwoLines={false}
      columns={[
        { look: assetLooks.select, width: "none" },
        { look: assetLooks.preview, width: "thumb" },
        { look: assetLooks.name, width: "long" },
        { look: assetLooks.tags, width: "long" },
        { look: assetLooks.type, width: "short" },
        { look: assetLooks.size, width: "short" },
        { look: assetLooks.created, width: "short" },
        { look: assetLooks.used, width: "short" },
      ]}
    />
  );
}

export function AssetSkeleton() {
  const t = useTranslations("assets");
  return (
    <PageSkeleton
      title={t("title")}
      label={t("loading")}
      className="grid items-start gap-3.5 p-4 md:px-5 lg:grid-cols-[minmax(0,1fr)_380px]"
    >
      <div className="flex flex-col gap-2">
        <Skeleton className="h-[min(72*var(--dvh),820px,100vw)] w-full rounded-sm" />
        <Skeleton className="h-[30px] w-44" />
      </div>
      <div className="flex flex-col gap-3 rounded-lg border border-line p-4">
        <Skeleton className="h-4 w-20" />
        <Skeleton className="h-[30px] w-full" />
        {["w-40", "w-56", "w-full", "w-full", "w-4/5", "w-full", "w-3/5", "w-full"].map((width, index) => (
          <Skeleton key={index} className={`h-3.5 ${width}`} />
        ))}
      </div>
    </PageSkeleton>
  );
}

/** The columns of the table and of its skeleton. */
export const assetLooks = {
  select: { width: "w-[44px] md:w-[48px]", hiddenHeader: true, isRigid: true },
  preview: { width: "w-[76px]", hiddenHeader: true, isRigid: true },
  name: {},
  tags: { width: "lg:w-[22%]", shown: "max-lg:hidden" },
  type: { width: "xl:w-[110px]", shown: "max-xl:hidden" },
  size: { width: "w-[92px]", align: "end" },
  created: { width: "sm:w-[120px]", shown: "max-sm:hidden", align: "end" },
  used: { width: "xl:w-[120px]", shown: "max-xl:hidden", align: "end" },
} as const satisfies Record<string, ColumnLook>;
