// A full ledger: 200,000 jobs with prompts of forty words, queried as the route queries its store, and jobs written into it.
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { type LedgerNote } from "@/lib/server/store/jobs/ledger-entry";
import { type LedgerQuestion } from "@/lib/server/store/jobs/ledger-search";
import { wordsOf } from "@/lib/server/store/jobs/ledger-words";
import { openStore, type Store } from "@/lib/server/store/store";
import { percentile, table } from "../figures";
import { type Section } from "../section";

const JOBS = 200_000;
const AT_ONCE = 500;
const QUESTIONS = 200;
const PEOPLE = 20;
const CONNECTION = "bench";
const NEWEST_MS = Date.UTC(2026, 10, 1);
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const SUBMISSIONS = 100_000;
/** Jobs of one page of a service's list. */
const PAGE = 50;
const PAGES = 40;

export const jobSearch: Section = {
  name: "job-search",
  async measure(report) {
    const folder = await mkdtemp(join(tmpdir(), "lightdesk-bench-"));
    const store = openStore(folder);
    try {
      report.tell(`filling a ledger with ${JOBS} jobs`);
      await fill(store);
      const size = (await stat(join(folder, "console.sqlite"))).size;
      const rows = [];
      for (const { name, question } of kinds) rows.push([name, ...(await asked(store, question))]);
      report.print(
        [
          `## Jobs found in a ledger of ${JOBS.toLocaleString("en")}, ${Math.round(size / 1024 ** 2)} MiB on disk`,
          table(["question, with its count and a page of 100", "p50 ms", "p95 ms"], rows),
          `Usage of the same jobs, by member and connection, a few days in each turn:`,
          table(["range", "jobs", "all of it ms", "longest turn ms"], await usageOf(store)),
          `Written, with ${SUBMISSIONS.toLocaleString("en")} submissions of other jobs in the log:`,
          table([`${PAGE} jobs that were not known`, "p50 ms", "p95 ms"], [["a page of a service's list", ...(await writing(store))]]),
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
/** A few words are in most prompts, most words in few. */
const someWord = () => words[Math.floor(random() ** 3 * words.length)] ?? "";
const someone = () => `member-${Math.floor(random() * PEOPLE)}`;

type Ask = { text?: string; member?: string; days?: number; failed?: boolean };
const kinds: readonly { name: string; question: () => Ask }[] = [
  { name: "a word, thirty days and a person", question: () => ({ text: someWord(), member: someone(), days: 30 }) },
  { name: "two words and a person", question: () => ({ text: `${someWord()} ${someWord()}`, member: someone() }) },
  { name: "a word", question: () => ({ text: someWord() }) },
  { name: "a word that every prompt has, and a person", question: () => ({ text: "photo", member: someone() }) },
  { name: "failed, thirty days", question: () => ({ failed: true, days: 30 }) },
];

async function asked(store: Store, question: () => Ask): Promise<string[]> {
  const took: number[] = [];
  for (let at = 0; at < QUESTIONS; at += 1) {
    const { text, member, days, failed } = question();
    const until = NEWEST_MS - Math.floor(random() * 60) * DAY_MS;
    const asking: LedgerQuestion = {
      words: text === undefined ? [] : wordsOf(text),
      memberId: member,
      ...(days !== undefined && { fromMs: until - days * DAY_MS, toMs: until }),
      ...(failed && { status: ["failed"] }),
      sort_by: "create_time",
      sort_order: "desc",
      offset: 0,
      limit: 100,
    };
    const began = performance.now();
    await store.jobLedger.search(CONNECTION, asking);
    took.push(performance.now() - began);
  }
  return [0.5, 0.95].map((share) => percentile(took, share).toFixed(1));
}

/** Counted as the page does it: in steps of three days, so that other work gets its turn in between. */
async function usageOf(store: Store): Promise<string[][]> {
  const rows = [];
  for (const days of [7, 30, 90]) {
    const whole: number[] = [];
    const turns: number[] = [];
    let jobs = 0;
    for (let run = 0; run < 5; run += 1) {
      const began = performance.now();
      jobs = 0;
      for (let fromMs = NEWEST_MS - days * DAY_MS; fromMs < NEWEST_MS; fromMs += 3 * DAY_MS) {
        const turn = performance.now();
        const sums = await store.jobUsage.sum({ fromMs, toMs: Math.min(NEWEST_MS, fromMs + 3 * DAY_MS) });
        turns.push(performance.now() - turn);
        jobs += sums.reduce((total, sum) => total + sum.jobs, 0);
      }
      whole.push(performance.now() - began);
    }
    rows.push([`${days} days`, jobs.toLocaleString("en"), percentile(whole, 0.5).toFixed(1), Math.max(...turns).toFixed(1)]);
  }
  return rows;
}

/** Jobs that others submitted at the service: the log is asked who did. */
async function writing(store: Store): Promise<string[]> {
  const entry = { at: NEWEST_MS, memberId: "member-0", action: "submitPrompt", connectionId: CONNECTION, status: 200 };
  for (let first = 0; first < SUBMISSIONS; first += AT_ONCE) {
    const some = Array.from({ length: AT_ONCE }, (_, at) => ({ ...entry, requestId: randomUUID(), target: `other-${first + at}` }));
    await Promise.all(some.map((one) => store.audit.add(one)));
  }
  const took: number[] = [];
  for (let page = 0; page < PAGES; page += 1) {
    const notes = Array.from({ length: PAGE }, (_, at) => ({ ...noteOf(JOBS + page * PAGE + at), memberId: undefined }));
    const began = performance.now();
    await store.jobLedger.note(CONNECTION, notes, 2 * JOBS);
    took.push(performance.now() - began);
  }
  return [0.5, 0.95].map((share) => percentile(took, share).toFixed(1));
}

async function fill(store: Store): Promise<void> {
  await store.migrate();
  const passwordHash = "none";
  await store.members.create({ name: "Bench", email: "bench@desk.test", role: "owner", passwordHash, createdAt: NEWEST_MS });
  await store.connections.create({ id: CONNECTION, name: "Bench", baseUrl: "http://127.0.0.1:9", createdAt: NEWEST_MS });
  for (let first = 0; first < JOBS; first += AT_ONCE) {
    const notes = Array.from({ length: AT_ONCE }, (_, at) => noteOf(first + at));
    await store.jobLedger.note(CONNECTION, notes, JOBS);
  }
}

function noteOf(at: number): LedgerNote {
  const isFailed = at % 12 === 0;
  const createdMs = NEWEST_MS - (JOBS - at) * MINUTE_MS;
  const message = `${someWord()} of ${someWord()} was not found`;
  return {
    jobId: `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`,
    createdMs,
    isExact: true,
    memberId: someone(),
    kinds: ["image"],
    inputs: `photo of ${Array.from({ length: 40 }, someWord).join(" ")}`,
    item: {
      status: isFailed ? "failed" : "completed",
      workflow_id: `workflow-${at % 50}`,
      outputs_count: 1,
      execution_start_time: createdMs + 1000,
      execution_end_time: createdMs + 9000,
      preview_output: { filename: `${"0".repeat(60)}${at}.png`, subfolder: "", type: "output", nodeId: "9", mediaType: "images" },
      ...(isFailed && {
        execution_error: { node_type: "LoadImage", exception_type: "ValueError", exception_message: message, traceback: [] },
      }),
    },
  };
}
