"use client";

import { useTranslations } from "next-intl";
import { TableSkeleton } from "@/components/data-table/table-skeleton";
import { PageHeader } from "@/components/frame/page-header";
import { ToolBar } from "@/components/frame/tool-bar";
import { Skeleton } from "@/components/ui/skeleton";
import { jobLooks } from "../columns/column-looks";

export function JobsSkeleton() {
  const t = useTranslations("jobs");
  return (
    <>
      <PageHeader title={t("title")} />
      <ToolBar label={t("filter.label")}>
        {["w-9", "w-20", "w-20", "w-24", "w-16", "w-24"].map((width, index) => (
          <Skeleton key={index} className={`h-[26px] rounded-full ${width}`} />
        ))}
      </ToolBar>
      <TableSkeleton
        label={t("loading")}
        isLong
        columns={[
          { look: jobLooks.select, width: "none" },
          { look: jobLooks.preview, width: "thumb" },
          { look: jobLooks.status, width: "short" },
          { look: jobLooks.job, width: "short" },
          { look: jobLooks.workflow, width: "long" },
          { look: jobLooks.what, width: "none" },
          { look: jobLooks.outputs, width: "short" },
          { look: jobLooks.submitted, width: "short" },
          { look: jobLooks.ran, width: "short" },
        ]}
      />
    </>
  );
}
