import { ChevronLeft, ChevronRight, FileDown, X } from "lucide-react";
import { useTranslations } from "next-intl";
import { type RefObject, useEffect, useRef } from "react";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { JobStatus } from "@/components/frame/job-status";
import { Freshness } from "@/components/frame/list/tool-bar";
import { buttonStyle, IconButton } from "@/components/ui/controls/button";
import { CopyableId } from "@/components/ui/controls/copy-button";
import { isFreeKey, useEscape, usePageKey } from "@/components/ui/hooks/page-events";
import { Link } from "@/components/ui/link";
import { Picture } from "@/components/ui/pictures/picture";
import { LoadingBlocks } from "@/components/ui/skeleton";
import { ClampedClock } from "@/components/ui/time";
import { FileName } from "@/components/ui/truncated";
import { useLive } from "@/lib/browser/live/use-live";
import { createThumbnailUrl, createViewUrl, getNewTabProps, shortId, toJobHref, withQuery } from "@/lib/browser/urls";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { JobPanelFrame } from "../list/list-screen";
import { JobActionResult, JobActions, useJobActions } from "./job-actions";
import { JobDetails, JobProgress } from "./job-details";
import { GoneBadge, JobError, JobMissing, JobNotes } from "./job-error";
import { getFactsAfterFailure, type JobFacts, toJobFacts } from "./job-facts";

type JobPanelProps = {
  jobId: string;
  connection: string | undefined;
  canRun: boolean;
  onClose: () => void;
  /** Absent at the end of the list. */
  onNext?: () => void;
  onPrevious?: () => void;
};

/** A job's panel, next to the list on wide screens and over it on narrow ones. On close, the job's row gets the focus. */
export function JobPanel({ jobId, connection, canRun, onClose, onNext, onPrevious }: JobPanelProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("jobs.panel");
  const panel = useRef<HTMLElement>(null);
  const page = useRef<HTMLAnchorElement>(null);
  const shownId = useRef(jobId);
  useEffect(() => {
    shownId.current = jobId;
  }, [jobId]);
  useEffect(() => {
    panel.current?.focus({ preventScroll: true });
    // Runs after the list is rendered without the panel, since a re-rendered row would lose the focus.
    return () => {
      if (document.activeElement === document.body) focusRow(shownId.current);
    };
  }, []);
  usePanelKeys(panel, { onClose, onNext, onPrevious });
  return (
    <JobPanelFrame ref={panel} tabIndex={-1} aria-label={t("label", { id: shortId(jobId) })}>
      <div className="mb-2.5 flex items-center gap-1">
        <h2 className="mr-auto min-w-0">
          <CopyableId id={jobId} displayText={8} />
        </h2>
        <Link ref={page} href={toJobHref(jobId, connectionParam)} className={buttonStyle({ tone: "quiet", size: "small" })}>
          {t("openPage")}
        </Link>
        <IconButton
          icon={ChevronLeft}
          label={t("previous")}
          tone="quiet"
          title={`${t("previous")} (k)`}
          disabled={!onPrevious}
          onClick={onPrevious}
        />
        <IconButton icon={ChevronRight} label={t("next")} tone="quiet" title={`${t("next")} (j)`} disabled={!onNext} onClick={onNext} />
        <IconButton icon={X} label={t("close")} tone="quiet" title={`${t("close")} (Esc)`} onClick={onClose} />
      </div>
      <JobPanelBody key={jobId} jobId={jobId} connection={connection} canRun={canRun} onOpenPage={() => page.current?.click()} />
    </JobPanelFrame>
  );
}

function focusRow(id: string): void {
  const row = document.querySelector(`tr[data-row="${CSS.escape(id)}"]`);
  (row?.querySelector<HTMLElement>(".row-link") ?? row?.querySelector<HTMLElement>("a[href]"))?.focus();
}

type PanelKeys = { onClose: () => void; onNext?: () => void; onPrevious?: () => void };

/** Handled before the list's own keys: with a job open, j and k switch jobs. */
function usePanelKeys(panel: RefObject<HTMLElement | null>, { onClose, onNext, onPrevious }: PanelKeys): void {
  useEscape("panel", onClose);
  const handleKey = (event: KeyboardEvent): boolean => {
    if (!isFreeKey(event)) return false;
    // Inside the panel, up and down scroll it.
    const isInside = panel.current?.contains(document.activeElement) ?? false;
    const step =
      event.key === "j" || (isInside && event.key === "ArrowRight")
        ? onNext
        : event.key === "k" || (isInside && event.key === "ArrowLeft")
          ? onPrevious
          : undefined;
    step?.();
    return step !== undefined || event.key === "j" || event.key === "k";
  };
  usePageKey(
    (event) => {
      if (event.defaultPrevented || document.querySelector("dialog[open]") || !handleKey(event)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    { isFirst: true },
  );
}

/** The job's page shows all outputs. */
const MAX_SHOWN = 12;

/** Shows the first picture large, and the other outputs in a strip below it. */
function JobPanelOutputs({ facts: { outputs }, connection }: { facts: JobFacts; connection: string | undefined }) {
  const t = useTranslations("jobs.job.outputs");
  const files = outputs.flatMap(({ view }) => (view.file ? [{ ...view, file: view.file }] : []));
  const first = files.find(({ kind, temporary }) => kind === "image" && !temporary) ?? files.find(({ kind }) => kind === "image");
  const rest = files.filter((file) => file !== first);
  if (files.length === 0) return null;
  return (
    <section aria-label={t("title")} className="flex flex-col gap-2">
      {first ? (
        <a href={createViewUrl({ ...first.file, connection })} {...getNewTabProps()} className="block rounded-sm">
          <Picture
            src={createThumbnailUrl({ connection, file: first.file, edge: 512 })}
            alt={first.name}
            width={512}
            height={384}
            fit="contain"
            className="aspect-[4/3] h-auto w-full"
          />
        </a>
      ) : null}
      {rest.length > 0 ? (
        <ul className="flex gap-1.5 overflow-x-auto py-0.5">
          {rest.slice(0, MAX_SHOWN).map(({ nodeId, key, index, kind, name, file }) => (
            <li key={`${nodeId}/${key}/${index}`} className="shrink-0">
              <a href={createViewUrl({ ...file, connection })} {...getNewTabProps()} title={name} className="block rounded-sm">
                {kind === "image" || kind === "video" || kind === "audio" ? (
                  <Picture
                    src={createThumbnailUrl({ connection, file, edge: 128 })}
                    alt={name}
                    width={64}
                    height={48}
                    kind={kind}
                    className="h-12 w-16"
                  />
                ) : (
                  <span className="grid h-12 w-16 place-items-center rounded-sm bg-sunken text-ink-2">
                    <FileDown aria-hidden="true" className="size-4" />
                    <span className="sr-only">
                      <FileName name={name} />
                    </span>
                  </span>
                )}
              </a>
            </li>
          ))}
          {rest.length > MAX_SHOWN ? <li className="self-center px-1 text-ink-3">+{rest.length - MAX_SHOWN}</li> : null}
        </ul>
      ) : null}
    </section>
  );
}

type JobPanelBodyProps = {
  jobId: string;
  connection: string | undefined;
  canRun: boolean;
  onOpenPage: () => void;
};

const readJob = (detail: JobDetail) => toJobFacts(detail);
const hasEnded = (facts: JobFacts) => facts.job.terminal;

/** Uses the cache key of the job's page, so that the page opens immediately. */
function JobPanelBody({ jobId, connection, canRun, onOpenPage }: JobPanelBodyProps) {
  const t = useTranslations("jobs.panel");
  const path = connection ? withQuery(`/api/jobs/${encodeURIComponent(jobId)}`, { connection }) : undefined;
  const live = useLive(path, { read: readJob, isFinal: hasEnded });
  const actions = useJobActions({ jobId, connection, onDone: () => void live.refresh() });
  const { value, failure } = live;
  const { facts, isGone, wasActive, isForbidden } = getFactsAfterFailure(value, failure);
  return (
    <div className="flex flex-col gap-3">
      {isGone || isForbidden ? <JobMissing hasExisted={facts !== undefined} wasActive={wasActive} isForbidden={isForbidden} /> : null}
      {failure && !isGone && !isForbidden ? <FailureMessage failure={failure} onRetry={() => void live.refresh()} /> : null}
      {facts ? (
        <>
          <p className="flex flex-wrap items-center gap-2">
            {wasActive ? <GoneBadge /> : <JobStatus word={facts.job.word} state={facts.job.state} />}
            <span title={facts.workflow} className="min-w-0 flex-1 truncate font-medium">
              {facts.workflow}
            </span>
            {facts.job.terminal ? null : <Freshness atMs={live.atMs} isFailing={failure !== undefined} />}
          </p>
          <JobPanelOutputs facts={facts} connection={connection} />
          {canRun && !isGone && !isForbidden ? <JobActions facts={facts} actions={actions} /> : null}
          {facts.failure ? <JobError failure={facts.failure} facts={facts} onShowNode={onOpenPage} /> : null}
          <ClampedClock value={failure && live.atMs}>
            <JobProgress facts={facts} connection={connection} />
            <JobNotes notes={facts.notes} onShowNode={onOpenPage} />
            <JobDetails facts={facts} />
          </ClampedClock>
          <JobActionResult facts={facts} actions={actions} />
        </>
      ) : null}
      {!facts && !failure ? <LoadingBlocks label={t("loading")} blocks={["h-6 w-40", "aspect-[4/3] w-full", "h-36 w-full"]} /> : null}
    </div>
  );
}
