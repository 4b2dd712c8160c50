// Searches the job index, and finds jobs by id on all connections.

import "server-only";
import { type JobReach, type JobSearchQuery, type JobSearchResponse } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type JobsResponse, type SearchMatch } from "@/lib/contract/schemas/job";
import { formatErrorLine, toJobView } from "@/lib/contract/views/job-view";
import { ok, type Result } from "@/lib/shared/result";
import { foldName } from "@/lib/shared/text";
import { type Context } from "../auth/viewer";
import { type Composition, type Dependencies } from "../composition-type";
import { type Access, findVisibleConnection, listVisibleConnections, openForJobs } from "../connections/access";
import { recordShownFiles } from "../responses/jobs-only";
import { splitWords } from "../store/jobs/index-words";
import { addWorkflowNames } from "../workflows/add-workflow-names";

const MAX_TEXT_LENGTH = 8192;
const CHARACTERS_BEFORE_MATCH = 30;
const MAX_SNIPPET_LENGTH = 140;

/** Uses the text that contains the most words, or the first one on a tie. */
export function findSnippet(texts: readonly string[], words: readonly string[]): SearchMatch | undefined {
  let bestMatch: { text: string; hits: Hit[]; wordCount: number } | undefined;
  for (const text of texts) {
    const { line, hits, matchedWordCount } = findHits(text, words);
    if (matchedWordCount > (bestMatch?.wordCount ?? 0)) bestMatch = { text: line, hits, wordCount: matchedWordCount };
  }
  const firstHit = bestMatch?.hits[0];
  if (!bestMatch || !firstHit) return undefined;
  const snippetStart = firstHit[0] <= CHARACTERS_BEFORE_MATCH ? 0 : firstHit[0] - CHARACTERS_BEFORE_MATCH;
  const snippetEnd = Math.min(bestMatch.text.length, snippetStart + MAX_SNIPPET_LENGTH);
  const [prefix, suffix] = [snippetStart > 0 ? "…" : "", snippetEnd < bestMatch.text.length ? "…" : ""];
  const shift = prefix.length - snippetStart;
  const marks = bestMatch.hits
    .filter(([start, end]) => start >= snippetStart && end <= snippetEnd)
    .map(([start, end]): Hit => [start + shift, end + shift]);
  return { text: prefix + bestMatch.text.slice(snippetStart, snippetEnd) + suffix, marks };
}

type Hit = [start: number, end: number];

/** `line` is the text on one line. Matches are in order and don't overlap. */
function findHits(text: string, words: readonly string[]): { line: string; hits: Hit[]; matchedWordCount: number } {
  const line = text.slice(0, MAX_TEXT_LENGTH).replaceAll(/\s+/gu, " ").trim();
  let foldedLine = "";
  /** For each character of `foldedLine`, the start and end of its letter in `line`. */
  const letterRanges: Hit[] = [];
  let position = 0;
  for (const letter of line) {
    const foldedLetter = foldName(letter);
    for (let index = 0; index < foldedLetter.length; index += 1) letterRanges.push([position, position + letter.length]);
    foldedLine += foldedLetter;
    position += letter.length;
  }
  const hits: Hit[] = [];
  let matchedWordCount = 0;
  for (const word of words) {
    const previousCount = hits.length;
    for (let index = foldedLine.indexOf(word); index >= 0; index = foldedLine.indexOf(word, index + word.length)) {
      const [start, end] = [letterRanges[index]?.[0] ?? 0, letterRanges[index + word.length - 1]?.[1] ?? 0];
      hits.push([start, end]);
    }
    if (hits.length > previousCount) matchedWordCount += 1;
  }
  hits.sort(([start], [otherStart]) => start - otherStart);
  return { line, hits: mergeOverlaps(hits), matchedWordCount };
}

function mergeOverlaps(hits: readonly Hit[]): Hit[] {
  const mergedHits: Hit[] = [];
  for (const [start, end] of hits) {
    const lastHit = mergedHits.at(-1);
    if (lastHit && start < lastHit[1]) lastHit[1] = Math.max(lastHit[1], end);
    else mergedHits.push([start, end]);
  }
  return mergedHits;
}

const HOUR_MS = 60 * 60_000;

export async function searchJobs(
  context: Context,
  query: JobSearchQuery,
  connectionId?: string,
): Promise<Result<JobSearchResponse, Failure>> {
  const access = await openForJobs(context, connectionId);
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
): Promise<JobsResponse> {
  const { store, now, jobIndex } = composition;
  await jobIndex.flush();
  const { text, member, from, to, within, ...filters } = query;
  const words = text === undefined ? [] : splitWords(text);
  const sinceMs = within === undefined ? undefined : now() - within * HOUR_MS;
  const fromMs = Math.max(from ?? 0, sinceMs ?? 0) || undefined;
  const searchResult = await store.jobIndexStore.search(id, { ...filters, words, memberId: member, fromMs, toMs: to });
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

/** Finds another of the member's connections whose job index contains the job. Returns its id. */
export async function findConnectionWithJob(context: Context, jobId: string): Promise<string | undefined> {
  const { store, jobIndex } = context.composition;
  const [defaultConnection, connections] = await Promise.all([
    findVisibleConnection(context, undefined),
    listVisibleConnections(context),
    jobIndex.flush(),
  ]);
  const otherIds = connections.filter(({ id }) => !defaultConnection.ok || id !== defaultConnection.value.id).map(({ id }) => id);
  return (await store.jobIndexStore.findConnectionsWithJob(jobId, otherIds))[0];
}

/** Returns how far back the job index of a connection goes without a gap. */
async function findReach(composition: Composition, id: string): Promise<JobReach> {
  const reach = await findReachIgnoringGap(composition, id);
  const gap = composition.jobIndex.reader.getGap(id);
  return gap ? { ...reach, extent: "reading", sinceMs: gap.beforeMs } : reach;
}

/** Like `findReach`, but ignores a gap before the newest jobs. */
export async function findReachIgnoringGap({ store, env }: Dependencies<"store" | "env">, id: string): Promise<JobReach> {
  const { isComplete, isBounded, cursorMs, unread } = await store.jobIndexStore.getCoverage(id);
  const extent = isBounded ? "newest" : isComplete ? "all" : "reading";
  // In a full job index, each new job replaces the oldest. Otherwise the service lists no older ones.
  const oldestMs = isBounded ? await store.jobIndexStore.findOldestIfFull(id, env.maxIndexedJobs) : undefined;
  const sinceMs = oldestMs ?? cursorMs;
  return { extent, unread, ...(sinceMs !== undefined && { sinceMs }) };
}

export async function listSubmitters(context: Context, connectionId?: string): Promise<Result<{ id: string; name: string }[], Failure>> {
  const access = await openForJobs(context, connectionId);
  if (!access.ok) return access;
  const { store, jobIndex } = context.composition;
  await jobIndex.flush();
  return ok(await store.jobIndexStore.listSubmitters(access.value.connection.id));
}

/** True if jobs of the connection have different submitters, so that showing them is useful. */
export async function hasManySubmitters(context: Context, connectionId?: string): Promise<boolean> {
  const visibleResult = await findVisibleConnection(context, connectionId);
  return visibleResult.ok && (await context.composition.store.jobIndexStore.hasMultipleSubmitters(visibleResult.value.id));
}
