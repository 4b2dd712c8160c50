import { useTranslations } from "next-intl";
import { Fragment, type MouseEvent, type ReactNode, useCallback, useMemo, useSyncExternalStore } from "react";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { formatRunningNode, renderStatusBadge, useRunProgress } from "@/components/frame/job-status";
import { useCopy } from "@/components/ui/controls/copy-button";
import { DisabledLink, useRouter } from "@/components/ui/link";
import { ProgressBar } from "@/components/ui/skeleton";
import { AgoTime, formatDuration, type RelativeTimeContext, RunningDuration, useRelativeTimeContext } from "@/components/ui/time";
import { apiPath, toJobHref, toShortId } from "@/lib/browser/urls";
import { isAddressableId } from "@/lib/contract/params";
import { isNameless } from "@/lib/contract/workflow/workflow-name";
import { type JobRow } from "../job-row";

/** Computed once per table, since computing them per cell is slow. */
export type CellTexts = {
  t: ReturnType<typeof useTranslations<"jobList">>;
  states: ReturnType<typeof useTranslations<"frame.states">>;
  durations: ReturnType<typeof useTranslations<"common.duration">>;
  nodes: ReturnType<typeof useTranslations<"common.runningNode">>;
  ago: RelativeTimeContext;
  cannotOpen: string;
};
type Cell = { row: JobRow; texts: CellTexts; getHref: (id: string) => string | undefined };
type StateCell = Cell & { renderLineEnd?: (row: JobRow) => ReactNode };

export function useCellTexts(): CellTexts {
  const t = useTranslations("jobList");
  const states = useTranslations("frame.states");
  const durations = useTranslations("common.duration");
  const nodes = useTranslations("common.runningNode");
  const ago = useRelativeTimeContext();
  const cannotOpen = useTranslations("common")("cannotOpen");
  return useMemo(() => ({ t, states, durations, nodes, ago, cannotOpen }), [t, states, durations, nodes, ago, cannotOpen]);
}

/** On narrow screens, a second line shows the values of hidden columns. */
export function renderStateCell(cell: StateCell): ReactNode {
  const { row, texts } = cell;
  return (
    <>
      {getBadge(texts, row)}
      <SecondLine {...cell} />
    </>
  );
}

/** Lists have few states, so each badge is created once. */
const badges = new WeakMap<CellTexts, Map<string, ReactNode>>();

function getBadge(texts: CellTexts, { rawStatus, state }: JobRow): ReactNode {
  const badgesByStatus = badges.get(texts) ?? new Map<string, ReactNode>();
  badges.set(texts, badgesByStatus);
  const badge = badgesByStatus.get(rawStatus) ?? renderStatusBadge(texts.states, rawStatus, state);
  badgesByStatus.set(rawStatus, badge);
  return badge;
}

function SecondLine({ renderLineEnd, ...cell }: StateCell): ReactNode {
  const isWideScreen = useSyncExternalStore(subscribeToWidth, matchesWideScreen, alwaysFalse);
  if (isWideScreen) return null;
  const workflow = getRowTitle(cell.row);
  return (
    <span className="second-line">
      {workflow && cell.row.match?.text !== workflow ? <span className="min-w-0 truncate">{workflow}</span> : null}
      {renderDetailsCell(cell)}
      <span className={renderLineEnd ? "ml-auto shrink-0" : "ml-auto shrink-0 sm:hidden"}>
        {renderLineEnd ? renderLineEnd(cell.row) : renderSubmittedCell(cell.row, cell.texts)}
      </span>
    </span>
  );
}

/** The workflow's name, or the beginning of the prompt. */
export function getRowTitle({ workflow = "", excerpt }: JobRow): string {
  return excerpt !== undefined && (workflow === "" || isNameless(workflow)) ? excerpt : workflow;
}

function HighlightedMatch({ match: { text, marks } }: { match: NonNullable<JobRow["match"]> }): ReactNode {
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

export function renderDetailsCell({ row, texts: { t, nodes }, getHref }: Cell): ReactNode {
  const { id, error, progress, expected, startedMs, runningNode, label, match, waiting } = row;
  const node = runningNode && formatRunningNode(nodes, runningNode);
  const statusContent = error ? (
    renderRowPart(getHref(id), error, "block min-w-0 truncate text-bad", error)
  ) : waiting?.state === "queued" ? (
    <span className="min-w-0 truncate text-wait">{t("queuedOn", { runners: waiting.runners.join(", "), ahead: waiting.ahead ?? 0 })}</span>
  ) : progress === undefined && node === undefined && !(expected && startedMs) ? null : (
    <RowProgress row={row} t={t} node={node} />
  );
  if (!label && !match) return statusContent;
  return (
    <span className="flex min-w-0 items-center gap-2.5">
      {label ? (
        <span title={label} className="min-w-0 truncate text-ink-2">
          {label}
        </span>
      ) : null}
      {match ? <HighlightedMatch match={match} /> : null}
      {statusContent}
    </span>
  );
}

function RowProgress({ row: { progress, expected, startedMs }, t, node }: { row: JobRow; t: CellTexts["t"]; node?: string }): ReactNode {
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

export function renderSubmittedCell({ createdMs }: JobRow, { t, ago }: CellTexts): ReactNode {
  return createdMs === undefined ? t("nothing") : <AgoTime ms={createdMs} words={ago} />;
}

export function renderRunTimeCell({ state, startedMs, endedMs }: JobRow, { t, durations }: CellTexts): ReactNode {
  if (startedMs === undefined) return t("nothing");
  if (endedMs !== undefined) return formatDuration(durations, endedMs - startedMs);
  return state === "in_progress" ? <RunningDuration fromMs={startedMs} /> : t("nothing");
}

/** The same width as `two-lines` in the stylesheet. */
const WIDE_QUERY = "(width >= 64rem)";
let widthQuery: MediaQueryList | undefined;
const getWidthQuery = () => (widthQuery ??= window.matchMedia(WIDE_QUERY));
const matchesWideScreen = () => getWidthQuery().matches;
const alwaysFalse = () => false;

function subscribeToWidth(listener: () => void): () => void {
  getWidthQuery().addEventListener("change", listener);
  return () => getWidthQuery().removeEventListener("change", listener);
}

/** The URL of a row's links. Undefined if the service's id can't be part of a URL. */
export function getRowHref(id: string, connectionParam: string | undefined): string | undefined {
  return isAddressableId(id) ? apiPath(toJobHref(id, connectionParam)) : undefined;
}

/** Renders a plain link, since `useRowClick` handles the clicks of all rows. Without `href`, it shows `cannotOpen`. */
export function renderRowLink(id: string, href: string | undefined, cannotOpen: string): ReactNode {
  if (href === undefined)
    return (
      <DisabledLink reason={cannotOpen} className="row-link">
        {toShortId(id)}
      </DisabledLink>
    );
  return (
    <a href={href} title={id} className="row-link">
      {toShortId(id)}
    </a>
  );
}

/** Cells with their own tooltip also link to the row's page. */
function renderRowPart(href: string | undefined, children: ReactNode, className?: string, title?: string): ReactNode {
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
export function renderCopyButton(label: string): ReactNode {
  return <button type="button" data-copies="" aria-label={label} className="copy" />;
}

const controlsSelector = "button, input, label, select, textarea";
const isPlainClick = (event: MouseEvent) => event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
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
      if (target.closest(controlsSelector) || !isAddressableId(id)) return;
      const isLink = target.closest("a") !== null;
      if (isPlainClick(event)) {
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
