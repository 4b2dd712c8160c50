import { useTranslations } from "next-intl";
import { type ComponentProps, type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { useConnection, useConnectionParam } from "@/components/frame/connection/connection-context";
import { useCounts } from "@/components/frame/counts-context";
import { formatRunningNode, JobStatus, useRunProgress } from "@/components/frame/job-status";
import { DisabledLink, Link } from "@/components/ui/link";
import { FailedPicture, Picture } from "@/components/ui/pictures/picture";
import { ProgressBar } from "@/components/ui/skeleton";
import { RelativeTime, RunningDuration } from "@/components/ui/time";
import { type LiveValue } from "@/lib/browser/live/use-live";
import { createThumbnailUrl, toJobHref, toShortId, withQuery } from "@/lib/browser/urls";
import { hasFeature } from "@/lib/contract/connections";
import { isAddressableId } from "@/lib/contract/params";
import { getKindByName } from "@/lib/contract/views/outputs-view";
import { CardNote, imageGridStyle, ImagesSkeleton, OverviewCard, RowsSkeleton } from "./overview-card";
import { MAX_IMAGES, type OverviewJob, type OverviewJobs } from "./overview-jobs";

type JobCardProps = { live: LiveValue<OverviewJobs> };

export function RunningJobsCard({ live }: JobCardProps) {
  const t = useTranslations("overview");
  const connectionParam = useConnectionParam();
  const { pending } = useCounts();
  return (
    <OverviewCard
      title={t("running.title")}
      note={pending === undefined ? undefined : t("running.waiting", { count: pending })}
      listLink={{ href: withQuery("/queue", { connection: connectionParam }), text: t("running.all") }}
      live={live}
      skeleton={<RowsSkeleton rows={2} />}
      bodyClassName="p-0 min-h-[98px] lg:min-h-[196px]"
    >
      {({ jobs, total = jobs.length }) =>
        jobs.length === 0 ? (
          <CardNote>{t("running.none")}</CardNote>
        ) : (
          <>
            <ul>
              {jobs.map((job) => (
                <RunningJobRow key={job.id} job={job} />
              ))}
            </ul>
            {total > jobs.length ? <CardNote>{t("running.more", { count: total - jobs.length })}</CardNote> : null}
          </>
        )
      }
    </OverviewCard>
  );
}

function RunningJobRow({ job }: { job: OverviewJob }) {
  const t = useTranslations("overview");
  const nodeTexts = useTranslations("common.runningNode");
  const { share, remaining } = useRunProgress({ value: job.progress, expected: job.expected, startedMs: job.startedMs });
  const node = job.runningNode && formatRunningNode(nodeTexts, job.runningNode);
  const outputs = job.outputs && t("running.outputs", { count: job.outputs });
  return (
    <JobRow job={job} detail={[remaining, node, outputs].filter(Boolean).join(" · ")}>
      {share === undefined ? (
        <JobStatus word={job.rawStatus} />
      ) : (
        <span className="inline-flex items-center gap-2 text-ink-2">
          <ProgressBar value={share} label={t("running.progress", { name: job.name ?? t("unnamed") })} className="max-sm:w-9" />
          <span className="w-9 text-right tabular-nums">{t("running.percent", { value: Math.round(share * 100) })}</span>
        </span>
      )}
      <span className="w-16 text-right whitespace-nowrap text-ink-3 tabular-nums">
        {job.startedMs === undefined ? null : <RunningDuration fromMs={job.startedMs} />}
      </span>
    </JobRow>
  );
}

export function FailedJobsCard({ live }: JobCardProps) {
  const t = useTranslations("overview");
  const connectionParam = useConnectionParam();
  return (
    <OverviewCard
      title={t("failed.title")}
      listLink={{ href: withQuery("/jobs", { status: "failed", connection: connectionParam }), text: t("failed.all") }}
      live={live}
      skeleton={<RowsSkeleton rows={4} />}
      bodyClassName="p-0 min-h-[98px] lg:min-h-[196px]"
    >
      {({ jobs }) =>
        jobs.length === 0 ? (
          <CardNote>{t("failed.none")}</CardNote>
        ) : (
          <ul>
            {jobs.map((job) => (
              <JobRow key={job.id} job={job} detail={job.error ?? t("failed.noReason")}>
                <span className="whitespace-nowrap text-ink-3">{job.endedMs === undefined ? null : <RelativeTime ms={job.endedMs} />}</span>
              </JobRow>
            ))}
          </ul>
        )
      }
    </OverviewCard>
  );
}

function JobLink({ id, className, children }: { id: string; className: string; children: ReactNode }) {
  const t = useTranslations("common");
  const connectionParam = useConnectionParam();
  return isAddressableId(id) ? (
    <Link href={toJobHref(id, connectionParam)} prefetch={false} className={className}>
      {children}
    </Link>
  ) : (
    <DisabledLink reason={t("cannotOpen")} className={className}>
      {children}
    </DisabledLink>
  );
}

function JobRow({ job: { id, name }, detail, children }: { job: OverviewJob; detail?: string; children: ReactNode }) {
  const t = useTranslations("overview");
  return (
    <li data-job={id} className="flex min-h-[49px] items-center gap-3 border-b border-line px-3.5 py-1 last:border-b-0">
      <span className="min-w-0 flex-1">
        <span className="flex items-baseline gap-2">
          <JobLink id={id} className="truncate hover:underline">
            {name ?? t("unnamed")}
          </JobLink>
          <span title={id} className="shrink-0 font-mono text-sm text-ink-3 max-sm:hidden">
            {toShortId(id)}
          </span>
        </span>
        {detail ? (
          <span title={detail} className="block truncate text-sm text-ink-2">
            {detail}
          </span>
        ) : null}
      </span>
      {children}
    </li>
  );
}

export function ImagesCard({ live }: JobCardProps) {
  const t = useTranslations("overview");
  const connectionParam = useConnectionParam();
  const currentConnection = useConnection();
  const connection = currentConnection?.id;
  const [missingIds, setMissingIds] = useState<ReadonlySet<string>>(new Set());
  return (
    <OverviewCard
      title={t("pictures.title")}
      listLink={
        !hasFeature(currentConnection, "assets")
          ? undefined
          : { href: withQuery("/assets", { connection: connectionParam }), text: t("pictures.all") }
      }
      live={live}
      skeleton={<ImagesSkeleton />}
    >
      {({ jobs }) => {
        const previews = jobs
          .flatMap(({ preview, ...job }) => (preview && !missingIds.has(job.id) ? [{ ...job, preview }] : []))
          .slice(0, MAX_IMAGES);
        if (previews.length === 0) return <p className="text-ink-3">{t("pictures.none")}</p>;
        return (
          <ul className={imageGridStyle}>
            {previews.map(({ id, name = t("unnamed"), preview }) => {
              const kind = getKindByName(preview.filename);
              const imageProps = { alt: name, width: 256, height: 192, className: "aspect-[4/3] h-auto w-full" };
              const hideTile = () => setMissingIds((ids) => new Set(ids).add(id));
              return (
                <li key={id} data-job={id} className="min-w-0">
                  <JobLink id={id} className="block rounded-sm">
                    <Picture
                      {...imageProps}
                      src={createThumbnailUrl({ connection, file: preview, edge: 256, fit: "fill" })}
                      kind={kind}
                      fallback={kind === "image" ? (url) => <FailedImage {...imageProps} url={url} onMissing={hideTile} /> : undefined}
                    />
                  </JobLink>
                </li>
              );
            })}
          </ul>
        );
      }}
    </OverviewCard>
  );
}

type FailedImageProps = Pick<ComponentProps<typeof Picture>, "alt" | "width" | "height" | "className"> & {
  url: string;
  onMissing: () => void;
};

/** FailedPicture that also checks whether the image was deleted. */
function FailedImage({ url, onMissing, ...imageProps }: FailedImageProps) {
  const reportMissing = useEffectEvent(onMissing);
  useEffect(() => {
    void fetch(url).then(
      ({ status }) => status === 404 && reportMissing(),
      () => undefined,
    );
  }, [url]);
  return <FailedPicture {...imageProps} kind="image" url={url} />;
}
