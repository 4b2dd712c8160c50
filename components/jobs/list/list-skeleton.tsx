"use client";

import { useTranslations } from "next-intl";
import { type ColumnLook } from "@/components/data-table/table-columns";
import { TableSkeleton } from "@/components/data-table/table-skeleton";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { Skeleton } from "@/components/ui/skeleton";

const tools = { jobs: ["w-9", "w-20", "w-20", "w-24", "w-16", "w-24"], history: ["w-24", "w-20"], queue: ["w-40"] };
/** Only of columns wider than a few letters. */
const widths: Readonly<Record<string, "none" | "thumb" | "long">> = {
  select: "none",
  position: "none",
  preview: "thumb",
  workflow: "long",
  what: "none",
  start: "long",
  act: "none",
};

export function ListSkeleton({ list }: { list: keyof typeof tools }) {
  const t = useTranslations(list);
  const isQueue = list === "queue";
  return (
    <>
      <PageHeader title={t("title")} />
      <ToolBar label={t("tools")} isLong={list === "jobs"}>
        {tools[list].map((width, index) => (
          <Skeleton key={index} className={`h-[26px] rounded-full ${width}`} />
        ))}
      </ToolBar>
      <TableSkeleton
        label={t("loading")}
        isLong={!isQueue}
        isTwoLines
        rows={isQueue ? 7 : undefined}
        columns={Object.entries<ColumnLook>(isQueue ? queueLooks : columnLooks).map(([id, look]) => ({
          look,
          width: widths[id] ?? "short",
        }))}
      />
    </>
  );
}

/** How the columns of a list of jobs look: shared by the table and its skeleton, so that nothing moves when the rows come. */
export const columnLooks = {
  select: { width: "w-10 md:w-[46px]", shown: "whole-cell", isRigid: true },
  preview: { width: "w-[72px]", shown: "whole-cell", hiddenHeader: true, isRigid: true },
  status: { width: "w-[120px] max-sm:takes-rest" },
  job: { width: "w-[108px]" },
  workflow: { width: "w-[176px] min-[90rem]:w-[260px]", shown: "max-lg:hidden max-xl:in-[.with-panel]:hidden" },
  /** Columns of workflow values never take the last free space: the table scrolls instead. */
  what: { shown: "max-lg:hidden xl:min-w-[144px] xl:in-[.with-panel]:min-w-0", hiddenHeader: true },
  outputs: { width: "w-[78px]", shown: "max-md:hidden in-[.with-panel]:hidden", align: "end" },
  by: { width: "w-[116px]", shown: "max-xl:hidden in-[.with-panel]:hidden" },
  submitted: { width: "w-[112px]", shown: "max-sm:hidden in-[.with-panel]:hidden", align: "end" },
  ran: { width: "w-[100px]", shown: "max-sm:hidden in-[.with-panel]:hidden", align: "end" },
} as const satisfies Record<string, ColumnLook>;

export const valueLook = { width: "w-[150px]", shown: "max-lg:hidden in-[.with-panel]:hidden" } as const satisfies ColumnLook;

export const pinnedLook = { ...valueLook, shown: columnLooks.workflow.shown } as const satisfies ColumnLook;

/** The columns of the queue are as wide as their content. */
export const queueLooks = {
  select: columnLooks.select,
  position: { width: "w-[52px]", align: "end" },
  status: { width: "w-[130px]" },
  job: { width: "w-[110px]" },
  workflow: { width: "w-[18%]", shown: "max-w-0 max-md:hidden" },
  what: { width: "w-[170px]", shown: "max-w-[220px] max-md:hidden", hiddenHeader: true },
  start: { width: "w-[170px]", shown: "max-lg:hidden" },
  submitted: { width: "w-[120px]", shown: "max-sm:hidden", align: "end" },
  waited: { width: "w-[92px]", align: "end" },
  act: { width: "w-[84px]", align: "end", hiddenHeader: true },
} as const satisfies Record<string, ColumnLook>;
