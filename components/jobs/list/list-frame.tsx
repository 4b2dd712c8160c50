import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { type ReactNode, useEffect } from "react";
import { UnreadableRows } from "@/components/data-table/unreadable-rows";
import { Freshness } from "@/components/frame/list/freshness";
import { ToolBar } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { KnownUntil } from "@/components/ui/time/duration";
import { type Poll } from "@/lib/browser/poll/use-poll";
import { type JobReach } from "@/lib/contract/console";

const loadFailure = () => import("@/components/frame/failure/failure-message");
const FailureMessage = dynamic(() => loadFailure().then((module) => module.FailureMessage), { loading: () => null });

// It has a fallback of its own: otherwise the whole page would be hidden while it loads, and the search field would lose the focus.
const SearchReach = dynamic(() => import("../search/search-reach").then((module) => module.SearchReach), { loading: () => null });

const ListCut = dynamic(() => import("../search/search-reach").then((module) => module.ListCut), { loading: () => null });

type ListFrameProps = {
  list: "jobs" | "history" | "queue";
  count: number | undefined;
  poll: Pick<Poll<unknown>, "everyMs" | "failure" | "refresh" | "atMs">;
  /** When the visible rows were read. */
  atMs?: number;
  reach?: JobReach;
  /** The service has older jobs than are listed. */
  isCut?: boolean;
  unreadable?: number;
  /** Beside the title: the search field. */
  search?: ReactNode;
  /** On the right of the header. */
  actions?: ReactNode;
  /** Filters, and the view's own tools. */
  tools: ReactNode;
  /** The table or what replaces it; then what lies over and below it. */
  children: ReactNode;
};

/** What every list of jobs has around its rows. */
export function ListFrame({
  list,
  count,
  poll,
  atMs = poll.atMs,
  reach,
  isCut,
  unreadable,
  search,
  actions,
  tools,
  children,
}: ListFrameProps) {
  const t = useTranslations(list);
  const { failure, everyMs, refresh } = poll;
  // Preloaded, because an unreachable console can't serve this code.
  useEffect(() => void loadFailure(), []);
  const outageMs = reach?.asOfMs;
  return (
    <>
      <PageHeader title={t("title")} count={count} badge={search}>
        <Freshness atMs={outageMs ?? atMs} everyMs={everyMs} isFailing={failure !== undefined || outageMs !== undefined} />
        {actions}
      </PageHeader>
      <ToolBar label={t("tools")} isLong={list === "jobs"}>
        {tools}
      </ToolBar>
      {failure ? <FailureMessage failure={failure} onRetry={() => void refresh()} className="m-4 md:mx-5" /> : null}
      {reach ? <SearchReach reach={reach} /> : null}
      {isCut ? <ListCut /> : null}
      <UnreadableRows count={unreadable} />
      <KnownUntil value={failure && poll.atMs}>{children}</KnownUntil>
    </>
  );
}
