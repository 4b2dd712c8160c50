// Reads one topic for all its viewers, and keeps its newest value with the changes since the last snapshot.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { isTerminalStatus, toJobState } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asNumber, asObject, asText, isObject } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { getRowId, type LiveProgress, rowFields, type TopicName } from "@/lib/contract/live";
import { type Result } from "@/lib/shared/result";
import { getFailureStatus } from "../requests/responses";

const COALESCE_MS = 50;
/** After an event, the next read waits ten times as long as the last one took, and at most a second. */
const PAUSE_FACTOR = 10;
const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 1000;
const PROGRESS_DELAY_MS = 250;
const MAX_BACKOFF_MS = 30_000;
const UNRESPONSIVE_MS = 10_000;
const unresponsiveFailure: Failure = {
  code: "UPSTREAM_TIMEOUT",
  message: `The service hasn't responded for ${UNRESPONSIVE_MS / 1000} s.`,
  status: 0,
};
/** If more rows change at once, a snapshot is shorter. */
const MAX_ROW_CHANGES = 50;

/** `body` contains the members of the event's data after `topic`, as JSON. */
export type LiveItem = { seq: number; event: "snapshot" | "job.updated" | "job.progress" | "failure"; body: string };
export type Reader = ReturnType<typeof createReader>;
type Rows = Map<string, { text: string; isOpen: boolean; nodesTotal: unknown }>;

/** `unreadable` is the number of omitted rows. */
export type LiveRead = { text: string; unreadable: number };

type ReaderOptions = {
  name: TopicName;
  /** The value comes from a service, whose outages are shown to viewers. */
  isServiceTopic: boolean;
  read(signal: AbortSignal): Promise<Result<LiveRead, Failure>>;
  /** Returns why a value may not be cached. */
  getCacheFailure(value: LiveRead): Failure | undefined;
  nextSeq(): number;
  now(): number;
  /** The source reports every change, so polling is rare. */
  hasChangeEvents(): boolean;
  getProgress(jobId: string, nodesTotal: unknown): LiveProgress | undefined;
  onChange(): void;
  /** Logs the error. */
  onError(error: unknown): { ok: false; failure: Failure };
};

export function createReader({
  name,
  isServiceTopic,
  read,
  getCacheFailure,
  nextSeq,
  now,
  hasChangeEvents,
  getProgress,
  onChange,
  onError,
}: ReaderOptions) {
  let value: (LiveRead & { seq: number; atMs: number }) | undefined;
  let shape = "";
  let rows: Rows = new Map();
  let isActive = false;
  let snapshotSeq = 0;
  let failure: LiveItem | undefined;
  let failureCount = 0;
  const updates = new Map<string, LiveItem>();
  const progress = new Map<string, LiveItem>();
  const progressJobIds = new Set<string>();
  const stopController = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let progressTimer: NodeJS.Timeout | undefined;
  let [isReading, isOutdated] = [false, false];
  let dueMs = Infinity;
  let backoffUntilMs = 0;
  let pausedUntilMs = 0;
  let resolveFirstRead: () => void = () => undefined;
  const firstRead = new Promise<void>((resolve) => (resolveFirstRead = resolve));

  function schedule(delayMs: number): void {
    const atMs = Math.max(performance.now() + delayMs, backoffUntilMs);
    if (stopController.signal.aborted || isReading || atMs >= dueMs) return;
    clearTimeout(timer);
    dueMs = atMs;
    timer = setTimeout(() => void run(), atMs - performance.now()).unref();
  }

  /** Schedules a read. Concurrent calls share it. */
  function trigger(): void {
    if (isReading) {
      isOutdated = true;
      return;
    }
    schedule(Math.max(COALESCE_MS, pausedUntilMs - performance.now()));
  }

  async function run(): Promise<void> {
    isReading = true;
    isOutdated = false;
    dueMs = Infinity;
    const startedMs = performance.now();
    const overdueTimer = setTimeout(() => {
      if (isServiceTopic && !failure) showFailure(unresponsiveFailure);
    }, UNRESPONSIVE_MS).unref();
    const result = await read(stopController.signal).catch(onError);
    clearTimeout(overdueTimer);
    isReading = false;
    const endedMs = performance.now();
    pausedUntilMs = endedMs + Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, (endedMs - startedMs) * PAUSE_FACTOR));
    if (stopController.signal.aborted) return;
    try {
      const readFailure = result.ok ? getCacheFailure(result.value) : result.failure;
      if (readFailure) applyFailure(readFailure);
      else if (result.ok) applyValue(result.value);
    } catch (error) {
      applyFailure(onError(error).failure);
    }
    resolveFirstRead();
    const [activeMs, idleMs] = getPollIntervals(name);
    if (failure) schedule(0);
    else if (hasChangeEvents()) schedule(RECHECK_MS);
    else schedule(isActive ? activeMs : idleMs);
    if (isOutdated) trigger();
  }

  function applyFailure(failure: Failure): void {
    failureCount += 1;
    const [activeMs] = getPollIntervals(name);
    const waitMs = Math.max(failure.retryAfterMs ?? 0, Math.min(MAX_BACKOFF_MS, activeMs * 2 ** Math.min(failureCount - 1, 10)));
    backoffUntilMs = performance.now() + waitMs;
    showFailure(failure);
  }

  function showFailure(reason: Failure): void {
    if (stopController.signal.aborted) return;
    const { code, message, details, retryAfterMs } = reason;
    const body = writeExactJson({ code, message, status: getFailureStatus(reason), details, retryAfterMs });
    const text = `"failure":${body}`;
    if (failure?.body.endsWith(text)) return;
    failure = { seq: nextSeq(), event: "failure", body: `"atMs":${now()},${text}` };
    onChange();
  }

  function applyValue({ text, unreadable }: LiveRead): void {
    const hasRecovered = failure !== undefined;
    failure = undefined;
    failureCount = 0;
    backoffUntilMs = 0;
    if (value?.text === text && value.unreadable === unreadable && !hasRecovered) return void (value.atMs = now());
    const atMs = now();
    const parsed: unknown = parseExactJson(text);
    isActive = hasActiveJobs(name, parsed);
    const parsedRows = parseRows(parsed, text);
    const changes = [...parsedRows.rows].filter(([key, row]) => rows.get(key)?.text !== row.text);
    const needsSnapshot =
      value?.unreadable !== unreadable || hasRecovered || shape !== parsedRows.shape || changes.length > MAX_ROW_CHANGES;
    let seq = value?.seq ?? 0;
    if (needsSnapshot) {
      seq = nextSeq();
      snapshotSeq = seq;
      updates.clear();
      progress.clear();
    } else
      for (const [key, row] of changes) {
        seq = nextSeq();
        updates.set(key, { seq, event: "job.updated", body: `"atMs":${atMs},"job":${row.text}` });
        progress.delete(key);
      }
    value = { text, unreadable, seq, atMs };
    ({ shape, rows } = parsedRows);
    // Rows from the service lack live outputs and previews.
    addProgress((needsSnapshot ? [...rows] : changes).map(([id]) => id));
    onChange();
  }

  function scheduleProgress(jobId: string): void {
    if (!rows.get(jobId)?.isOpen || stopController.signal.aborted) return;
    progressJobIds.add(jobId);
    progressTimer ??= setTimeout(emitProgress, PROGRESS_DELAY_MS).unref();
  }

  /** `shape` contains everything except the rows' contents. Lists with missing or repeated ids have no rows: each change is a snapshot. */
  function parseRows(parsed: unknown, text: string): { shape: string; rows: Rows } {
    const lists = rowFields[name];
    const rows: Rows = new Map();
    if (!isObject(parsed)) return { shape: text, rows };
    const addRow = (row: unknown) => {
      const id = isObject(row) ? getRowId(row) : undefined;
      if (!isObject(row) || id === undefined || rows.has(id)) return undefined;
      rows.set(id, {
        text: writeExactJson(row),
        isOpen: isActiveRow(row),
        nodesTotal: asObject(row.progress)?.nodes_total ?? row.nodes_total,
      });
      return id;
    };
    if (!lists) {
      if (name === "job") addRow(parsed);
      return { shape: text, rows };
    }
    const ids = lists.map((list) => (Array.isArray(parsed[list]) ? parsed[list].map(addRow) : []));
    if (ids.flat().includes(undefined)) return { shape: text, rows: new Map() };
    return { shape: writeExactJson({ ...parsed, ...Object.fromEntries(lists.map((list, index) => [list, ids[index]])) }), rows };
  }

  function emitProgress(): void {
    progressTimer = undefined;
    addProgress(progressJobIds);
    progressJobIds.clear();
    onChange();
  }

  function addProgress(jobIds: Iterable<string>): void {
    for (const id of jobIds) {
      const row = rows.get(id);
      const newestProgress = row?.isOpen && getProgress(id, row.nodesTotal);
      if (!newestProgress) continue;
      const body = `"id":${writeExactJson(id)},"progress":${writeExactJson(newestProgress)}`;
      if (progress.get(id)?.body.endsWith(body)) continue;
      progress.set(id, { seq: nextSeq(), event: "job.progress", body: `"atMs":${now()},${body}` });
    }
  }

  void run();

  return {
    trigger,
    /** Resolves after the first read. */
    firstRead,
    scheduleProgress,
    getLength: () => value?.text.length ?? 0,

    /** A new viewer gets the cached value first, which may be old. */
    refreshIfOld(): void {
      if (value && !hasChangeEvents() && now() - value.atMs > 1000) trigger();
    },

    /** Returns the events after `cursor`, or all if it is undefined. */
    getItemsSince(cursor: number | undefined): LiveItem[] {
      const isAfterCursor = ({ seq }: LiveItem) => cursor === undefined || seq > cursor;
      const items: LiveItem[] = [];
      if (value && (cursor === undefined || cursor < snapshotSeq)) {
        const { seq, atMs, text, unreadable } = value;
        const unreadableField = unreadable > 0 ? `"unreadable":${unreadable},` : "";
        items.push({ seq, event: "snapshot", body: `"atMs":${atMs},${unreadableField}"value":${text}` });
        // The snapshot's rows lack earlier progress.
        items.push(...[...progress.values()].map((progressItem) => ({ ...progressItem, seq: Math.max(progressItem.seq, seq) })));
      } else items.push(...[...updates.values(), ...progress.values()].filter(isAfterCursor));
      if (failure && isAfterCursor(failure)) items.push(failure);
      return items;
    },

    stop(): void {
      stopController.abort();
      clearTimeout(timer);
      clearTimeout(progressTimer);
    },
  };
}

// Poll intervals of the topics.

/** Poll interval of topics whose source reports changes, because it may miss some. */
const RECHECK_MS = 30_000;

const defaultInterval = [1500, 8000] as const;
const settingsInterval = [3000, 10_000] as const;
const intervals: Readonly<Partial<Record<TopicName, readonly [activeMs: number, idleMs: number]>>> = {
  // An ended job changes only if it is removed.
  job: [1500, 30_000],
  status: [1500, 30_000],
  counts: settingsInterval,
  runners: settingsInterval,
  session: [3000, 3000],
  audit: [10_000, 10_000],
  apps: [10_000, 10_000],
  app: [10_000, 10_000],
  usage: [60_000, 60_000],
  "runs-by-day": [3000, 60_000],
};

function getPollIntervals(name: TopicName): readonly [activeMs: number, idleMs: number] {
  return intervals[name] ?? defaultInterval;
}

/** Expensive sums over many jobs, which are not read after every change. */
export function isExpensiveTopic(name: TopicName): boolean {
  return name === "usage" || name === "runs-by-day";
}

/** Topics that change with the events of a service. */
export function isJobTopic(name: TopicName): boolean {
  return ["jobs", "search", "history", "job", "status", "queue", "counts"].includes(name);
}

const isActiveRow = (row: unknown) => {
  const status = asText(asObject(row)?.status ?? asObject(row)?.state);
  return status === "sending" || (status !== undefined && !isTerminalStatus(status) && toJobState(status) !== "unknown");
};

function hasActiveJobs(name: TopicName, value: unknown): boolean {
  if (!isObject(value)) return Array.isArray(value) && value.some(isActiveRow);
  if (name === "counts") return (asNumber(value.running) ?? 0) + (asNumber(value.pending) ?? 0) > 0;
  if (name === "runs-by-day") return Array.isArray(value.days) && value.days.some((day) => asObject(day)?.isUnread === true);
  if (name === "tasks") return (asNumber(value.underWay) ?? 0) > 0;
  const lists = name === "batches" ? ["runs"] : (rowFields[name] ?? []);
  return lists.length === 0 ? isActiveRow(value) : lists.some((list) => Array.isArray(value[list]) && value[list].some(isActiveRow));
}
