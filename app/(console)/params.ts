import { jobStates } from "@/lib/contract/states";
import { jobSearchQuerySchema, type JobSearchQuery } from "@/lib/contract/console-job-search";

export type SearchParams = Record<string, string | string[] | undefined>;

/** Each value is judged by itself: a bad one falls back to its default and is named, the good ones stay. Never throws. */
export function parseJobsQuery(params: SearchParams): { query: JobSearchQuery; ignored: string[] } {
  const given = Object.fromEntries(
    Object.keys(jobSearchQuerySchema.shape).flatMap((name) => {
      const value = params[name];
      const text = Array.isArray(value) ? value.join(",") : value;
      return text === undefined || text === "" ? [] : [[name, text]];
    }),
  );
  const whole = jobSearchQuerySchema.safeParse(given);
  if (whole.success) return { query: tidy(whole.data), ignored: [] };
  const bad = new Set(whole.error.issues.map((issue) => String(issue.path[0])));
  const good = Object.fromEntries(Object.entries(given).filter(([name]) => !bad.has(name)));
  return { query: tidy(jobSearchQuerySchema.parse(good)), ignored: [...bad].map((name) => `${name}=${given[name] ?? ""}`) };
}

/** An empty list of states filters nothing, and naming one twice says no more than once. */
function tidy(query: JobSearchQuery): JobSearchQuery {
  const status = jobStates.filter((state) => query.status?.includes(state));
  return { ...query, status: status.length > 0 ? status : undefined };
}

/** Nothing in the address says which list is meant, so that a member's default view may. */
export function isBareAddress(params: SearchParams): boolean {
  return Object.keys(params).every((name) => name === "connection");
}

export function textParam(params: SearchParams, name: string): string | undefined {
  const value = params[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A segment of the path as text; one that is no valid encoding is taken as it stands, and will not be found. */
export function pathParam(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
