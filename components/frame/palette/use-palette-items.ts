import { useTranslations } from "next-intl";
import { useTheme } from "next-themes";
import { useEffect, useEffectEvent, useState } from "react";
import { useRouter } from "@/components/ui/link";
import { useTimeFormat } from "@/components/ui/time";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { toJobHref, toShortId, withQuery } from "@/lib/browser/urls";
import { type JobReach, type JobSearchResponse } from "@/lib/contract/console";
import { toJobState } from "@/lib/contract/jobs/job-list";
import { hasRole } from "@/lib/contract/members/roles";
import { isAddressableId } from "@/lib/contract/params";
import { type JobListItem, type JobsResponse } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { languageNames, languages } from "@/lib/shared/languages";
import { type Result } from "@/lib/shared/result";
import { useSignOut } from "../account/sign-out-button";
import { useLanguage } from "../appearance/language-switch";
import { themes } from "../appearance/theme";
import { useConnection, useConnectionParam, useConnections, useDirectConnection } from "../connection/connection-context";
import { useRole, useRunsAppsOnly } from "../member-context";
import { getDestinations } from "../navigation";
import { samples } from "../samples/samples";
import { getUploadSources, openUploadSource } from "../upload-sources";
import { showOverlay, usePageActions } from "./palette-button";

const MAX_RECENT_JOBS = 5;

type PaletteOptions = {
  jobs: readonly JobListItem[];
  /** Jobs found by a full-text search. */
  foundJobs: FoundJobs | undefined;
  assets: readonly AssetView[];
  onSwitch: (connection: { id: string; name: string }) => void;
};

/** Returns the items of the command palette. */
export function usePaletteItems({ jobs, foundJobs, assets, onSwitch }: PaletteOptions): PaletteItem[] {
  const t = useTranslations("frame");
  const router = useRouter();
  const { setTheme } = useTheme();
  const { language, changeLanguage } = useLanguage();
  const { requestSignOut, canSignOut } = useSignOut();
  const currentConnection = useConnection();
  const connections = useConnections();
  const connection = useConnectionParam();
  const formatTime = useTimeFormat();
  const formatCreated = ({ create_time: time }: JobListItem) => {
    const ms = toMilliseconds(time);
    return ms === undefined ? undefined : formatTime(ms, "until");
  };
  const role = useRole();
  const pageActions = usePageActions();
  const runsAppsOnly = useRunsAppsOnly();
  const navigateTo = (href: `/${string}`) => () => router.push(href);
  return [
    ...getDestinations(currentConnection, runsAppsOnly).map(({ href, label }) => ({
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
        label: job.workflow_name ?? job.job_label ?? job.prompt_excerpt ?? t("palette.unnamed", { id: toShortId(job.id) }),
        note: [formatCreated(job), getStateLabel(job, t)].filter(Boolean).join(" · "),
        searchTerms: `${job.id} ${searchTerms ?? ""}`,
        onDemand: index >= MAX_RECENT_JOBS,
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
      .filter(({ id }) => id !== currentConnection?.id)
      .map(({ id, name }) => ({
        key: `connection-${id}`,
        group: "connections" as const,
        label: t("palette.connection", { name }),
        run: () => onSwitch({ id, name }),
      })),
    ...(runsAppsOnly ? [] : getUploadSources(currentConnection)).map((source) => ({
      key: `upload-${source}`,
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
        run: () => changeLanguage(name),
      })),
    { key: "keys", group: "actions", label: t("palette.keys"), note: "?", run: () => showOverlay("keys") },
    ...(canSignOut ? [{ key: "sign-out", group: "actions" as const, label: t("member.signOut"), run: () => void requestSignOut() }] : []),
  ];
}

function mergeJobs(jobs: readonly JobListItem[], foundJobs: FoundJobs | undefined): { job: JobListItem; searchTerms?: string }[] {
  const recentIds = new Set(jobs.map(({ id }) => id));
  const foundIds = new Set(foundJobs?.jobs.map(({ id }) => id));
  const recentJobs = jobs.map((job) => ({ job, ...(foundIds.has(job.id) && { searchTerms: foundJobs?.text }) }));
  return [
    ...recentJobs,
    ...(foundJobs?.jobs ?? []).filter(({ id }) => !recentIds.has(id)).map((job) => ({ job, searchTerms: foundJobs?.text })),
  ];
}

type Translate = ReturnType<typeof useTranslations<"frame">>;

function getStateLabel({ status }: JobListItem, t: Translate): string {
  const state = toJobState(status);
  return state === "unknown" ? status : t(`states.${state}`);
}

/** Returns the workflows of the newest jobs, newest first, with their name or id. */
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

/** Returns the items that contain every typed word, by group. Items that start with the text come first. */
export function findItems(items: readonly PaletteItem[], inputText: string): PaletteItem[] {
  const text = inputText.trim().toLowerCase();
  const searchWords = text.split(/\s+/).filter(Boolean);
  const matches = items.filter((item) => {
    if (searchWords.length === 0) return !item.onDemand;
    const searchableText = `${item.label} ${item.note ?? ""} ${item.searchTerms ?? ""}`.toLowerCase();
    return searchWords.every((word) => searchableText.includes(word));
  });
  return paletteGroups.flatMap((group) => {
    const groupItems = matches.filter((item) => item.group === group);
    const startsWithText = (item: PaletteItem) => text !== "" && item.label.toLowerCase().startsWith(text);
    const sortedItems = [...groupItems.filter(startsWithText), ...groupItems.filter((item) => !startsWithText(item))];
    return group === "actions" ? sortedItems : sortedItems.slice(0, MAX_GROUP_ITEMS);
  });
}

/** Returns the text if it is a complete job id. */
export function parseJobId(inputText: string): string | undefined {
  const text = inputText.trim();
  return /^[\w-]{16,200}$/.test(text) && /\d/.test(text) ? text : undefined;
}

const MAX_FETCHED_JOBS = 100;

/** Returns the newest jobs, requested once when the palette opens. If the request fails, pages and actions still work. */
export function useRecentJobs(): readonly JobListItem[] {
  const connection = useDirectConnection()?.id;
  const [jobs, setJobs] = useState<readonly JobListItem[]>([]);
  useEffect(() => {
    if (!connection) return;
    const controller = new AbortController();
    void callApi<JobsResponse>(withQuery("/api/jobs", { limit: MAX_FETCHED_JOBS, connection }), { signal: controller.signal }).then(
      (result) => {
        if (result.ok && !controller.signal.aborted) setJobs(result.value.jobs);
      },
    );
    return () => controller.abort();
  }, [connection]);
  return jobs;
}

const MIN_SEARCH_LENGTH = 2;
const MAX_FOUND_JOBS = 12;
export type FoundJobs = { text: string; jobs: readonly JobListItem[]; reach?: JobReach; failure?: ApiFailure };

/** Searches jobs of any age by their prompt, error, workflow or member. */
export function useJobSearch(searchText: string): FoundJobs | undefined {
  const connection = useDirectConnection()?.id;
  const text = searchText.trim();
  const isRequested = text.length >= MIN_SEARCH_LENGTH && connection !== undefined;
  const path = isRequested ? withQuery("/api/console/jobs/search", { text, limit: MAX_FOUND_JOBS, connection }) : undefined;
  return useDebouncedRequest<JobSearchResponse, FoundJobs>(path, (result) =>
    result.ok ? { text, jobs: result.value.jobs, reach: result.value.reach } : { text, jobs: [], failure: result.failure },
  );
}

type JobLookup = { id: string } & ({ kind: "asking" } | { kind: "found"; job: JobListItem } | { kind: "failed"; failure: ApiFailure });

/** Looks up the job with this id. */
export function useJobLookup(id: string | undefined): JobLookup | undefined {
  const connection = useDirectConnection()?.id;
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
 * Returns the parsed response of `path`, requested shortly after the last change. Returns the previous value while the next one loads, and
 * undefined without a path.
 */
export function useDebouncedRequest<ResponseBody, Value>(
  path: `/${string}` | undefined,
  parse: (result: Result<ResponseBody, ApiFailure>) => Value,
): Value | undefined {
  const [latestValue, setValue] = useState<Value>();
  const handleResult = useEffectEvent((result: Result<ResponseBody, ApiFailure>) => setValue(parse(result)));
  useEffect(() => {
    if (path === undefined) return;
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      const result = await callApi<ResponseBody>(path, { signal: controller.signal });
      if (!controller.signal.aborted) handleResult(result);
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [path]);
  return path === undefined ? undefined : latestValue;
}
