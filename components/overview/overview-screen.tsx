"use client";

import { FileJson2, type LucideIcon, Plug, UserPlus } from "lucide-react";
import { useTranslations } from "next-intl";
import { type ReactNode, use, useState } from "react";
import { useActionMessages } from "@/components/frame/action-messages";
import { ConnectionLink } from "@/components/frame/connection/connection-card";
import { useConnection, useConnectionParam } from "@/components/frame/connection/connection-context";
import { getCountsPath, type JobCounts } from "@/components/frame/counts-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Freshness, RunLink, UnreadableRows } from "@/components/frame/list/tool-bar";
import { useDenialText } from "@/components/frame/member-context";
import { PageHeader } from "@/components/frame/page-header";
import { SampleCards } from "@/components/frame/samples/sample-cards";
import { requestRun, type SampleName, samples } from "@/components/frame/samples/samples";
import { cn } from "@/components/ui/cn";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { useDropTarget, useFilePicker } from "@/components/ui/hooks/use-file-picker";
import { ButtonLink, useRouter } from "@/components/ui/link";
import { ToneIcon } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time";
import { type LiveValue, type TimedValue, toInitialOptions, useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { type AuditPage } from "@/lib/contract/audit/audit";
import { type Failure } from "@/lib/contract/failure";
import { type Runner } from "@/lib/contract/runners/runners";
import { ok, type Result } from "@/lib/shared/result";
import { FailedJobsCard, ImagesCard, RunningJobsCard } from "./job-cards";
import { CardNote, OverviewCard, PageFailureContext, RowsSkeleton, RunsCard } from "./overview-card";
import { getJobsPath, getUnavailableRunners, type OverviewJobs, type OverviewList, toOverviewJobs } from "./overview-jobs";

const MAX_ENTRIES = 6;
const identity = (counts: JobCounts) => counts;
const toEntries = ({ entries }: AuditPage) => entries;

/** The newest entries of the audit log, for members who may read it. */
function AuditCard() {
  const t = useTranslations("overview.acts");
  const { getActionText, getAttemptText } = useActionMessages();
  const live = useLive(withQuery("/api/console/audit", { limit: MAX_ENTRIES }), { read: toEntries });
  return (
    <OverviewCard
      title={t("title")}
      listLink={{ href: withQuery("/settings/audit", { connection: useConnectionParam() }), text: t("all") }}
      live={live}
      skeleton={<RowsSkeleton rows={MAX_ENTRIES} />}
      bodyClassName="p-0 min-h-[294px]"
    >
      {(entries) =>
        entries.length === 0 ? (
          <CardNote>{t("none")}</CardNote>
        ) : (
          <ul>
            {entries.map(({ id, at, member, action, status }) => (
              <li
                key={id}
                data-entry={id}
                className="flex min-h-[49px] items-center gap-3 border-b border-line px-3.5 py-1 last:border-b-0"
              >
                <span className="min-w-0 flex-1">
                  <span className="block truncate">{member?.name || t("nobody")}</span>
                  <span className="block truncate text-sm text-ink-2">{status < 400 ? getActionText(action) : getAttemptText(action)}</span>
                </span>
                <RelativeTime ms={at} className="whitespace-nowrap text-ink-3" />
              </li>
            ))}
          </ul>
        )
      }
    </OverviewCard>
  );
}

type TimedPromise<T> = Promise<Result<TimedValue<T>, Failure>>;
type OverviewPromises = Readonly<Record<OverviewList, TimedPromise<OverviewJobs>>>;
/** `runners`: only for admins. */
type OverviewScreenProps = {
  canRun: boolean;
  canManage: boolean;
  runners?: UnavailableRunners;
  total: TimedPromise<number | undefined>;
  /** Whether jobs were submitted or removed here before, even if none are listed now. */
  hasSubmittedJobs: Promise<boolean>;
  jobLists: OverviewPromises;
};

/** The start page. Shows an introduction before the first job, then always the current state. */
export function OverviewScreen(props: OverviewScreenProps) {
  const connection = useConnection()?.id;
  const initialResult = use(props.total);
  // Shares its cache entry with the navigation.
  const counts = useLive<JobCounts, JobCounts>(connection ? getCountsPath(connection) : undefined, {
    ...toInitialOptions<JobCounts>(
      initialResult.ok ? ok({ value: { jobs: initialResult.value.value }, atMs: initialResult.value.atMs }) : initialResult,
    ),
    read: identity,
  });
  const total = counts.value?.jobs;
  const hasSubmittedJobs = use(props.hasSubmittedJobs);
  const [hadJobs, setHadJobs] = useState(false);
  if (!hadJobs && (total ?? 0) > 0) setHadJobs(true);
  // Only a successful response proves that there are no jobs.
  return total === 0 && !counts.failure && !hasSubmittedJobs && !hadJobs ? (
    <Page live={counts} canRun={false}>
      {props.runners ? <RunnersNotice runners={props.runners} /> : null}
      <Welcome canRun={props.canRun} canManage={props.canManage} />
    </Page>
  ) : (
    <CurrentState {...props} />
  );
}

function CurrentState({ canRun, canManage, runners, jobLists }: OverviewScreenProps) {
  const runningJobs = useJobs("running", jobLists.running);
  const failedJobs = useJobs("failed", jobLists.failed);
  const imageJobs = useJobs("pictures", jobLists.pictures);
  const lists = [runningJobs, failedJobs, imageJobs];
  const haveAllFailed = lists.every(({ value, failure }) => value === undefined && failure?.code === runningJobs.failure?.code);
  const sharedFailure = haveAllFailed ? runningJobs.failure : undefined;
  return (
    <Page live={runningJobs} canRun={canRun}>
      {runners ? <RunnersNotice runners={runners} /> : null}
      {sharedFailure ? (
        <FailureMessage
          failure={sharedFailure}
          onRetry={() => lists.forEach((list) => void list.refresh())}
          className="mx-4 mt-4 md:mx-5"
        />
      ) : null}
      {/* The same entry may be unreadable in each list. */}
      <UnreadableRows count={Math.max(...lists.map(({ value }) => value?.unreadable ?? 0))} />
      <PageFailureContext value={sharedFailure?.code}>
        <div className="grid min-w-0 gap-3.5 p-4 md:px-5 lg:grid-cols-2">
          <RunningJobsCard live={runningJobs} />
          <FailedJobsCard live={failedJobs} />
          <div className="min-w-0 lg:col-span-2">
            <ImagesCard live={imageJobs} />
          </div>
          <RunsCard className={canManage ? "min-w-0" : "min-w-0 lg:col-span-2"} />
          {canManage ? <AuditCard /> : null}
        </div>
      </PageFailureContext>
    </Page>
  );
}

function useJobs(list: OverviewList, promise: TimedPromise<OverviewJobs>): LiveValue<OverviewJobs> {
  const connection = useConnection()?.id;
  const initialResult = use(promise);
  return useLive(connection ? getJobsPath(list, connection) : undefined, { ...toInitialOptions(initialResult), read: toOverviewJobs });
}

function Page({ live, canRun, children }: { live: Pick<LiveValue<unknown>, "atMs" | "failure">; canRun: boolean; children: ReactNode }) {
  const t = useTranslations("overview");
  return (
    <>
      <PageHeader title={t("title")}>
        <Freshness atMs={live.atMs} isFailing={live.failure !== undefined} />
        {canRun ? <RunLink /> : null}
      </PageHeader>
      {children}
    </>
  );
}

type UnavailableRunners = Promise<Result<TimedValue<Runner[]>, Failure>>;

/** Warns admins about runners that accept no jobs although they were not paused, or whose state is unknown. */
export function RunnersNotice({ runners }: { runners: UnavailableRunners }) {
  const t = useTranslations("overview.runners");
  const live = useLive("/api/console/runners", { ...toInitialOptions(use(runners)), read: getUnavailableRunners });
  const runnersToShow = live.value ?? [];
  if (runnersToShow.length === 0 && !live.failure) return null;
  return (
    <div role="status" className="mx-4 mt-4 flex flex-wrap items-center gap-2.5 rounded-md bg-bad-soft px-3.5 py-2 md:mx-5">
      <span className="text-bad">
        <ToneIcon tone="bad" />
      </span>
      <ul className="min-w-0 flex-1">
        {runnersToShow.map(({ id, label, state }) => (
          <li key={id}>{t(state === "set_aside" ? "setAside" : "unreachable", { name: label })}</li>
        ))}
        {live.failure ? <li>{t("unread")}</li> : null}
      </ul>
      <ConnectionLink href="/settings/runners" className={buttonStyle()}>
        {t("open")}
      </ConnectionLink>
    </div>
  );
}

/** Shown before the first run, with an introduction and the options to start. */
function Welcome({ canRun, canManage }: { canRun: boolean; canManage: boolean }) {
  const t = useTranslations("overview.welcome");
  const getDenialText = useDenialText();
  const router = useRouter();
  const connection = useConnection();
  const connectionParam = useConnectionParam();
  const openRunPage = (values: { sample?: SampleName } = {}) => router.push(withQuery("/run", { ...values, connection: connectionParam }));
  return (
    <div className="mx-auto flex w-full max-w-[1120px] flex-col gap-5 px-4 py-6 md:px-5">
      <div>
        <h2 className="text-lg font-semibold">{t("title")}</h2>
        <p className="max-w-[80ch] text-ink-2">
          {canRun ? t("lead", { connection: connection?.name ?? "" }) : getDenialText(t("viewer"))}
          {canRun && connection?.embedded ? ` ${t("embedded")}` : null}
        </p>
      </div>
      <section aria-label={t("samples")}>
        <SampleCards
          names={samples}
          onOpen={async (sample) => openRunPage({ sample })}
          onRun={
            canRun
              ? async (sample) => {
                  requestRun({ sample });
                  openRunPage();
                }
              : undefined
          }
        />
      </section>
      <div className="grid gap-3 md:grid-cols-[2fr_1fr_1fr]">
        <OpenWorkflowStep
          canRun={canRun}
          onFiles={(files) => {
            requestRun({ files });
            openRunPage();
          }}
        />
        <Step icon={Plug} title={t("connect.title")} text={t("connect.text")}>
          <ButtonLink href={withQuery("/settings", { connection: connectionParam })}>{t("connect.action")}</ButtonLink>
        </Step>
        {canManage ? (
          <Step icon={UserPlus} title={t("invite.title")} text={t("invite.text")}>
            <ButtonLink href={withQuery("/settings/members", { invite: 1, connection: connectionParam })}>{t("invite.action")}</ButtonLink>
          </Step>
        ) : null}
      </div>
    </div>
  );
}

function OpenWorkflowStep({ canRun, onFiles }: { canRun: boolean; onFiles: (files: File[]) => void }) {
  const t = useTranslations("overview.welcome.own");
  const { input, open } = useFilePicker({
    accept: ".json,application/json,image/*",
    testId: "own-workflow",
    onFiles: (files) => files.length > 0 && onFiles(files),
  });
  const { isOver, props } = useDropTarget(onFiles);
  return (
    <Step
      icon={FileJson2}
      title={t("title")}
      text={t("text", { canRun: canRun ? "yes" : "no" })}
      dropProps={props}
      className={cn("border-dashed", isOver ? "border-accent bg-accent-soft" : defaultStepStyle)}
    >
      <Button onClick={open}>{t("pick")}</Button>
      {input}
    </Step>
  );
}

type StepProps = {
  icon: LucideIcon;
  title: string;
  text: string;
  dropProps?: ReturnType<typeof useDropTarget>["props"];
  className?: string;
  children: ReactNode;
};

const defaultStepStyle = "border-control bg-surface";

function Step({ icon: Icon, title, text, dropProps, className = defaultStepStyle, children }: StepProps) {
  return (
    <section {...dropProps} aria-label={title} className={cn("flex flex-col items-start gap-1 rounded-lg border p-3.5", className)}>
      <Icon aria-hidden="true" className="mb-1 size-5 text-ink-3" strokeWidth={1.5} />
      <h3 className="font-semibold">{title}</h3>
      <p className="mb-2 text-ink-2">{text}</p>
      <div className="mt-auto">{children}</div>
    </section>
  );
}
