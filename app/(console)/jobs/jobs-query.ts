import { type JobsQuery, jobsQuerySchema } from "@/lib/contract/schemas/job";

export type SearchParams = Record<string, string | string[] | undefined>;

/** Each value is judged by itself: a bad one falls back to its default and is named, the good ones stay. Never throws. */
export function parseJobsQuery(params: SearchParams): { query: JobsQuery; ignored: string[] } {
  const given = Object.fromEntries(
    Object.keys(jobsQuerySchema.shape).flatMap((name) => {
      const value = params[name];
      const text = Array.isArray(value) ? value.join(",") : value;
      return text === undefined || text === "" ? [] : [[name, text]];
    }),
  );
  const whole = jobsQuerySchema.safeParse(given);
  if (whole.success) return { query: tidy(whole.data), ignored: [] };
  const bad = new Set(whole.error.issues.map((issue) => String(issue.path[0])));
  const good = Object.fromEntries(Object.entries(given).filter(([name]) => !bad.has(name)));
  return { query: tidy(jobsQuerySchema.parse(good)), ignored: [...bad].map((name) => `${name}=${given[name] ?? ""}`) };
}

/** An empty list of states filters nothing. */
function tidy(query: JobsQuery): JobsQuery {
  return query.status?.length === 0 ? { ...query, status: undefined } : query;
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
