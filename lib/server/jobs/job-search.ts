// Searches the job index, and finds jobs by id on all connections.

import "server-only";
import { type JobReach, type JobSearchAnswer, type JobSearchQuery } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type JobsAnswer, type SearchMatch } from "@/lib/contract/schemas/job";
import { formatErrorLine, toJobView } from "@/lib/contract/views/job-view";
import { ok, type Result } from "@/lib/shared/result";
import { foldName } from "@/lib/shared/text";
import { recordShownFiles } from "../answers/jobs-only";
import { type Context } from "../auth/viewer";
import { type Composition, type Dependencies } from "../composition-type";
import { type Access, findVisible, openForJobs, visibleConnections } from "../connections/access";
import { splitWords } from "../store/jobs/index-words";
import { addWorkflowNames } from "../workflows/names";

const MAX_TEXT_LENGTH = 8192;
const CHARACTERS_BEFORE_MATCH = 30;
const MAX_SNIPPET_LENGTH = 140;

/** The text that contains the most words wins; on a tie, the first one. */
export function findSnippet(texts: readonly string[], words: readonly string[]): SearchMatch | undefined {
  let best: { text: string; hits: Hit[]; words: number } | undefined;
  for (const text of texts) {
    const { line, hits, found } = findHits(text, words);
    if (found > (best?.words ?? 0)) best = { text: line, hits, words: found };
  }
  const first = best?.hits[0];
  if (!best || !first) return undefined;
  const from = first[0] <= CHARACTERS_BEFORE_MATCH ? 0 : first[0] - CHARACTERS_BEFORE_MATCH;
  const to = Math.min(best.text.length, from + MAX_SNIPPET_LENGTH);
  const [start, end] = [from > 0 ? "…" : "", to < best.text.length ? "…" : ""];
  const shift = start.length - from;
  const marks = best.hits.filter(([at, until]) => at >= from && until <= to).map(([at, until]): Hit => [at + shift, until + shift]);
  return { text: start + best.text.slice(from, to) + end, marks };
}

type Hit = [from: number, to: number];

/** `line` is the text on one line. Matches are in order and don't overlap. */
function findHits(text: string, words: readonly string[]): { line: string; hits: Hit[]; found: number } {
  const line = text.slice(0, MAX_TEXT_LENGTH).replaceAll(/\s+/gu, " ").trim();
  let folded = "";
  /** For each character of `folded`, the start and end of its letter in `line`. */
  const matches: Hit[] = [];
  let at = 0;
  for (const letter of line) {
    const foldedLetter = foldName(letter);
    for (let index = 0; index < foldedLetter.length; index += 1) matches.push([at, at + letter.length]);
    folded += foldedLetter;
    at += letter.length;
  }
  const hits: Hit[] = [];
  let matchedWords = 0;
  for (const word of words) {
    const previousCount = hits.length;
    for (let index = folded.indexOf(word); index >= 0; index = folded.indexOf(word, index + word.length)) {
      const [from, to] = [matches[index]?.[0] ?? 0, matches[index + word.length - 1]?.[1] ?? 0];
      hits.push([from, to]);
    }
    if (hits.length > previousCount) matchedWords += 1;
  }
  hits.sort(([one], [other]) => one - other);
  return { line, hits: mergeOverlaps(hits), found: matchedWords };
}

function mergeOverlaps(hits: readonly Hit[]): Hit[] {
  const all: Hit[] = [];
  for (const [from, to] of hits) {
    const last = all.at(-1);
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}

const HOUR_MS = 60 * 60_000;

export async function searchJobs(context: Context, query: JobSearchQuery, connection?: string): Promise<Result<JobSearchAnswer, Failure>> {
  const access = await openForJobs(context, connection);
  if (!access.ok) return access;
  const { id } = access.value.connection;
  const { reader } = context.composition.jobIndex;
  const outage = await reader.refresh(id);
  const [jobs, reach] = await Promise.all([searchJobIndex(access.value, query), findReach(context.composition, id)]);
  await recordShownFiles(context.composition, access.value.connection, jobs);
  return ok({ ...jobs, reach: { ...reach, ...(outage && { asOfMs: outage.sinceMs ?? 0 }) } });
}

/** A page of the job index, in the format of the service's own list. */
export async function searchJobIndex(
  { composition, connection: { id } }: Pick<Access, "composition" | "connection">,
  query: JobSearchQuery,
): Promise<JobsAnswer> {
  const { store, now, jobIndex } = composition;
  await jobIndex.settled();
  const { text, member, from, to, within, ...rest } = query;
  const words = text === undefined ? [] : splitWords(text);
  const sinceMs = within === undefined ? undefined : now() - within * HOUR_MS;
  const fromMs = Math.max(from ?? 0, sinceMs ?? 0) || undefined;
  const searchResult = await store.jobIndexStore.search(id, { ...rest, words, memberId: member, fromMs, toMs: to });
  const { offset, limit } = query;
  const pagination = { offset, limit, total: searchResult.total, has_more: offset + searchResult.jobs.length < searchResult.total };
  const namedJobs = await addWorkflowNames(
    operations.listJobs,
    { composition, connection: { id }, apiKey: undefined },
    { jobs: searchResult.jobs, pagination },
  );
  if (words.length === 0) return namedJobs;
  const jobs = namedJobs.jobs.map((job, index) => {
    const { error } = toJobView(job);
    const texts = [job.workflow_name, job.submitted_by, error && formatErrorLine(error), error?.message, searchResult.texts[index]];
    return {
      ...job,
      search_match: findSnippet(
        texts.filter((text) => text !== undefined),
        words,
      ),
    };
  });
  return { ...namedJobs, jobs };
}

/** For a job that the current connection doesn't have: finds another of the member's connections that has it in the job index. */
export async function findJobElsewhere(context: Context, jobId: string): Promise<string | undefined> {
  const { store, jobIndex } = context.composition;
  const [used, all] = await Promise.all([findVisible(context, undefined), visibleConnections(context), jobIndex.settled()]);
  const otherIds = all.filter(({ id }) => !used.ok || id !== used.value.id).map(({ id }) => id);
  return (await store.jobIndexStore.holdersOf(jobId, otherIds))[0];
}

/** How far back the job index of a connection reaches without a gap. */
async function findReach(composition: Composition, id: string): Promise<JobReach> {
  const reach = await findReachOfOlder(composition, id);
  const gap = composition.jobIndex.reader.gapOf(id);
  return gap ? { ...reach, extent: "reading", sinceMs: gap.beforeMs } : reach;
}

/** Like `findReach`, but ignores a gap before the newest jobs. */
export async function findReachOfOlder({ store, env }: Dependencies<"store" | "env">, id: string): Promise<JobReach> {
  const { isComplete, isBounded, cursorMs, unread } = await store.jobIndexStore.reach(id);
  const extent = isBounded ? "newest" : isComplete ? "all" : "reading";
  // In a full job index, each new job replaces the oldest. Otherwise the service lists no older ones.
  const oldestMs = isBounded ? await store.jobIndexStore.oldestOfFull(id, env.maxIndexedJobs) : undefined;
  const sinceMs = oldestMs ?? cursorMs;
  return { extent, unread, ...(sinceMs !== undefined && { sinceMs }) };
}

export async function listSubmitters(context: Context, connection?: string): Promise<Result<{ id: string; name: string }[], Failure>> {
  const access = await openForJobs(context, connection);
  if (!access.ok) return access;
  const { store, jobIndex } = context.composition;
  await jobIndex.settled();
  return ok(await store.jobIndexStore.people(access.value.connection.id));
}

/** True if jobs of the connection have different submitters, so that showing them is useful. */
export async function hasManySubmitters(context: Context, connection?: string): Promise<boolean> {
  const visibleResult = await findVisible(context, connection);
  return visibleResult.ok && (await context.composition.store.jobIndexStore.hasManySubmitters(visibleResult.value.id));
}
