"use client";

import { useTranslations } from "next-intl";
import { PageHeader } from "@/components/frame/page-header";
import { Skeleton } from "@/components/ui/skeleton";

export function JobSkeleton() {
  const t = useTranslations("jobs.job");
  return (
    <div role="status" aria-label={t("loading")}>
      <PageHeader
        trail={<span className="max-sm:hidden">{t("trail")}</span>}
        title={
          <>
            <span className="sr-only">{t("title")}</span>
            <Skeleton className="h-4 w-20" />
          </>
        }
      />
      <div className="grid items-start gap-3.5 p-4 md:px-5 lg:grid-cols-[minmax(0,1fr)_380px]">
        <Skeleton className="h-[260px] rounded-lg" />
        <div className="flex flex-col gap-3.5">
          <Skeleton className="h-[150px] rounded-lg" />
          <Skeleton className="h-[190px] rounded-lg" />
        </div>
      </div>
    </div>
  );
}
