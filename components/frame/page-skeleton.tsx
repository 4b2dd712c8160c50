import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { LoadingBlocks, Skeleton } from "@/components/ui/skeleton";
import { ToolBar } from "./list/tool-bar";
import { PageHeader } from "./page-header";

const layouts = {
  rows: { className: "gap-px", block: "h-[45px] rounded-none", count: 18 },
  cards: { className: "gap-3 p-4 sm:grid-cols-2 md:px-5 lg:grid-cols-3 2xl:grid-cols-4", block: "h-[250px] rounded-lg", count: 16 },
  split: { className: "gap-3.5 p-4 md:px-5 lg:grid-cols-2", block: "h-[420px] rounded-lg", count: 2 },
  card: { className: "w-full max-w-[860px] p-4 md:px-5", block: "h-40 rounded-lg", count: 1 },
  whole: { className: "", block: "h-[100vh] rounded-none", count: 1 },
};
type Layout = keyof typeof layouts;

/** Never taller than the window, so that an unloaded page can't be scrolled. */
export function ContentSkeleton({ layout }: { layout: Layout }) {
  const { className, block, count } = layouts[layout];
  return (
    <LoadingBlocks
      label={useTranslations("common")("loading")}
      blocks={Array.from({ length: count }, () => block)}
      className={cn("grid max-h-[calc(100*var(--dvh)-104px)] overflow-hidden", className)}
    />
  );
}

type PageSkeletonProps = {
  /** The namespace of the page's messages. */
  page: "apps" | "assets" | "files" | "history" | "jobs" | "masks" | "overview" | "queue" | "run" | "settings";
  /** `true`: an empty tool bar. `"long"`: two rows on narrow screens. */
  tools?: boolean | "long" | ReactNode;
  layout: Layout;
};

/** The loading state of a page: its header and grey blocks. */
export function PageSkeleton({ page, tools, layout }: PageSkeletonProps) {
  const t = useTranslations();
  return (
    <>
      <PageHeader title={t(`${page}.title`)} />
      {tools === true || tools === "long" ? (
        <ToolBar label={t("common.loading")} isLong={tools === "long"}>
          <Skeleton className="h-[26px] w-60 rounded-full" />
        </ToolBar>
      ) : (
        tools
      )}
      <ContentSkeleton layout={layout} />
    </>
  );
}
