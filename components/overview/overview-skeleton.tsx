import { useTranslations } from "next-intl";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { Skeleton } from "@/components/ui/skeleton";
import { PicturesSkeleton, RowsSkeleton } from "./skeletons";

/** The page in its real size while it loads. */
export function OverviewSkeleton() {
  const t = useTranslations("overview");
  return (
    <>
      <PageHeader title={t("title")} />
      <div role="status" aria-label={t("loading")} className="grid min-w-0 gap-3.5 p-4 md:px-5 lg:grid-cols-2">
        <Card title={t("running.title")} bodyClassName="p-0 min-h-[98px] lg:min-h-[196px]">
          <RowsSkeleton rows={2} />
        </Card>
        <Card title={t("failed.title")} bodyClassName="p-0 min-h-[98px] lg:min-h-[196px]">
          <RowsSkeleton rows={4} />
        </Card>
        <Card title={t("pictures.title")} className="lg:col-span-2">
          <PicturesSkeleton />
        </Card>
        <Card title={t("runs.title")} bodyClassName="min-h-[294px]">
          <Skeleton className="h-[200px] w-full" />
        </Card>
        <Card title={t("acts.title")} bodyClassName="p-0 min-h-[294px]">
          <RowsSkeleton rows={6} />
        </Card>
      </div>
    </>
  );
}
