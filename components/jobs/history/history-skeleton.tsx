"use client";

import { useTranslations } from "next-intl";
import { TableSkeleton } from "@/components/data-table/table-skeleton";
import { PageHeader } from "@/components/frame/page-header";
import { ToolBar } from "@/components/frame/tool-bar";
import { Skeleton } from "@/components/ui/skeleton";
import { historyLooks } from "./history-looks";

export function HistorySkeleton() {
  const t = useTranslations("history");
  return (
    <>
      <PageHeader title={t("title")} />
      <ToolBar label={t("summaryLabel")}>
        <Skeleton className="h-3.5 w-72" />
      </ToolBar>
      <TableSkeleton
        label={t("loading")}
        isFixed
        columns={[
          { look: historyLooks.select, width: "none" },
          { look: historyLooks.preview, width: "thumb" },
          { look: historyLooks.status, width: "short" },
          { look: historyLooks.job, width: "short" },
          { look: historyLooks.workflow, width: "long" },
          { look: historyLooks.what, width: "none" },
          { look: historyLooks.outputs, width: "short" },
          { look: historyLooks.submitted, width: "short" },
          { look: historyLooks.ran, width: "short" },
        ]}
      />
    </>
  );
}
