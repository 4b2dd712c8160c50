import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { PageHeader } from "@/components/frame/page-header";
import { Skeleton } from "@/components/ui/skeleton";

/** A form of three nodes in its real size, with its drawing where both fit, shown while the first file loads. `note`: what it waits for. */
export function RunSkeleton({ note }: { note?: ReactNode }) {
  const t = useTranslations("run");
  return (
    <>
      <PageHeader title={t("title")} />
      {note ? <div className="border-b border-line bg-sunken px-4 py-2 md:px-5">{note}</div> : null}
      <div role="status" aria-label={t("loading")} className="grid gap-3.5 px-4 py-4 md:px-5 xl:grid-cols-[46fr_54fr]">
        <Skeleton className="h-[calc(100*var(--dvh)-84px)] rounded-lg max-xl:hidden" />
        <div className="flex flex-col gap-3.5">
          <Skeleton className="h-[210px] rounded-lg" />
          <Skeleton className="h-[150px] rounded-lg" />
          <Skeleton className="h-[150px] rounded-lg" />
        </div>
      </div>
    </>
  );
}

/** The empty page in its real size, before its content has loaded. */
export function EmptyRunSkeleton() {
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
