"use client";

import { useTranslations } from "next-intl";
import { type ColumnLook } from "@/components/data-table/features";
import { TableSkeleton } from "@/components/data-table/table-skeleton";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { Skeleton } from "@/components/ui/skeleton";
import { columnLooks } from "../columns/column-looks";

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

type ListSkeletonProps = { list: keyof typeof tools; looks?: Readonly<Record<string, ColumnLook>> };

export function ListSkeleton({ list, looks = columnLooks }: ListSkeletonProps) {
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
        columns={Object.entries(looks).map(([id, look]) => ({ look, width: widths[id] ?? "short" }))}
      />
    </>
  );
}
