import { useTranslations } from "next-intl";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
import { JobLink } from "@/components/frame/job-link";
import { useDenialText } from "@/components/frame/member-context";
import { withCatalogueTitles } from "@/components/graph/node-search";
import { Button } from "@/components/ui/controls/button";
import { RelativeTime } from "@/components/ui/time";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { type CopiesActions, CopiesCard, CopiesSummary } from "./copies/copies-card";
import { type PlacedProblems } from "./form/problems";
import { type Run } from "./run-actions";
import { NewestJob } from "./submit/newest-job";
import { SubmitErrorNote } from "./submit/submit-error-note";

type RunNotesProps = {
  run: Run;
  canRun: boolean;
  placedProblems: PlacedProblems;
  onSendAnyway?: () => void;
};

/** The outcomes of this page's submissions: the error and the copies. */
export function RunNotes({ run, canRun, placedProblems, onSendAnyway }: RunNotesProps) {
  const { submitError, copies, errors, openWorkflow } = run.state;
  const attempt = submitError?.attempt;
  const unknownActions = {
    onCheckAgain: () => void (attempt && run.lookUpOutcome(attempt)),
    onDismiss: run.clearSubmitError,
    ...(onSendAnyway && { onSendAgain: onSendAnyway }),
  };
  return (
    <>
      {submitError ? (
        <FocusOnMount key={run.state.focusSerial} isNeeded={placedProblems.first === undefined}>
          <SubmitErrorNote
            submitError={submitError}
            placedProblems={placedProblems}
            missingClass={findMissingClass(errors)}
            unknownActions={unknownActions}
            onSendAnyway={onSendAnyway}
          />
        </FocusOnMount>
      ) : null}
      {copies ? (
        <CopiesSection key={copies.id} set={copies} openWorkflowId={openWorkflow?.workflowId} canRun={canRun} work={run.copies} />
      ) : null}
    </>
  );
}

/** The newest job of this page. Its nodes have the same names as in the form. */
export function RunJob({ run, catalogue }: { run: Run; catalogue?: ObjectInfo }) {
  const t = useTranslations("run");
  const { openWorkflow } = run.state;
  const submittedJob = findShownJob(run.state, useConnection()?.id);
  // After a reload the sent graph is unknown, but the open workflow has the same node names.
  const graph = submittedJob && openWorkflow ? (openWorkflow.sentGraph ?? openWorkflow.graph) : undefined;
  const titledGraph = useMemo(() => (graph ? withCatalogueTitles(graph, catalogue) : undefined), [graph, catalogue]);
  return (
    <NewestJob
      submittedJob={submittedJob}
      fallbackName={t("pasted")}
      sentGraph={titledGraph}
      onCancelled={run.cancelSubmittedJobs}
      onDismiss={run.dismissSubmittedJob}
      {...(openWorkflow && { onRemoveSecrets: (secretPlaces) => run.removeSecrets(openWorkflow.serial, secretPlaces) })}
    />
  );
}

/** Scrolls to the note and focuses it, since Run can be pressed anywhere on the page. */
function FocusOnMount({ isNeeded, children }: { isNeeded: boolean; children: ReactNode }) {
  const container = useRef<HTMLDivElement>(null);
  const focusOnMount = useRef(isNeeded);
  useEffect(() => {
    if (!focusOnMount.current) return;
    container.current?.focus({ preventScroll: true });
    container.current?.scrollIntoView?.({ block: "nearest" });
  }, []);
  return (
    <div ref={container} tabIndex={-1} className="scroll-mt-[68px] scroll-mb-[120px]">
      {children}
    </div>
  );
}

type CopiesSectionProps = {
  set: NonNullable<Run["state"]["copies"]>;
  openWorkflowId: string | undefined;
  canRun: boolean;
  work: CopiesActions;
};

/** Shows the full card next to the copied workflow, or one line next to another workflow or connection. */
function CopiesSection({ set, openWorkflowId, canRun, work }: CopiesSectionProps) {
  const t = useTranslations("run");
  const connection = useConnection()?.id;
  const [isRequested, setRequested] = useState(false);
  const isOtherConnection = set.connection !== connection;
  const isOtherWorkflow = openWorkflowId !== undefined && openWorkflowId !== set.workflowId;
  const sharedProps = { set, fallbackName: t("pasted"), work };
  if (isOtherConnection || (isOtherWorkflow && !isRequested))
    return <CopiesSummary {...sharedProps} isOtherConnection={isOtherConnection} onShow={() => setRequested(true)} />;
  return (
    <FocusOnMount isNeeded={set.ending === undefined}>
      <CopiesCard {...sharedProps} canRun={canRun} />
    </FocusOnMount>
  );
}

/** Explains why this member can't run, and what they can do. */
export function ViewerNote({ id }: { id?: string }) {
  const t = useTranslations("run.run");
  const getDenialText = useDenialText();
  return (
    <p id={id} className="border-b border-line bg-sunken px-4 py-2 text-ink-2 md:px-5">
      {getDenialText(t("notYours"))}
    </p>
  );
}

export function EarlierJobs({ run }: { run: Run }) {
  const t = useTranslations("run");
  const connection = useConnection()?.id;
  const shownJob = findShownJob(run.state, connection);
  const earlierJobs = run.state.submittedJobs.filter((submittedJob) => submittedJob !== shownJob);
  return (
    <>
      <RestorePreviousButton run={run} />
      {earlierJobs.length > 0 ? (
        <section aria-label={t("answer.earlier")}>
          <h2 className="font-semibold">{t("answer.earlier")}</h2>
          <ul className="flex flex-col">
            {earlierJobs.map(({ jobId, name, atMs, connection: connectionId }) => (
              <li key={jobId} className="flex items-center gap-2 py-1">
                <JobLink id={jobId} connection={connectionId} />
                <span className="min-w-0 flex-1 truncate">{name || t("pasted")}</span>
                <RelativeTime ms={atMs} className="text-sm whitespace-nowrap text-ink-3" />
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </>
  );
}

/** Undoes the last open or close: restores the previous workflow with its edits. */
export function RestorePreviousButton({ run }: { run: Run }) {
  const t = useTranslations("run");
  const { previousWorkflow } = run.state;
  if (!previousWorkflow) return null;
  return (
    <Button className="self-start" onClick={run.restorePrevious}>
      {t("open.back", { name: previousWorkflow.name || t("pasted") })}
    </Button>
  );
}

/** The newest job's card, unless another workflow or an error is shown or the connection differs. */
export function findShownJob(state: Run["state"], connection: string | undefined) {
  const { submitError, refusal, isSending, openWorkflow, submittedJobs } = state;
  const [newestJob] = submittedJobs;
  if (!newestJob || newestJob.isDismissed || submitError || refusal || isSending) return undefined;
  if (openWorkflow && openWorkflow.workflowId !== newestJob.workflowId) return undefined;
  return newestJob.connection === undefined || newestJob.connection === connection ? newestJob : undefined;
}

function findMissingClass(errors: Run["state"]["errors"]): string | undefined {
  const entries = Object.values(errors);
  const isAboutClasses = entries.length > 0 && entries.every((entry) => entry.errors.every(({ type }) => type === "missing_node_type"));
  return isAboutClasses ? entries[0]?.class_type : undefined;
}
