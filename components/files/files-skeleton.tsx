"use client";

import { useTranslations } from "next-intl";
import { TableSkeleton } from "@/components/data-table/table-skeleton";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { Skeleton } from "@/components/ui/skeleton";
import { fileLooks } from "./file-looks";

export function FilesSkeleton() {
  const t = useTranslations("files");
  return (
    <>
      <PageHeader title={t("title")} />
      <ToolBar label={t("filters")}>
        <Skeleton className="h-[30px] w-52" />
      </ToolBar>
      <TableSkeleton
        label={t("loading")}
        columns={[
          { look: fileLooks.select, width: "none" },
          { look: fileLooks.name, width: "long" },
          { look: fileLooks.size, width: "short" },
          { look: fileLooks.modified, width: "short" },
        ]}
      />
    </>
  );
}
