// Searches, usage sums and writes of a full job index: 200,000 jobs with prompts of forty words.
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { type JobUpdate } from "@/lib/server/store/jobs/index-entry";
import { type IndexQuery } from "@/lib/server/store/jobs/index-search";
import { splitWords } from "@/lib/server/store/jobs/index-words";
import { openStore, type Store } from "@/lib/server/store/store";
import { formatTable, percentile } from "../figures";
import { type Section } from "../section";

const JOBS = 200_000;
const BATCH_SIZE = 500;
const QUERIES = 200;
const MEMBERS = 20;
const CONNECTION = "bench";
const NEWEST_MS = Date.UTC(2026, 10, 1);
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const SUBMISSIONS = 100_000;
/** Jobs of one page of a service's list. */
const PAGE_SIZE = 50;
const PAGES = 40;

export const jobSearch: Section = {
  name: "job-search",
  async measure(report) {
    const folder = await mkdtemp(join(tmpdir(), "lightdesk-bench-"));
    const store = openStore(folder);
    try {
      report.logProgress(`Filling a job index with ${JOBS} jobs.`);
      await fillStore(store);
      const size = (await stat(join(folder, "console.sqlite"))).size;
      const rows = [];
      for (const { name, createOptions } of searches) rows.push([name, ...(await measureSearches(store, createOptions))]);
      report.print(
        [
          `## Searches of a job index of ${JOBS.toLocaleString("en")} jobs, ${Math.round(size / 1024 ** 2)} MiB on disk`,
          formatTable(["search, with its count and a page of 100", "p50 ms", "p95 ms"], rows),
          `Usage of the same jobs by member and connection, a few days per query:`,
          formatTable(["range", "jobs", "total ms", "longest query ms"], await measureUsage(store)),
          `Writes, with ${SUBMISSIONS.toLocaleString("en")} submissions of other jobs in the audit log:`,
          formatTable([`${PAGE_SIZE} new jobs`, "p50 ms", "p95 ms"], [["a page of a service's list", ...(await measureWrites(store))]]),
        ].join("\n\n"),
      );
    } finally {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

const random = (() => {
  let seed = 20261101;
  return () => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return seed / 0x7fffffff;
  };
})();
const syllables = ["ka", "lo", "mi", "tra", "ven", "sho", "ru", "pel", "din", "gor", "ast", "ly", "qu", "bro", "sen"];
const words = Array.from({ length: 3000 }, () =>
  Array.from({ length: 2 + Math.floor(random() * 4) }, () => syllables[Math.floor(random() * syllables.length)]).join(""),
);
/** A few words appear in most prompts, and most words in few prompts. */
const randomWord = () => words[Math.floor(random() ** 3 * words.length)] ?? "";
const randomMember = () => `member-${Math.floor(random() * MEMBERS)}`;

type SearchOptions = { text?: string; member?: string; days?: number; failed?: boolean };
const searches: readonly { name: string; createOptions: () => SearchOptions }[] = [
  { name: "a word, thirty days and a member", createOptions: () => ({ text: randomWord(), member: randomMember(), days: 30 }) },
  { name: "two words and a member", createOptions: () => ({ text: `${randomWord()} ${randomWord()}`, member: randomMember() }) },
  { name: "a word", createOptions: () => ({ text: randomWord() }) },
  { name: "a word that every prompt has, and a member", createOptions: () => ({ text: "photo", member: randomMember() }) },
  { name: "failed, thirty days", createOptions: () => ({ failed: true, days: 30 }) },
];

async function measureSearches(store: Store, createOptions: () => SearchOptions): Promise<string[]> {
  const durationsMs: number[] = [];
  for (let index = 0; index < QUERIES; index += 1) {
    const { text, member, days, failed } = createOptions();
    const untilMs = NEWEST_MS - Math.floor(random() * 60) * DAY_MS;
    const query: IndexQuery = {
      words: text === undefined ? [] : splitWords(text),
      memberId: member,
      ...(days !== undefined && { fromMs: untilMs - days * DAY_MS, toMs: untilMs }),
      ...(failed && { status: ["failed"] }),
      sort_by: "create_time",
      sort_order: "desc",
      offset: 0,
      limit: 100,
    };
    const startedMs = performance.now();
    await store.jobIndexStore.search(CONNECTION, query);
    durationsMs.push(performance.now() - startedMs);
  }
  return [0.5, 0.95].map((share) => percentile(durationsMs, share).toFixed(1));
}

/** Sums three days per query, like the usage page, so that other queries can run in between. */
async function measureUsage(store: Store): Promise<string[][]> {
  const rows = [];
  for (const days of [7, 30, 90]) {
    const totalsMs: number[] = [];
    const sliceTimesMs: number[] = [];
    let jobs = 0;
    for (let run = 0; run < 5; run += 1) {
      const startedMs = performance.now();
      jobs = 0;
      for (let fromMs = NEWEST_MS - days * DAY_MS; fromMs < NEWEST_MS; fromMs += 3 * DAY_MS) {
        const sliceStartMs = performance.now();
        const sums = await store.jobUsage.sum({ fromMs, toMs: Math.min(NEWEST_MS, fromMs + 3 * DAY_MS) });
        sliceTimesMs.push(performance.now() - sliceStartMs);
        jobs += sums.reduce((total, sum) => total + sum.jobs, 0);
      }
      totalsMs.push(performance.now() - startedMs);
    }
    rows.push([`${days} days`, jobs.toLocaleString("en"), percentile(totalsMs, 0.5).toFixed(1), Math.max(...sliceTimesMs).toFixed(1)]);
  }
  return rows;
}

/** Writes jobs that were submitted outside the console. Their members come from the audit log. */
async function measureWrites(store: Store): Promise<string[]> {
  const entry = { at: NEWEST_MS, memberId: "member-0", action: "submitPrompt", connectionId: CONNECTION, status: 200 };
  for (let first = 0; first < SUBMISSIONS; first += BATCH_SIZE) {
    const entries = Array.from({ length: BATCH_SIZE }, (_, index) => ({
      ...entry,
      requestId: randomUUID(),
      target: `other-${first + index}`,
    }));
    await Promise.all(entries.map((auditEntry) => store.audit.add(auditEntry)));
  }
  const durationsMs: number[] = [];
  for (let page = 0; page < PAGES; page += 1) {
    const jobUpdates = Array.from({ length: PAGE_SIZE }, (_, index) => ({
      ...createJobUpdate(JOBS + page * PAGE_SIZE + index),
      memberId: undefined,
    }));
    const startedMs = performance.now();
    await store.jobIndexStore.recordJobs(CONNECTION, jobUpdates, 2 * JOBS);
    durationsMs.push(performance.now() - startedMs);
  }
  return [0.5, 0.95].map((share) => percentile(durationsMs, share).toFixed(1));
}

async function fillStore(store: Store): Promise<void> {
  await store.migrate();
  const passwordHash = "none";
  await store.members.create({ name: "Bench", email: "bench@desk.test", role: "owner", passwordHash, createdAt: NEWEST_MS });
  await store.connections.create({ id: CONNECTION, name: "Bench", baseUrl: "http://127.0.0.1:9", createdAt: NEWEST_MS });
  for (let first = 0; first < JOBS; first += BATCH_SIZE) {
    const jobUpdates = Array.from({ length: BATCH_SIZE }, (_, index) => createJobUpdate(first + index));
    await store.jobIndexStore.recordJobs(CONNECTION, jobUpdates, JOBS);
  }
}

function createJobUpdate(index: number): JobUpdate {
  const isFailed = index % 12 === 0;
  const createdMs = NEWEST_MS - (JOBS - index) * MINUTE_MS;
  const message = `${randomWord()} of ${randomWord()} was not found`;
  return {
    jobId: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
    createdMs,
    isExact: true,
    memberId: randomMember(),
    kinds: ["image"],
    inputs: `photo of ${Array.from({ length: 40 }, randomWord).join(" ")}`,
    item: {
      status: isFailed ? "failed" : "completed",
      workflow_id: `workflow-${index % 50}`,
      outputs_count: 1,
      execution_start_time: createdMs + 1000,
      execution_end_time: createdMs + 9000,
      preview_output: { filename: `${"0".repeat(60)}${index}.png`, subfolder: "", type: "output", nodeId: "9", mediaType: "images" },
      ...(isFailed && {
        execution_error: { node_type: "LoadImage", exception_type: "ValueError", exception_message: message, traceback: [] },
      }),
    },
  };
}
