"use client";

import { useTranslations } from "next-intl";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { Skeleton } from "@/components/ui/skeleton";
import { type SettingsPart, SettingsTabs } from "./settings-tabs";

export function SettingsSkeleton({ part }: { part: SettingsPart }) {
  const t = useTranslations("settings");
  return (
    <div role="status" aria-label={t("loading")}>
      <PageHeader title={t("title")} />
      <SettingsTabs current={part} />
      <div className="w-full max-w-[860px] p-4 md:px-5">
        <Card title={t(`tabs.${part}`)} bodyClassName="flex flex-col gap-2">
          <Skeleton className="h-5 w-48" />
          <Skeleton className="h-4 w-72" />
          <Skeleton className="h-4 w-40" />
        </Card>
      </div>
    </div>
  );
}
