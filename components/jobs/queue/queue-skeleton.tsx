"use client";

import { useTranslations } from "next-intl";
import { TableSkeleton } from "@/components/data-table/table-skeleton";
import { PageHeader } from "@/components/frame/page-header";
import { ToolBar } from "@/components/frame/tool-bar";
import { Skeleton } from "@/components/ui/skeleton";
import { queueLooks } from "./queue-looks";

export function QueueSkeleton() {
  const t = useTranslations("queue");
  return (
    <>
      <PageHeader title={t("title")} />
      <ToolBar label={t("summaryLabel")}>
        <Skeleton className="h-3.5 w-40" />
      </ToolBar>
      <TableSkeleton
        label={t("loading")}
        isTwoLines
        rows={7}
        columns={[
          { look: queueLooks.select, width: "none" },
          { look: queueLooks.position, width: "none" },
          { look: queueLooks.status, width: "short" },
          { look: queueLooks.job, width: "short" },
          { look: queueLooks.workflow, width: "long" },
          { look: queueLooks.progress, width: "none" },
          { look: queueLooks.start, width: "long" },
          { look: queueLooks.submitted, width: "short" },
          { look: queueLooks.waited, width: "short" },
          { look: queueLooks.act, width: "none" },
        ]}
      />
    </>
  );
}
