"use client";

import { useTranslations } from "next-intl";
import { type ReactNode, use, useState } from "react";
import { useActWords } from "@/components/frame/act-words";
import { useConnection, useLinkedConnection } from "@/components/frame/connection/connection-context";
import { countPaths, totalOf, useFollowCounts, useTellCounts } from "@/components/frame/counts-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { UnreadableRows } from "@/components/frame/list/tool-bar";
import { Freshness } from "@/components/frame/list/tool-bar";
import { PageHeader, PageSkeleton } from "@/components/frame/page-header";
import { RunLink } from "@/components/frame/samples/run-link";
import { Card } from "@/components/ui/card";
import { buttonStyle } from "@/components/ui/controls/button";
import { Link } from "@/components/ui/link";
import { Skeleton } from "@/components/ui/skeleton";
import { ToneIcon } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { type Motion } from "@/lib/browser/poll/poll-plan";
import { initialOf, type Poll, type Stamped, usePoll } from "@/lib/browser/poll/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type AuditPage } from "@/lib/contract/audit/audit";
import { type Failure } from "@/lib/contract/failure";
import { type Runner } from "@/lib/contract/runners/runners";
import { type Result } from "@/lib/shared/result";
import { FailedPart, PicturesPart, RunningPart } from "./job-parts";
import { jobsPath, type OverviewJobs, type Question, toOverviewJobs } from "./overview-jobs";
import { unavailableRunners } from "./overview-jobs";
import { PageFailure, Part, PartNote } from "./part";
import { PicturesSkeleton, RowsSkeleton } from "./part";
import { RunsPart } from "./runs-part";
import { Welcome } from "./welcome";

const MAX_ACTS = 6;
const toEntries = ({ entries }: AuditPage) => entries;

/** The newest entries of the audit log, for members who may read it. */
function ActsPart() {
  const t = useTranslations("overview.acts");
  const { wordOf, triedOf } = useActWords();
  const poll = usePoll(withQuery("/api/console/audit", { limit: MAX_ACTS }), { read: toEntries, motion: () => "background" });
  return (
    <Part
      title={t("title")}
      all={{ href: "/settings/audit", text: t("all") }}
      poll={poll}
      skeleton={<RowsSkeleton rows={MAX_ACTS} />}
      bodyClassName="p-0 min-h-[294px]"
    >
      {(entries) =>
        entries.length === 0 ? (
          <PartNote>{t("none")}</PartNote>
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
                  <span className="block truncate text-sm text-ink-2">{status < 400 ? wordOf(action) : triedOf(action)}</span>
                </span>
                <RelativeTime ms={at} className="whitespace-nowrap text-ink-3" />
              </li>
            ))}
          </ul>
        )
      }
    </Part>
  );
}

type Reading<T> = Promise<Result<Stamped<T>, Failure>>;
type OverviewReads = Readonly<Record<Question, Reading<OverviewJobs>>>;
/** `runners` are for admins. */
type OverviewScreenProps = {
  canRun: boolean;
  canManage: boolean;
  runners?: UnavailableRunners;
  total: Reading<number | undefined>;
  /** Jobs have run here before, even if none are listed now. */
  wasUsed: Promise<boolean>;
  reads: OverviewReads;
};

const still = () => "still" as const;
const background = () => "background" as const;
const asRunning = ({ jobs }: OverviewJobs): Motion => (jobs.length > 0 ? "moving" : "still");

/** The start page: an introduction before the first job; after that the current state, even without jobs. */
export function OverviewScreen(props: OverviewScreenProps) {
  const connection = useConnection()?.id;
  // The same request as the navigation's, so one answer serves both.
  const all = usePoll(connection ? countPaths(connection).jobs : undefined, {
    ...initialOf(use(props.total)),
    read: totalOf,
    motion: background,
  });
  const wasUsed = use(props.wasUsed);
  const [hadJobs, setHadJobs] = useState(false);
  if (!hadJobs && (all.value ?? 0) > 0) setHadJobs(true);
  // Only an answer proves that there are no jobs: a failing service may have many.
  return all.value === 0 && !all.failure && !wasUsed && !hadJobs ? (
    <Page poll={all} canRun={false}>
      {props.runners ? <RunnersNotice runners={props.runners} /> : null}
      <Welcome canRun={props.canRun} canManage={props.canManage} />
    </Page>
  ) : (
    <Standing {...props} />
  );
}

function Standing({ canRun, canManage, runners, reads }: OverviewScreenProps) {
  const running = useJobs("running", reads.running, asRunning);
  const failed = useJobs("failed", reads.failed, still);
  const pictures = useJobs("pictures", reads.pictures, still);
  const ids = running.value?.jobs.map(({ id }) => id).join(" ");
  useFollowCounts(ids);
  useTellCounts({ running: running.value?.total }, running.atMs);
  const polls = [running, failed, pictures];
  const isDown = polls.every(({ value, failure }) => value === undefined && failure?.code === running.failure?.code);
  const down = isDown ? running.failure : undefined;
  return (
    <Page poll={running} canRun={canRun}>
      {runners ? <RunnersNotice runners={runners} /> : null}
      {down ? (
        <FailureMessage failure={down} onRetry={() => polls.forEach((poll) => void poll.refresh())} className="mx-4 mt-4 md:mx-5" />
      ) : null}
      {/* One entry may be missing in each of the lists. */}
      <UnreadableRows count={Math.max(...polls.map(({ value }) => value?.unreadable ?? 0))} />
      <PageFailure value={down?.code}>
        <div className="grid min-w-0 gap-3.5 p-4 md:px-5 lg:grid-cols-2">
          <RunningPart poll={running} />
          <FailedPart poll={failed} />
          <div className="min-w-0 lg:col-span-2">
            <PicturesPart poll={pictures} />
          </div>
          <RunsPart className={canManage ? "min-w-0" : "min-w-0 lg:col-span-2"} />
          {canManage ? <ActsPart /> : null}
        </div>
      </PageFailure>
    </Page>
  );
}

function useJobs(question: Question, reading: Reading<OverviewJobs>, motion: (jobs: OverviewJobs) => Motion): Poll<OverviewJobs> {
  const connection = useConnection()?.id;
  const first = use(reading);
  return usePoll(connection ? jobsPath(question, connection) : undefined, { ...initialOf(first), read: toOverviewJobs, motion });
}

type PageProps = { poll: Pick<Poll<unknown>, "atMs" | "everyMs" | "failure">; canRun: boolean; children: ReactNode };

function Page({ poll, canRun, children }: PageProps) {
  const t = useTranslations("overview");
  const linked = useLinkedConnection();
  return (
    <>
      <PageHeader title={t("title")}>
        <Freshness atMs={poll.atMs} everyMs={poll.everyMs} isFailing={poll.failure !== undefined} />
        {canRun ? <RunLink linked={linked} /> : null}
      </PageHeader>
      {children}
    </>
  );
}

type UnavailableRunners = Promise<Result<Stamped<Runner[]>, Failure>>;

const slowly = () => "slow" as const;

/** For admins, while a runner that was not paused accepts no jobs, or while the state of the runners is unknown. */
export function RunnersNotice({ runners }: { runners: UnavailableRunners }) {
  const t = useTranslations("overview.runners");
  const poll = usePoll("/api/console/runners", { ...initialOf(use(runners)), read: unavailableRunners, motion: slowly });
  const unavailable = poll.value ?? [];
  if (unavailable.length === 0 && !poll.failure) return null;
  return (
    <div role="status" className="mx-4 mt-4 flex flex-wrap items-center gap-2.5 rounded-md bg-bad-soft px-3.5 py-2 md:mx-5">
      <span className="text-bad">
        <ToneIcon tone="bad" />
      </span>
      <ul className="min-w-0 flex-1">
        {unavailable.map(({ id, label, state }) => (
          <li key={id}>{t(state === "set_aside" ? "setAside" : "unreachable", { name: label })}</li>
        ))}
        {poll.failure ? <li>{t("unread")}</li> : null}
      </ul>
      <Link href="/settings/runners" className={buttonStyle()}>
        {t("open")}
      </Link>
    </div>
  );
}

/** The page in its real size while it loads. */
export function OverviewSkeleton() {
  const t = useTranslations("overview");
  return (
    <PageSkeleton title={t("title")} label={t("loading")} className="grid min-w-0 gap-3.5 p-4 md:px-5 lg:grid-cols-2">
      <Card title={t("running.title")} bodyClassName="p-0 min-h-[98px] lg:min-h-[196px]">
        <RowsSkeleton rows={2} />
      </Card>
      <Card title={t("failed.title")} bodyClassName="p-0 min-h-[98px] lg:min-h-[196px]">
        <RowsSkeleton rows={4} />
      </Card>
      <Card title={t("pictures.title")} className="lg:col-span-2">
        <PicturesSkeleton />
      </Card>
      <Card title={t("runs.title")} bodyClassName="min-h-[294px]">
        <Skeleton className="h-[200px] w-full" />
      </Card>
      <Card title={t("acts.title")} bodyClassName="p-0 min-h-[294px]">
        <RowsSkeleton rows={6} />
      </Card>
    </PageSkeleton>
  );
}
