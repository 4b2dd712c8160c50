import { useTranslations } from "next-intl";
import { Skeleton } from "@/components/ui/skeleton";

/** The editor's layout: header, tools, drawing, settings. */
export function MaskSkeleton() {
  const t = useTranslations("masks");
  const common = useTranslations("common");
  return (
    <div
      role="status"
      aria-label={common("loading")}
      className="flex min-h-0 flex-1 flex-col max-md:fixed max-md:inset-0 max-md:z-40 max-md:bg-bg md:h-[calc(100*var(--dvh))]"
    >
      <div className="flex min-h-[52px] items-center border-b border-line px-4 md:px-5">
        <h1>
          <span className="sr-only">{t("title")}</span>
          <Skeleton className="h-5 w-52" />
        </h1>
        <Skeleton className="ml-auto h-[30px] w-24" />
      </div>
      <div className="flex min-h-0 flex-1 max-lg:flex-col-reverse">
        <div className="h-12 shrink-0 border-line max-lg:border-t lg:h-auto lg:w-[45px] lg:border-r" />
        <div className="flex-1 bg-sunken" />
        <div className="w-[256px] shrink-0 border-l border-line max-lg:hidden" />
      </div>
    </div>
  );
}
