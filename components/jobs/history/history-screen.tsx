"use client";

import { useTranslations } from "next-intl";
import { useRefreshCounts } from "@/components/frame/counts-context";
import { ClearFilters } from "@/components/frame/list/filters-popover";
import { useWhyNot } from "@/components/frame/member-context";
import { ReceiptLine } from "@/components/ui/receipt-line";
import { usePoll } from "@/lib/browser/poll/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type JobSearchAnswer, type JobSearchQuery } from "@/lib/contract/console";
import { isSearch } from "@/lib/contract/jobs/job-list";
import { type HistoryAnswer, type JobsAnswer } from "@/lib/contract/schemas/job";
import { ClearAll, useClearAll } from "../actions/clear-all";
import { choiceOfOne, usualChoice } from "../columns/column-choice";
import { ChosenTable } from "../list/chosen-table";
import { SelectedJobs } from "../list/chosen-table";
import { endedJobsPath, noSearch } from "../list/list-address";
import { ListFrame } from "../list/list-frame";
import { ListEmpty, ListPages, ListRows } from "../list/list-frame";
import { type FirstAnswer, useJobList } from "../list/use-job-list";
import { useAskedQuery } from "../list/use-job-list";
import { JobSearchFilters } from "../search/job-search-filters";
import { WordsField } from "../search/job-search-filters";

type HistoryScreenProps = {
  /** The address as the server read it. */
  query: JobSearchQuery;
  /** `?connection=` of the address, if present. */
  linked?: string;
  canRemove: boolean;
  /** Several members have submitted jobs. */
  isTeam: boolean;
  history: FirstAnswer;
};

const toView = (answer: HistoryAnswer | JobSearchAnswer) => import("../job-row").then(({ toHistoryView }) => toHistoryView(answer));
const background = () => "background" as const;
const totalOf = (answer: JobsAnswer) => answer.pagination.total;

export function HistoryScreen({ query: asRead, linked, canRemove, isTeam, history }: HistoryScreenProps) {
  const t = useTranslations("history");
  const whyNot = useWhyNot();
  const shown = useJobList({ list: "history", asRead, first: history, links: { connection: linked }, toView });
  const { connection, question, query, view, poll, state, rows, selection, isBusy, isActing } = shown;
  const ended = usePoll(connection ? endedJobsPath(connection) : undefined, { read: totalOf, motion: background });
  const refreshCounts = useRefreshCounts();
  const refresh = () => Promise.all([poll.refresh(), ended.refresh(), refreshCounts()]);
  const clearing = useClearAll(withQuery("/api/history", { connection }), endedJobsPath(connection), refresh);
  const left = clearing.cleared?.outcome.kind === "lost" ? clearing.cleared.outcome.left : 0;
  const asked = useAskedQuery(state);
  const isFiltered = isSearch(query);
  const total = isFiltered ? shown.total : ended.value;
  return (
    <ListFrame
      list="history"
      count={total}
      poll={poll}
      atMs={shown.atMs}
      reach={view?.reach}
      unreadable={view?.unreadable}
      search={<WordsField text={question.text} onGo={state.go} />}
      actions={
        // Hidden while filtered, as it would clear the filtered-out entries too.
        canRemove && view && !isFiltered ? (
          <ClearAll
            words="history.clear"
            count={ended.value}
            word={t("clear.word")}
            isBusy={clearing.isBusy || isActing}
            onClear={clearing.clear}
          />
        ) : null
      }
      tools={
        <>
          <JobSearchFilters search={asked} connection={connection} onGo={state.go} />
          <ClearFilters isSet={isSearch(asked)} onClear={() => state.go(noSearch)} />
          <span className="text-ink-3">{canRemove ? t("stays") : whyNot(t("viewerHint"))}</span>
          {clearing.cleared ? (
            <ReceiptLine
              isAnswer
              tone={left === 0 ? "ok" : "off"}
              text={left === 0 ? t("cleared") : t("clearLost", { count: left })}
              onDismiss={clearing.dismiss}
            />
          ) : null}
        </>
      }
    >
      <ListRows state={state}>
        {rows.length > 0 ? (
          <ChosenTable
            caption={t("caption")}
            rows={rows}
            state={state}
            connection={connection}
            linked={linked}
            selection={selection}
            choice={isTeam ? usualChoice : choiceOfOne}
            isBusy={isBusy}
          />
        ) : null}
      </ListRows>
      {view && rows.length === 0 && !poll.failure && !view.unreadable ? (
        <ListEmpty state={state} total={shown.total} linked={linked} canRun={canRemove} />
      ) : null}
      <SelectedJobs
        store={selection}
        query={query}
        rows={rows}
        total={total}
        connection={connection}
        canRun={canRemove}
        onBegun={clearing.dismiss}
        onDone={() => void refresh()}
      />
      {/* The total comes from the list of jobs, which some services keep shorter than the history: a total that is too low is left out. */}
      <ListPages {...shown} total={total !== undefined && total < query.offset + rows.length ? undefined : total} />
    </ListFrame>
  );
}
