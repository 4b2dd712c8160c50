"use client";

import { useTranslations } from "next-intl";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { Skeleton } from "@/components/ui/skeleton";

export function AppsSkeleton() {
  const t = useTranslations("apps");
  return (
    <>
      <PageHeader title={t("title")} />
      <ToolBar label={t("filters")}>
        <Skeleton className="h-[26px] w-72 rounded-full" />
      </ToolBar>
      <CardsSkeleton />
    </>
  );
}

function CardsSkeleton() {
  const t = useTranslations("apps");
  return (
    <div
      role="status"
      aria-label={t("loading")}
      className="grid grid-cols-1 gap-3 p-4 sm:grid-cols-2 md:px-5 lg:grid-cols-3 2xl:grid-cols-4"
    >
      {Array.from({ length: 6 }, (_, place) => (
        <Skeleton key={place} className="h-[280px] rounded-lg" />
      ))}
    </div>
  );
}

export function AppSkeleton() {
  const t = useTranslations("apps");
  return (
    <>
      <PageHeader title={t("title")} />
      <OpenAppSkeleton />
    </>
  );
}

/** The form beside the results, in their real sizes. */
export function OpenAppSkeleton() {
  const t = useTranslations("apps");
  return (
    <div role="status" aria-label={t("loading")} className="grid gap-3.5 p-4 md:px-5 lg:grid-cols-[minmax(320px,440px)_minmax(0,1fr)]">
      <Skeleton className="h-[420px] rounded-lg" />
      <Skeleton className="h-[420px] rounded-lg max-lg:hidden" />
    </div>
  );
}
