import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { NewRows } from "@/components/data-table/new-rows";
import { PageControls } from "@/components/data-table/page-controls";
import { Paging } from "@/components/data-table/paging";
import { cn } from "@/components/ui/cn";
import { useLate } from "@/components/ui/hooks/use-late";
import { type ListState } from "./list-state";
import { type ShownList } from "./use-job-list";
import { useMoving } from "./use-list-state";

// It has a fallback of its own: otherwise the whole page would be hidden while it loads, and the search field would lose the focus.
export const ListEmpty = dynamic(() => import("./list-empty").then((module) => module.ListEmpty), { loading: () => null });

const DIM_AFTER_MS = 300;

/** The rows, marked as busy while others are loading. */
export function ListRows({ state, className, children }: { state: ListState; className?: string; children: ReactNode }) {
  const isMoving = useMoving(state);
  // Dimming a thousand rows takes time, and flickers if the next ones come at once.
  const isLate = useLate(isMoving, DIM_AFTER_MS);
  return (
    <div aria-busy={isMoving || undefined} className={cn("min-w-0", className, isLate && "opacity-60")}>
      {children}
    </div>
  );
}

/** The range of shown rows, the total, links to other pages, and the count of new rows. */
export function ListPages({ query: { offset, limit }, rows, newCount, view, total, state }: ShownList) {
  const t = useTranslations("jobList");
  if (!view) return null;
  // Unreadable rows took a place on the page, too.
  const hasMore = view.hasMore ?? rows.length + (view.unreadable ?? 0) >= limit;
  return (
    <>
      <NewRows
        count={newCount}
        text={t("newRows", { count: newCount })}
        onFirstPage={offset > 0 ? () => state.go({ offset: 0 }) : undefined}
      />
      <Paging
        offset={offset}
        limit={limit}
        count={rows.length}
        total={total}
        hasMore={hasMore}
        nextOffset={view.nextOffset}
        hrefOf={(to) => state.hrefOf({ offset: to })}
        className="mt-auto md:sticky md:bottom-0 md:z-20"
      >
        <PageControls offset={offset} limit={limit} total={total} onGo={state.go} />
      </Paging>
    </>
  );
}
