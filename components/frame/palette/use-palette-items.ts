import { useTranslations } from "next-intl";
import { useTheme } from "next-themes";
import { useEffect, useEffectEvent, useState } from "react";
import { useRouter } from "@/components/ui/link";
import { useTimeFormat } from "@/components/ui/time";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { shortId, toJobHref, withQuery } from "@/lib/browser/urls";
import { type JobReach, type JobSearchAnswer } from "@/lib/contract/console";
import { toJobState } from "@/lib/contract/jobs/job-list";
import { isAddressableId } from "@/lib/contract/params";
import { hasRole } from "@/lib/contract/people/roles";
import { type JobListItem, type JobsAnswer } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { languageNames, languages } from "@/lib/shared/languages";
import { type Result } from "@/lib/shared/result";
import { useSignOut } from "../account/sign-out-button";
import { useConnection, useConnectionParam, useConnections, useSeenConnection } from "../connection/connection-context";
import { useLanguage } from "../look/language-switch";
import { useRole, useRunsAppsOnly } from "../member-context";
import { getDestinations } from "../navigation";
import { samples } from "../samples/samples";
import { getUploadSources, openUploadSource } from "../upload-sources";
import { showOverlay, usePageActions } from "./palette-button";

const themes = ["system", "light", "dark"] as const;

const RECENT_JOBS = 5;

type PaletteOptions = {
  jobs: readonly JobListItem[];
  /** Jobs found by their content. */
  foundJobs: FoundJobs | undefined;
  assets: readonly AssetView[];
  onSwitch: (connection: { id: string; name: string }) => void;
};

/** The items of the command palette. */
export function usePaletteItems({ jobs, foundJobs, assets, onSwitch }: PaletteOptions): PaletteItem[] {
  const t = useTranslations("frame");
  const router = useRouter();
  const { setTheme } = useTheme();
  const { language, change } = useLanguage();
  const { leave, isOffered } = useSignOut();
  const current = useConnection();
  const connections = useConnections();
  const connection = useConnectionParam();
  const clock = useTimeFormat();
  const formatCreated = ({ create_time: time }: JobListItem) => {
    const ms = toMilliseconds(time);
    return ms === undefined ? undefined : clock(ms, "until");
  };
  const role = useRole();
  const pageActions = usePageActions();
  const runsAppsOnly = useRunsAppsOnly();
  const navigateTo = (href: `/${string}`) => () => router.push(href);
  return [
    ...getDestinations(current, runsAppsOnly).map(({ href, label }) => ({
      key: href,
      group: "pages" as const,
      label: t(label),
      searchTerms: href,
      run: navigateTo(withQuery(href, { connection })),
    })),
    ...mergeJobs(jobs, foundJobs)
      .filter(({ job }) => isAddressableId(job.id))
      .map(({ job, searchTerms }, index) => ({
        key: `job-${job.id}`,
        group: "jobs" as const,
        label: job.workflow_name ?? job.job_label ?? job.prompt_excerpt ?? t("palette.unnamed", { id: shortId(job.id) }),
        note: [formatCreated(job), stateWord(job, t)].filter(Boolean).join(" · "),
        searchTerms: `${job.id} ${searchTerms ?? ""}`,
        onDemand: index >= RECENT_JOBS,
        run: navigateTo(toJobHref(job.id, connection)),
      })),
    ...getWorkflows(jobs).map(({ id, name }) => ({
      key: `workflow-${id}`,
      group: "workflows" as const,
      label: name,
      note: t("palette.workflowJobs"),
      searchTerms: id,
      run: navigateTo(withQuery("/jobs", { workflow_id: id, connection })),
    })),
    ...(runsAppsOnly ? [] : samples).map((name) => ({
      key: `sample-${name}`,
      group: "samples" as const,
      label: t(`samples.${name}`),
      note: t("palette.sample"),
      searchTerms: name,
      onDemand: true,
      run: navigateTo(withQuery("/run", { sample: name, connection })),
    })),
    ...assets
      .filter(({ id }) => isAddressableId(id))
      .map(({ id, name }) => ({
        key: `asset-${id}`,
        group: "assets" as const,
        label: name,
        searchTerms: id,
        onDemand: true,
        run: navigateTo(withQuery(`/assets/${encodeURIComponent(id)}`, { connection })),
      })),
    ...connections
      .filter(({ id }) => id !== current?.id)
      .map(({ id, name }) => ({
        key: `connection-${id}`,
        group: "connections" as const,
        label: t("palette.connection", { name }),
        run: () => onSwitch({ id, name }),
      })),
    ...(runsAppsOnly ? [] : getUploadSources(current)).map((source) => ({
      key: `way-${source}`,
      group: "actions" as const,
      label: t(`ways.${source}`),
      run: () => openUploadSource(source),
    })),
    ...pageActions.map((action) => ({ ...action, group: "actions" as const })),
    ...(runsAppsOnly
      ? []
      : [
          {
            key: "show-failed",
            group: "actions" as const,
            label: t("palette.showFailed"),
            run: navigateTo(withQuery("/jobs", { status: "failed", connection })),
          },
        ]),
    ...(role !== undefined && hasRole(role, "operator")
      ? [
          {
            key: "cancel-waiting",
            group: "actions" as const,
            label: t("palette.cancelWaiting"),
            run: navigateTo(withQuery("/queue", { clear: 1, connection })),
          },
        ]
      : []),
    ...(role !== undefined && hasRole(role, "admin")
      ? [
          {
            key: "invite",
            group: "actions" as const,
            label: t("palette.invite"),
            run: navigateTo(withQuery("/settings/members", { invite: 1, connection })),
          },
        ]
      : []),
    ...themes.map((theme) => ({
      key: `theme-${theme}`,
      group: "actions" as const,
      label: t("theme.now", { theme: t(`theme.${theme}`) }),
      run: () => setTheme(theme),
    })),
    ...languages
      .filter((name) => name !== language)
      .map((name) => ({
        key: `language-${name}`,
        group: "actions" as const,
        label: languageNames[name],
        note: t("language.label"),
        searchTerms: `language ${name}`,
        onDemand: true,
        run: () => change(name),
      })),
    { key: "keys", group: "actions", label: t("palette.keys"), note: "?", run: () => showOverlay("keys") },
    ...(isOffered ? [{ key: "sign-out", group: "actions" as const, label: t("member.signOut"), run: () => void leave() }] : []),
  ];
}

function mergeJobs(jobs: readonly JobListItem[], foundJobs: FoundJobs | undefined): { job: JobListItem; searchTerms?: string }[] {
  const knownIds = new Set(jobs.map(({ id }) => id));
  const foundIds = new Set(foundJobs?.jobs.map(({ id }) => id));
  const recent = jobs.map((job) => ({ job, ...(foundIds.has(job.id) && { searchTerms: foundJobs?.text }) }));
  return [
    ...recent,
    ...(foundJobs?.jobs ?? []).filter(({ id }) => !knownIds.has(id)).map((job) => ({ job, searchTerms: foundJobs?.text })),
  ];
}

type Words = ReturnType<typeof useTranslations<"frame">>;

function stateWord({ status }: JobListItem, t: Words): string {
  const state = toJobState(status);
  return state === "unknown" ? status : t(`states.${state}`);
}

/** The workflows of the newest jobs, latest first, by name or id. */
function getWorkflows(jobs: readonly JobListItem[]): { id: string; name: string }[] {
  const names = new Map<string, string>();
  for (const { workflow_id: id, workflow_name: name } of jobs) if (id && !names.has(id)) names.set(id, name ?? id);
  return [...names].map(([id, name]) => ({ id, name }));
}

export const paletteGroups = ["pages", "jobs", "workflows", "samples", "assets", "connections", "actions"] as const;
type PaletteGroup = (typeof paletteGroups)[number];

export type PaletteItem = {
  key: string;
  group: PaletteGroup;
  label: string;
  note?: string;
  /** Additional search text, not shown. */
  searchTerms?: string;
  /** Shown only after typing, since there are too many. */
  onDemand?: boolean;
  run: () => void;
};

/** Maximum items per group, except for actions. */
const MAX_GROUP_ITEMS = 12;

/** Items that contain every typed word, by group; items that start with the text are first. */
export function findItems(items: readonly PaletteItem[], typed: string): PaletteItem[] {
  const text = typed.trim().toLowerCase();
  const words = text.split(/\s+/).filter(Boolean);
  const matches = items.filter((item) => {
    if (words.length === 0) return !item.onDemand;
    const searched = `${item.label} ${item.note ?? ""} ${item.searchTerms ?? ""}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
  return paletteGroups.flatMap((group) => {
    const groupItems = matches.filter((item) => item.group === group);
    const startsWithText = (item: PaletteItem) => text !== "" && item.label.toLowerCase().startsWith(text);
    const ordered = [...groupItems.filter(startsWithText), ...groupItems.filter((item) => !startsWithText(item))];
    return group === "actions" ? ordered : ordered.slice(0, MAX_GROUP_ITEMS);
  });
}

/** A complete job id in pasted text; undefined for anything shorter or different. */
export function parseJobId(typed: string): string | undefined {
  const text = typed.trim();
  return /^[\w-]{16,200}$/.test(text) && /\d/.test(text) ? text : undefined;
}

const RECENT_LIMIT = 100;

/** The newest jobs, requested once when the commands open; if that fails, pages and actions still work. */
export function useRecentJobs(): readonly JobListItem[] {
  const connection = useSeenConnection()?.id;
  const [jobs, setJobs] = useState<readonly JobListItem[]>([]);
  useEffect(() => {
    if (!connection) return;
    const controller = new AbortController();
    void callApi<JobsAnswer>(withQuery("/api/jobs", { limit: RECENT_LIMIT, connection }), { signal: controller.signal }).then((result) => {
      if (result.ok && !controller.signal.aborted) setJobs(result.value.jobs);
    });
    return () => controller.abort();
  }, [connection]);
  return jobs;
}

const MIN_LENGTH = 2;
const MAX_FOUND = 12;
export type FoundJobs = { text: string; jobs: readonly JobListItem[]; reach?: JobReach; failure?: ApiFailure };

/** Searches jobs of any age by words of their prompt, error, workflow or member. */
export function useJobSearch(typed: string): FoundJobs | undefined {
  const connection = useSeenConnection()?.id;
  const text = typed.trim();
  const isRequested = text.length >= MIN_LENGTH && connection !== undefined;
  const path = isRequested ? withQuery("/api/console/jobs/search", { text, limit: MAX_FOUND, connection }) : undefined;
  return useDebouncedRequest<JobSearchAnswer, FoundJobs>(path, (result) =>
    result.ok ? { text, jobs: result.value.jobs, reach: result.value.reach } : { text, jobs: [], failure: result.failure },
  );
}

type JobLookup = { id: string } & ({ kind: "asking" } | { kind: "found"; job: JobListItem } | { kind: "failed"; failure: ApiFailure });

/** The job with this id, if it is not among the newest. */
export function useJobLookup(id: string | undefined): JobLookup | undefined {
  const connection = useSeenConnection()?.id;
  const path = id === undefined || !connection ? undefined : withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection });
  const jobLookup = useDebouncedRequest<JobListItem, JobLookup>(path, (result) => ({
    id: id ?? "",
    ...(result.ok ? { kind: "found", job: result.value } : { kind: "failed", failure: result.failure }),
  }));
  if (id === undefined || !connection) return undefined;
  return jobLookup?.id === id ? jobLookup : { id, kind: "asking" };
}

const DEBOUNCE_MS = 200;

/**
 * The parsed response of `path`, requested a moment after the last change. The previous value is returned while the next one loads. Undefined
 * without a path.
 */
export function useDebouncedRequest<Answer, Found>(
  path: `/${string}` | undefined,
  parse: (result: Result<Answer, ApiFailure>) => Found,
): Found | undefined {
  const [latestValue, setValue] = useState<Found>();
  const handleResult = useEffectEvent((result: Result<Answer, ApiFailure>) => setValue(parse(result)));
  useEffect(() => {
    if (path === undefined) return;
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      const result = await callApi<Answer>(path, { signal: controller.signal });
      if (!controller.signal.aborted) handleResult(result);
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [path]);
  return path === undefined ? undefined : latestValue;
}
