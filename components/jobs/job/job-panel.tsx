import { ChevronLeft, ChevronRight, FileDown, X } from "lucide-react";
import { useTranslations } from "next-intl";
import { type RefObject, useEffect, useRef } from "react";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { JobStatus } from "@/components/frame/job-status";
import { Freshness } from "@/components/frame/list/tool-bar";
import { buttonStyle, IconButton } from "@/components/ui/controls/button";
import { CopyableId } from "@/components/ui/controls/copy-button";
import { isShortcutKey, useEscape, usePageKey } from "@/components/ui/hooks/page-events";
import { Link } from "@/components/ui/link";
import { Picture } from "@/components/ui/pictures/picture";
import { LoadingBlocks } from "@/components/ui/skeleton";
import { ClampedClock } from "@/components/ui/time";
import { FileName } from "@/components/ui/truncated";
import { useLive } from "@/lib/browser/live/use-live";
import { createThumbnailUrl, createViewUrl, getNewTabProps, toJobHref, toShortId, withQuery } from "@/lib/browser/urls";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { JobPanelFrame } from "../list/list-screen";
import { JobActionResult, JobActions, useJobActions } from "./job-actions";
import { JobDetails, JobProgress } from "./job-details";
import { JobError, JobMissing, JobNotes, MissingJobBadge } from "./job-error";
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

/** A job's panel, next to the list on wide screens and over it on narrow ones. Returns focus to the job's row on close. */
export function JobPanel({ jobId, connection, canRun, onClose, onNext, onPrevious }: JobPanelProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("jobs.panel");
  const panel = useRef<HTMLElement>(null);
  const pageLink = useRef<HTMLAnchorElement>(null);
  const currentJobId = useRef(jobId);
  useEffect(() => {
    currentJobId.current = jobId;
  }, [jobId]);
  useEffect(() => {
    panel.current?.focus({ preventScroll: true });
    // Runs after the list is rendered without the panel, since a re-rendered row would lose the focus.
    return () => {
      if (document.activeElement === document.body) focusRow(currentJobId.current);
    };
  }, []);
  usePanelKeys(panel, { onClose, onNext, onPrevious });
  return (
    <JobPanelFrame ref={panel} tabIndex={-1} aria-label={t("label", { id: toShortId(jobId) })}>
      <div className="mb-2.5 flex items-center gap-1">
        <h2 className="mr-auto min-w-0">
          <CopyableId id={jobId} maxLength={8} />
        </h2>
        <Link ref={pageLink} href={toJobHref(jobId, connectionParam)} className={buttonStyle({ tone: "quiet", size: "small" })}>
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
      <JobPanelBody key={jobId} jobId={jobId} connection={connection} canRun={canRun} onOpenPage={() => pageLink.current?.click()} />
    </JobPanelFrame>
  );
}

function focusRow(id: string): void {
  const row = document.querySelector(`tr[data-row="${CSS.escape(id)}"]`);
  (row?.querySelector<HTMLElement>(".row-link") ?? row?.querySelector<HTMLElement>("a[href]"))?.focus();
}

type PanelKeyOptions = { onClose: () => void; onNext?: () => void; onPrevious?: () => void };

/** Takes precedence over the list's shortcuts. With a job open, j and k switch jobs. */
function usePanelKeys(panel: RefObject<HTMLElement | null>, { onClose, onNext, onPrevious }: PanelKeyOptions): void {
  useEscape("panel", onClose);
  const handleKey = (event: KeyboardEvent): boolean => {
    if (!isShortcutKey(event)) return false;
    // Inside the panel, the up and down arrows scroll it.
    const isInside = panel.current?.contains(document.activeElement) ?? false;
    const openAdjacent =
      event.key === "j" || (isInside && event.key === "ArrowRight")
        ? onNext
        : event.key === "k" || (isInside && event.key === "ArrowLeft")
          ? onPrevious
          : undefined;
    openAdjacent?.();
    return openAdjacent !== undefined || event.key === "j" || event.key === "k";
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
const MAX_STRIP_FILES = 12;

/** Shows the first image large, and the other outputs in a strip below it. */
function JobPanelOutputs({ facts: { outputs }, connection }: { facts: JobFacts; connection: string | undefined }) {
  const t = useTranslations("jobs.job.outputs");
  const files = outputs.flatMap(({ view }) => (view.file ? [{ ...view, file: view.file }] : []));
  const mainImage = files.find(({ kind, temporary }) => kind === "image" && !temporary) ?? files.find(({ kind }) => kind === "image");
  const otherFiles = files.filter((file) => file !== mainImage);
  if (files.length === 0) return null;
  return (
    <section aria-label={t("title")} className="flex flex-col gap-2">
      {mainImage ? (
        <a href={createViewUrl({ ...mainImage.file, connection })} {...getNewTabProps()} className="block rounded-sm">
          <Picture
            src={createThumbnailUrl({ connection, file: mainImage.file, edge: 512 })}
            alt={mainImage.name}
            width={512}
            height={384}
            fit="contain"
            className="aspect-[4/3] h-auto w-full"
          />
        </a>
      ) : null}
      {otherFiles.length > 0 ? (
        <ul className="flex gap-1.5 overflow-x-auto py-0.5">
          {otherFiles.slice(0, MAX_STRIP_FILES).map(({ nodeId, key, index, kind, name, file }) => (
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
          {otherFiles.length > MAX_STRIP_FILES ? (
            <li className="self-center px-1 text-ink-3">+{otherFiles.length - MAX_STRIP_FILES}</li>
          ) : null}
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

const parseJob = (detail: JobDetail) => toJobFacts(detail);
const hasEnded = (facts: JobFacts) => facts.job.terminal;

/** Uses the cache key of the job's page, so that the page opens immediately. */
function JobPanelBody({ jobId, connection, canRun, onOpenPage }: JobPanelBodyProps) {
  const t = useTranslations("jobs.panel");
  const path = connection ? withQuery(`/api/jobs/${encodeURIComponent(jobId)}`, { connection }) : undefined;
  const live = useLive(path, { read: parseJob, isFinal: hasEnded });
  const actions = useJobActions({ jobId, connection, onDone: () => void live.refresh() });
  const { value, failure } = live;
  const { facts, isMissing, wasActive, isForbidden } = getFactsAfterFailure(value, failure);
  return (
    <div className="flex flex-col gap-3">
      {isMissing || isForbidden ? <JobMissing hasExisted={facts !== undefined} wasActive={wasActive} isForbidden={isForbidden} /> : null}
      {failure && !isMissing && !isForbidden ? <FailureMessage failure={failure} onRetry={() => void live.refresh()} /> : null}
      {facts ? (
        <>
          <p className="flex flex-wrap items-center gap-2">
            {wasActive ? <MissingJobBadge /> : <JobStatus word={facts.job.rawStatus} state={facts.job.state} />}
            <span title={facts.workflow} className="min-w-0 flex-1 truncate font-medium">
              {facts.workflow}
            </span>
            {facts.job.terminal ? null : <Freshness atMs={live.atMs} isFailing={failure !== undefined} />}
          </p>
          <JobPanelOutputs facts={facts} connection={connection} />
          {canRun && !isMissing && !isForbidden ? <JobActions facts={facts} actions={actions} /> : null}
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
