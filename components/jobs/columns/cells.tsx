import { useTranslations } from "next-intl";
import { Fragment, type MouseEvent, type ReactNode, useCallback, useMemo, useSyncExternalStore } from "react";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { formatRunningNode, statusBadge, useRunProgress } from "@/components/frame/job-status";
import { useCopy } from "@/components/ui/controls/copy-button";
import { DisabledLink, useRouter } from "@/components/ui/link";
import { ProgressBar } from "@/components/ui/skeleton";
import { AgoTime, durationText, type RelativeTimeContext, RunningDuration, useAgoWords } from "@/components/ui/time";
import { apiPath, shortId, toJobHref } from "@/lib/browser/urls";
import { isAddressableId } from "@/lib/contract/params";
import { isNameless } from "@/lib/contract/workflow/workflow-name";
import { type JobRow } from "../job-row";

/** Computed once per table, since computing them per cell is slow. */
export type CellWords = {
  t: ReturnType<typeof useTranslations<"jobList">>;
  states: ReturnType<typeof useTranslations<"frame.states">>;
  durations: ReturnType<typeof useTranslations<"common.duration">>;
  nodes: ReturnType<typeof useTranslations<"common.runningNode">>;
  ago: RelativeTimeContext;
  cannotOpen: string;
};
type Cell = { row: JobRow; words: CellWords; getHref: (id: string) => string | undefined };
type StateCell = Cell & { lineEnd?: (row: JobRow) => ReactNode };

export function useCellWords(): CellWords {
  const t = useTranslations("jobList");
  const states = useTranslations("frame.states");
  const durations = useTranslations("common.duration");
  const nodes = useTranslations("common.runningNode");
  const ago = useAgoWords();
  const cannotOpen = useTranslations("common")("cannotOpen");
  return useMemo(() => ({ t, states, durations, nodes, ago, cannotOpen }), [t, states, durations, nodes, ago, cannotOpen]);
}

/** On narrow screens, a second line shows the values of hidden columns. */
export function stateCell(cell: StateCell): ReactNode {
  const { row, words } = cell;
  return (
    <>
      {getBadge(words, row)}
      <SecondLine {...cell} />
    </>
  );
}

/** Lists have few states, so each badge is created once. */
const badges = new WeakMap<CellWords, Map<string, ReactNode>>();

function getBadge(words: CellWords, { word, state }: JobRow): ReactNode {
  const badgesOfState = badges.get(words) ?? new Map<string, ReactNode>();
  badges.set(words, badgesOfState);
  const badge = badgesOfState.get(word) ?? statusBadge(words.states, word, state);
  badgesOfState.set(word, badge);
  return badge;
}

function SecondLine({ lineEnd, ...cell }: StateCell): ReactNode {
  const isWide = useSyncExternalStore(subscribeWidth, readWidth, alwaysFalse);
  if (isWide) return null;
  const workflow = getRowTitle(cell.row);
  return (
    <span className="second-line">
      {workflow && cell.row.match?.text !== workflow ? <span className="min-w-0 truncate">{workflow}</span> : null}
      {detailsCell(cell)}
      <span className={lineEnd ? "ml-auto shrink-0" : "ml-auto shrink-0 sm:hidden"}>
        {lineEnd ? lineEnd(cell.row) : submittedCell(cell.row, cell.words)}
      </span>
    </span>
  );
}

/** The workflow's name, or the beginning of the prompt. */
export function getRowTitle({ workflow = "", excerpt }: JobRow): string {
  return excerpt !== undefined && (workflow === "" || isNameless(workflow)) ? excerpt : workflow;
}

function Match({ match: { text, marks } }: { match: NonNullable<JobRow["match"]> }): ReactNode {
  const starts = [0, ...marks.map(([, to]) => to)];
  return (
    <span title={text} className="max-w-[75%] shrink-0 truncate text-ink-2 only:max-w-full">
      {marks.map(([from, to], index) => (
        <Fragment key={from}>
          {text.slice(starts[index], from)}
          <mark className="rounded-sm bg-wait-soft text-ink">{text.slice(from, to)}</mark>
        </Fragment>
      ))}
      {text.slice(starts.at(-1))}
    </span>
  );
}

export function detailsCell({ row, words: { t, nodes }, getHref }: Cell): ReactNode {
  const { id, error, progress, expected, startedMs, runningNode, label, match, waiting } = row;
  const node = runningNode && formatRunningNode(nodes, runningNode);
  const now = error ? (
    rowPart(getHref(id), error, "block min-w-0 truncate text-bad", error)
  ) : waiting?.state === "queued" ? (
    <span className="min-w-0 truncate text-wait">{t("queuedOn", { runners: waiting.runners.join(", "), ahead: waiting.ahead ?? 0 })}</span>
  ) : progress === undefined && node === undefined && !(expected && startedMs) ? null : (
    <RowProgress row={row} t={t} node={node} />
  );
  if (!label && !match) return now;
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      {label ? (
        <span title={label} className="min-w-0 truncate text-ink-2">
          {label}
        </span>
      ) : null}
      {match ? <Match match={match} /> : null}
      {now}
    </span>
  );
}

function RowProgress({ row: { progress, expected, startedMs }, t, node }: { row: JobRow; t: CellWords["t"]; node?: string }): ReactNode {
  const { share, remaining } = useRunProgress({ value: progress, expected, startedMs });
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5 text-ink-3">
      {share === undefined ? null : (
        <>
          <ProgressBar value={share} label={t("progress")} className={node || remaining ? "w-9 shrink-0" : "shrink-0"} />
          <span className="shrink-0 tabular-nums">{t("percent", { value: Math.round(share * 100) })}</span>
        </>
      )}
      {remaining ? (
        <span title={remaining} className="min-w-0 truncate tabular-nums">
          {remaining}
        </span>
      ) : null}
      <span title={node} className="min-w-0 shrink-[99] truncate">
        {node}
      </span>
    </span>
  );
}

export function submittedCell({ createdMs }: JobRow, { t, ago }: CellWords): ReactNode {
  return createdMs === undefined ? t("nothing") : <AgoTime ms={createdMs} words={ago} />;
}

export function ranCell({ state, startedMs, endedMs }: JobRow, { t, durations }: CellWords): ReactNode {
  if (startedMs === undefined) return t("nothing");
  if (endedMs !== undefined) return durationText(durations, endedMs - startedMs);
  return state === "in_progress" ? <RunningDuration fromMs={startedMs} /> : t("nothing");
}

/** The same width as `two-lines` in the stylesheet. */
const WIDE_QUERY = "(width >= 64rem)";
let width: MediaQueryList | undefined;
const getWidthQuery = () => (width ??= window.matchMedia(WIDE_QUERY));
const readWidth = () => getWidthQuery().matches;
const alwaysFalse = () => false;

function subscribeWidth(listener: () => void): () => void {
  getWidthQuery().addEventListener("change", listener);
  return () => getWidthQuery().removeEventListener("change", listener);
}

/** The URL of a row's links. Undefined if the service's id can't be part of a URL. */
export function rowHref(id: string, connectionParam: string | undefined): string | undefined {
  return isAddressableId(id) ? apiPath(toJobHref(id, connectionParam)) : undefined;
}

/** A plain link, since `useRowClick` handles the clicks of all rows. Without `href`, it shows `cannotOpen`. */
export function rowLink(id: string, href: string | undefined, cannotOpen: string): ReactNode {
  if (href === undefined)
    return (
      <DisabledLink reason={cannotOpen} className="row-link">
        {shortId(id)}
      </DisabledLink>
    );
  return (
    <a href={href} title={id} className="row-link">
      {shortId(id)}
    </a>
  );
}

/** Cells with their own tooltip also link to the row's page. */
function rowPart(href: string | undefined, children: ReactNode, className?: string, title?: string): ReactNode {
  if (href === undefined)
    return (
      <span title={title} className={className}>
        {children}
      </span>
    );
  return (
    <a href={href} tabIndex={-1} title={title} className={className}>
      {children}
    </a>
  );
}

/** Copies the row's id. The stylesheet draws the icon in the hovered row. */
export function copyButton(label: string): ReactNode {
  return <button type="button" data-copies="" aria-label={label} className="copy" />;
}

const controls = "button, input, label, select, textarea";
const isPlain = (event: MouseEvent) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
const opensNewTab = (event: MouseEvent) => event.button === 1 || (event.button === 0 && (event.metaKey || event.ctrlKey));

/** A click opens the job in the panel if `onOpen` finds space, otherwise its page. Modified clicks use a new tab. */
export function useRowClick(onOpen?: (id: string) => boolean): (event: MouseEvent<HTMLElement>) => void {
  const connectionParam = useConnectionParam();
  const router = useRouter();
  const t = useTranslations("common");
  const copy = useCopy();
  return useCallback(
    (event) => {
      const target = event.target instanceof Element ? event.target : undefined;
      const id = target?.closest("tr")?.dataset.row;
      if (!target || id === undefined || event.defaultPrevented) return;
      if (target.closest("[data-copies]")) return void copy(id, t("copied"));
      if (target.closest(controls) || !isAddressableId(id)) return;
      const isLink = target.closest("a") !== null;
      if (isPlain(event)) {
        // Ignores clicks that select text.
        if (!isLink && window.getSelection()?.isCollapsed === false) return;
        event.preventDefault();
        // The second click of a double click would hit this open row or a closed dialog.
        if (event.detail > 1) return;
        if (!onOpen?.(id)) router.push(toJobHref(id, connectionParam));
      } else if (!isLink && opensNewTab(event)) {
        window.open(apiPath(toJobHref(id, connectionParam)), "_blank", "noopener");
      }
    },
    [router, connectionParam, onOpen, copy, t],
  );
}
