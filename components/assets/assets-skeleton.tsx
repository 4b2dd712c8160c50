import { useTranslations } from "next-intl";
import { PageHeader } from "@/components/frame/page-header";
import { ToolBar } from "@/components/frame/tool-bar";
import { Skeleton } from "@/components/ui/skeleton";

const tiles = Array.from({ length: 20 }, (_, index) => index);

export function AssetsSkeleton() {
  const t = useTranslations("assets");
  return (
    <>
      <PageHeader title={t("title")} />
      <ToolBar label={t("filter.label")}>
        <Skeleton className="h-[30px] w-[220px] shrink-0" />
        {["w-16", "w-14", "w-14", "w-[76px]", "w-28"].map((width, index) => (
          <Skeleton key={index} className={`h-[26px] shrink-0 rounded-full ${width}`} />
        ))}
      </ToolBar>
      <div
        role="status"
        aria-label={t("loading")}
        className="grid grid-cols-[repeat(auto-fill,minmax(150px,1fr))] gap-x-2.5 gap-y-2 p-4 md:px-5"
      >
        {tiles.map((place) => (
          <div key={place}>
            <Skeleton className="aspect-[4/3] w-full" />
            <Skeleton className="my-1 h-[19px] w-2/3" />
          </div>
        ))}
      </div>
    </>
  );
}

export function AssetSkeleton() {
  const t = useTranslations("assets");
  return (
    <>
      <PageHeader title={t("title")} />
      <div role="status" aria-label={t("loading")} className="grid items-start gap-3.5 p-4 md:px-5 lg:grid-cols-[minmax(0,1fr)_380px]">
        <Skeleton className="aspect-[4/3] w-full rounded-lg" />
        <Skeleton className="h-[300px] w-full rounded-lg" />
      </div>
    </>
  );
}
