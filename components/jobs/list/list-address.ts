// The address of a list of jobs: what it may ask for, how each part is read, by the page on the server and by the browser, and how it is written.
// Guarantees: each value is judged by itself, a bad one falls back to its default and is named; two ways to the same list have one address.
// Free of zod: browsers load it with the first page. A test holds it to the contract's schema of the same question.

import { withQuery } from "@/lib/browser/urls";
import { type JobSearchQuery } from "@/lib/contract/console-job-search";
import { isSearch } from "@/lib/contract/job-search";
import { jobStates, type KnownJobState } from "@/lib/contract/states";

export type ListName = "jobs" | "history";
export const outputTypes = ["image", "video", "audio"] as const;
/** The history is the list of the jobs that have ended. */
const ended: KnownJobState[] = ["completed", "failed", "cancelled"];
const usual = { sort_by: "create_time", sort_order: "desc", offset: 0, limit: 100 } as const;

/** Takes every filter away that only the ledger knows. */
export const noSearch = {
  text: undefined,
  member: undefined,
  from: undefined,
  to: undefined,
  within: undefined,
} satisfies Partial<JobSearchQuery>;

/** `ignored`: what it could not read. */
export function readList(list: ListName, search: URLSearchParams): { query: JobSearchQuery; ignored: string[] } {
  const ignored: string[] = [];
  const read = <T>(name: string, judge: (text: string) => T | undefined): T | undefined => {
    const text = search.getAll(name).join(",");
    const value = text === "" ? undefined : judge(text);
    if (text !== "" && value === undefined) ignored.push(`${name}=${text}`);
    return value;
  };
  const ofJobs = <T>(name: string, judge: (text: string) => T | undefined) => (list === "jobs" ? read(name, judge) : undefined);
  const status = ofJobs("status", states) ?? [];
  const query = {
    status: list === "history" ? ended : status.length > 0 ? status : undefined,
    workflow_id: ofJobs("workflow_id", (text) => (text.length <= 200 ? text : undefined)),
    output_type: ofJobs("output_type", oneOf(outputTypes)),
    text: read("text", words),
    member: read("member", words),
    from: read("from", integer(0)),
    to: read("to", integer(0)),
    within: read("within", integer(1, 24 * 366)),
    sort_by: ofJobs("sort_by", oneOf(["create_time", "execution_time"] as const)) ?? usual.sort_by,
    sort_order: ofJobs("sort_order", oneOf(["asc", "desc"] as const)) ?? usual.sort_order,
    offset: read("offset", integer(0)) ?? usual.offset,
    limit: read(list === "history" ? "max_items" : "limit", integer(1, 1000)) ?? usual.limit,
  };
  return { query, ignored };
}

const oneOf =
  <T extends string>(values: readonly T[]) =>
  (text: string) =>
    values.find((value) => value === text);
const words = (text: string) => (text.trim() !== "" && text.trim().length <= 200 ? text.trim() : undefined);
const integer =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (text: string) => {
    const value = Number(text) + 0;
    return /^-?\d{1,16}$/.test(text) && value >= least && value <= most ? value : undefined;
  };

/** Several states, however they are written: each of them once, in one order. */
function states(text: string): KnownJobState[] | undefined {
  const named = text.split(",").flatMap((word) => word.trim().toLowerCase() || []);
  const known = jobStates.filter((state) => named.includes(state));
  return named.length <= 100 && named.every((word) => known.some((state) => state === word)) ? known : undefined;
}

/** What a page's links keep besides the question: the connection of the address, and that the bare list is meant. */
export type ListLinks = {
  connection?: string;
  /** A member with a default view reaches the bare list by `view=all`; any other address says itself what it shows. */
  view?: "all";
};

/** The page's own address for a question; defaults are left out. */
export function listHref(list: ListName, query: JobSearchQuery, { connection, view }: ListLinks = {}): `/${string}` {
  const { status, text, member, from, to, within, offset, limit } = query;
  const search = { text, member, from, to, within };
  const first = offset === usual.offset ? undefined : offset;
  const most = limit === usual.limit ? undefined : limit;
  if (list === "history") return withQuery("/history", { ...search, offset: first, max_items: most, connection });
  const values = {
    status: status && jobStates.filter((state) => status.includes(state)),
    workflow_id: query.workflow_id,
    output_type: query.output_type,
    ...search,
    sort_by: query.sort_by === usual.sort_by ? undefined : query.sort_by,
    sort_order: query.sort_order === usual.sort_order ? undefined : query.sort_order,
    limit: most,
    offset: first,
  };
  const isBare = Object.values(values).every((value) => value === undefined);
  return withQuery("/jobs", { ...values, view: isBare ? view : undefined, connection });
}

/** Where a saved view leads. */
export function viewHref(query: string, connection: string | undefined): string {
  return withQuery("/jobs", { ...Object.fromEntries(new URLSearchParams(query)), view: query === "" ? "all" : undefined, connection });
}

/** The API's path for a question: the key under which the browser keeps the answer. What no service searches by is found in the ledger. */
export function listApiPath(list: ListName, query: JobSearchQuery, connection: string | undefined): `/${string}` {
  if (isSearch(query)) return withQuery("/api/console/jobs/search", { ...query, connection });
  if (list === "jobs") return withQuery("/api/jobs", { ...query, connection });
  return withQuery("/api/history_v2", { offset: query.offset, max_items: query.limit, connection });
}

/** How long the history is; it has no total of its own. */
export function endedJobsPath(connection: string | undefined): `/${string}` {
  return withQuery("/api/jobs", { status: ended, limit: 1, connection });
}
