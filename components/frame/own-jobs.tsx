// Shows the outcomes of this tab's jobs while the tab is hidden: in its title and icon, and as browser notifications.

import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useRouter } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { createPersistedValue, tabStorage } from "@/lib/browser/persisted-value";
import { toJobHref, withQuery } from "@/lib/browser/urls";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { asObject } from "@/lib/contract/json/json";
import { list, number, type Reader, text } from "@/lib/contract/json/readers";
import { useConnection } from "./connection/connection-context";
import { type FollowedJob, followJobs, type JobActivity, MAX_FOLLOWED_JOBS } from "./follow-jobs";

export const notificationChoices = ["off", "failed", "all"] as const;
/** Undefined until the user has chosen, or notifications have been offered. */
export type NotificationChoice = (typeof notificationChoices)[number] | undefined;
/** The job outcomes that trigger a browser notification. */
export const notificationChoice = createPersistedValue("lightdesk.notifications", (value): NotificationChoice =>
  notificationChoices.find((choice) => choice === value),
);

const OFFER_DELAY_MS = 10_000;

const readOwnJob: Reader<FollowedJob> = (value) => {
  const fields = asObject(value) ?? {};
  const [id, connection, batch, atMs] = [text(fields.id), text(fields.connection), text(fields.batch), number(fields.atMs)];
  const app = text(fields.app);
  if (id === undefined || connection === undefined || batch === undefined || atMs === undefined) return undefined;
  return { id, connection, batch, atMs, ...(app !== undefined && { app }) };
};
const noJobs: readonly FollowedJob[] = [];
const ownJobs = createPersistedValue("lightdesk.own-jobs", (value) => list(readOwnJob, MAX_FOLLOWED_JOBS)(value) ?? noJobs, tabStorage);

function addOwnJob(job: FollowedJob): void {
  ownJobs.set([...ownJobs.get().filter(({ id }) => id !== job.id), job].slice(-MAX_FOLLOWED_JOBS));
}

type Tally = { finished: number; failed: number };

/** Mounted once, in the frame. The code is loaded after the page. */
export function OwnJobs() {
  const connection = useConnection()?.id;
  const currentConnection = useEffectEvent(() => connection);
  const [{ runningId, share }, setActivity] = useState<JobActivity>({});
  const hiddenTally = useHiddenTally();
  const notify = useNotify();
  const endJob = useEffectEvent((id: string, state: JobState) => {
    const job = ownJobs.get().find((ownJob) => ownJob.id === id);
    if (!job) return;
    ownJobs.set(ownJobs.get().filter((ownJob) => ownJob !== job));
    hiddenTally.count(state);
    notify(job, state);
  });
  useEffect(
    () =>
      followJobs({
        jobs: ownJobs.get(),
        currentConnection: () => currentConnection(),
        onSubmitted: addOwnJob,
        onEnded: ({ id }, state) => endJob(id, state),
        onActivity: setActivity,
      }),
    [],
  );
  useTabTitle(hiddenTally.tally, share);
  useNotificationOffer(runningId);
  return null;
}

const emptyTally: Tally = { finished: 0, failed: 0 };

/** Counts the jobs that end while the tab is hidden. The counts are undefined while it is visible. */
function useHiddenTally() {
  const [tally, setTally] = useState<Tally>();
  useEffect(() => {
    const resetTally = () => setTally(document.visibilityState === "hidden" ? emptyTally : undefined);
    resetTally();
    document.addEventListener("visibilitychange", resetTally);
    return () => document.removeEventListener("visibilitychange", resetTally);
  }, []);
  return { tally, count: (state: JobState) => setTally((current) => current && addOutcome(current, state)) };
}

function addOutcome({ finished, failed }: Tally, state: JobState): Tally {
  return { finished: finished + Number(state === "completed"), failed: failed + Number(state === "failed") };
}

/** Formats counts, such as "1 failed · 3 finished". Empty if nothing has ended. */
function useFormatTally(): (tally: Tally) => string {
  const t = useTranslations("frame.ownJobs");
  return ({ failed, finished }) =>
    [...(failed > 0 ? [t("failed", { count: failed })] : []), ...(finished > 0 ? [t("finished", { count: finished })] : [])].join(" · ");
}

/** Updates the title and icon, only while the tab is hidden, so that no navigation changes the title. */
function useTabTitle(tally: Tally | undefined, share: number | undefined): void {
  const t = useTranslations("frame.ownJobs");
  const isHidden = tally !== undefined;
  const formatTally = useFormatTally();
  const progress = tally && share !== undefined ? [t("progress", { value: Math.round(share * 100) })] : [];
  const prefix = [...(tally ? [formatTally(tally)].filter(Boolean) : []), ...progress].join(" · ");
  const iconColour = tally && getIconColour(tally, share);
  const originalTitle = useRef("");
  useEffect(() => {
    if (!isHidden) return;
    originalTitle.current = document.title;
    return () => {
      document.title = originalTitle.current;
    };
  }, [isHidden]);
  useEffect(() => {
    if (isHidden) document.title = prefix === "" ? originalTitle.current : `${prefix} · ${originalTitle.current}`;
  }, [isHidden, prefix]);
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel~="icon"]');
    if (!icon || iconColour === undefined) return;
    const { href } = icon;
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#171717"/><circle cx="16" cy="16" r="9" fill="${iconColour}"/></svg>`;
    icon.href = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    return () => {
      icon.href = href;
    };
  }, [iconColour]);
}

/** The icon's colour, or undefined for the default icon. */
function getIconColour({ failed, finished }: Tally, share: number | undefined): string | undefined {
  if (failed > 0) return "#d4351c";
  if (finished > 0) return "#1a7f45";
  return share === undefined ? undefined : "#3b6fe0";
}

/** One notification per batch, once all its jobs have ended. Jobs added to the batch later replace the notification. */
function useNotify(): (job: FollowedJob, state: JobState) => void {
  const formatTally = useFormatTally();
  const router = useRouter();
  const batches = useRef(new Map<string, Tally>());
  return (job, state) => {
    const tally = addOutcome(batches.current.get(job.batch) ?? emptyTally, state);
    batches.current.set(job.batch, tally);
    if (ownJobs.get().some(({ batch }) => batch === job.batch)) return;
    if (!shouldNotify(notificationChoice.get(), tally) || document.visibilityState === "visible") return;
    const count = tally.finished + tally.failed;
    if (count === 0) return;
    const notification = createNotification({ body: formatTally(tally), tag: `lightdesk ${job.batch}` });
    if (!notification) return;
    notification.onclick = () => {
      window.focus();
      notification.close();
      if (job.app !== undefined) return router.push(`/apps/${encodeURIComponent(job.app)}`);
      router.push(
        count === 1 && (state === "completed" || state === "failed")
          ? toJobHref(job.id, job.connection)
          : withQuery("/jobs", { connection: job.connection }),
      );
    };
  };
}

/** Returns undefined if the constructor throws, as in Chrome on Android. */
function createNotification(options?: NotificationOptions): Notification | undefined {
  try {
    return new Notification("Lightdesk", options);
  } catch {
    return undefined;
  }
}

function shouldNotify(choice: NotificationChoice, { failed }: Tally): boolean {
  if (typeof Notification === "undefined" || Notification.permission !== "granted") return false;
  return choice === "all" || (choice === "failed" && failed > 0);
}

/** Offers notifications once, when a job has run for a while. */
function useNotificationOffer(runningId: string | undefined): void {
  const t = useTranslations("frame.ownJobs");
  const offerNotifications = useEffectEvent(() => {
    if (notificationChoice.get() !== undefined || typeof Notification === "undefined" || Notification.permission !== "default") return;
    // Detects the feature: nothing is shown without permission.
    if (!createNotification()) return;
    notificationChoice.set("off");
    const enableNotifications = async () => {
      if ((await Notification.requestPermission()) === "granted") notificationChoice.set("all");
    };
    showToast({ tone: "run", text: t("offer"), action: { label: t("accept"), run: () => void enableNotifications() } });
  });
  useEffect(() => {
    if (runningId === undefined) return;
    const timer = setTimeout(offerNotifications, OFFER_DELAY_MS);
    return () => clearTimeout(timer);
  }, [runningId]);
}
