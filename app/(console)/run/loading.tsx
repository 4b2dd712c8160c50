import { useTranslations } from "next-intl";
import { PageHeader } from "@/components/frame/page-header";
import { Skeleton } from "@/components/ui/skeleton";

/** The empty page in its real size, before its content has loaded. */
export default function RunLoading() {
  const t = useTranslations("run");
  return (
    <>
      <PageHeader title={t("title")} />
      <div role="status" aria-label={t("loading")} className="mx-auto flex w-full max-w-[960px] flex-col gap-6 px-4 py-6 md:px-5">
        <Skeleton className="h-[196px] rounded-lg" />
        <div className="grid gap-2.5 pt-[29px] sm:grid-cols-2 lg:grid-cols-3">
          {[1, 2, 3, 4, 5, 6].map((place) => (
            <Skeleton key={place} className="h-[104px] rounded-lg" />
          ))}
        </div>
      </div>
    </>
  );
}
