"use client";

import { useEffect, useRef, useState } from "react";
import { useHeld } from "@/components/ui/use-held";
import { type Work } from "@/lib/browser/patient-call";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { runBulk } from "./bulk-acts";
import { type BulkAct, type BulkJob, narrowedTo } from "./bulk-selection";
import { type ReceiptEntry } from "./receipt-entry";
import { countJobs, walkJobs } from "./walk-jobs";

type Meant = { act: BulkAct; jobs: readonly BulkJob[] };

export type BulkPhase =
  | { kind: "idle" }
  /** `count` is undefined where the service does not tell it; `query` where the jobs are not known by name yet. */
  | { kind: "asking"; act: BulkAct; count: number | undefined; jobs?: readonly BulkJob[]; query?: JobsQuery }
  | { kind: "counting" }
  | { kind: "walking"; found: number; waitMs?: number }
  | { kind: "working"; act: BulkAct; done: number; total: number; isStopping?: boolean; waitMs?: number }
  | { kind: "done"; act: BulkAct; entries: readonly ReceiptEntry[]; isCut: boolean }
  | { kind: "nothing" }
  | { kind: "collected"; ids: readonly string[]; isCut: boolean }
  | { kind: "broken"; failure: ApiFailure };

const idle: BulkPhase = { kind: "idle" };
const forever = new AbortController().signal;

type Choices = { connection: string | undefined; onDone: () => void; onLeft: (meant: Meant, entries: readonly ReceiptEntry[]) => void };

/** One act at a time. Cancelling and removing named jobs is held for five seconds; what is meant by a query is asked for by its number. */
export function useBulk({ connection, onDone, onLeft }: Choices) {
  const [phase, setPhase] = useState<BulkPhase>(idle);
  const stopping = useRef<AbortController>(undefined);
  const isThere = useRef(true);
  useEffect(() => {
    isThere.current = true;
    return () => {
      isThere.current = false;
      stopping.current?.abort();
    };
  }, []);

  function begin(): Work {
    stopping.current = new AbortController();
    const onWait = (waitMs: number | undefined) => setPhase((now) => (isBusy(now) ? { ...now, waitMs } : now));
    const onProgress = (count: number) => setPhase((now) => advanced(now, count));
    return { connection, signal: stopping.current.signal, onDone: onProgress, onWait };
  }
  async function run({ act, jobs }: Meant, isCut: boolean): Promise<void> {
    setPhase({ kind: "working", act, done: 0, total: jobs.length });
    const entries = await runBulk(act, jobs, begin());
    if (!isThere.current) return onLeft({ act, jobs }, entries);
    setPhase({ kind: "done", act, entries, isCut });
    onDone();
  }
  async function leave(meant: Meant): Promise<void> {
    const silent = { connection, signal: forever, onDone: () => undefined, onWait: () => undefined, isLeaving: true };
    onLeft(meant, await runBulk(meant.act, meant.jobs, silent));
  }
  const { held, hold, undo } = useHeld<Meant>((meant, isLeaving) => void (isLeaving ? leave(meant) : run(meant, false)));

  async function walk(query: JobsQuery): Promise<{ jobs: BulkJob[]; isCut: boolean } | undefined> {
    setPhase({ kind: "walking", found: 0 });
    const work = begin();
    const walked = await walkJobs(query, work);
    // Stopped before anything was done: nothing needs to be told.
    if (work.signal.aborted) setPhase(idle);
    else if (!walked.ok) setPhase({ kind: "broken", failure: walked.failure });
    return work.signal.aborted || !walked.ok ? undefined : walked.value;
  }
  async function ask(act: BulkAct, query: JobsQuery): Promise<void> {
    const narrowed = narrowedTo(act, query);
    if (!narrowed) return setPhase({ kind: "nothing" });
    setPhase({ kind: "counting" });
    const work = begin();
    const count = await countJobs(narrowed, work);
    if (work.signal.aborted) setPhase(idle);
    else if (!count.ok) setPhase({ kind: "broken", failure: count.failure });
    else setPhase(count.value === 0 ? { kind: "nothing" } : { kind: "asking", act, count: count.value, query: narrowed });
  }

  return {
    phase,
    held,
    undo,
    ask,
    /** Jobs by name. Running again makes new ones, so more than one is asked for. */
    start: (act: BulkAct, jobs: readonly BulkJob[]) => {
      setPhase(idle);
      if (act !== "runAgain") hold({ act, jobs });
      else if (jobs.length > 1) setPhase({ kind: "asking", act, count: jobs.length, jobs });
      else void run({ act, jobs }, false);
    },
    confirm: async () => {
      if (phase.kind !== "asking") return;
      if (phase.jobs) return run({ act: phase.act, jobs: phase.jobs }, false);
      const walked = phase.query && (await walk(phase.query));
      if (walked) await run({ act: phase.act, jobs: walked.jobs }, walked.isCut);
    },
    collect: async (query: JobsQuery) => {
      const walked = await walk(query);
      if (walked) setPhase({ kind: "collected", ids: walked.jobs.map(({ id }) => id), isCut: walked.isCut });
    },
    /** What is in flight comes to its end. */
    stop: () => {
      stopping.current?.abort();
      setPhase((now) => (now.kind === "working" ? { ...now, isStopping: true } : now));
    },
    dismiss: () => setPhase(idle),
  };
}

function isBusy(phase: BulkPhase): phase is Extract<BulkPhase, { kind: "walking" | "working" }> {
  return phase.kind === "walking" || phase.kind === "working";
}

function advanced(phase: BulkPhase, count: number): BulkPhase {
  if (phase.kind === "walking") return { ...phase, found: phase.found + count };
  return phase.kind === "working" ? { ...phase, done: phase.done + count } : phase;
}
