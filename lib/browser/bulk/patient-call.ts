// One call of a longer piece of work over many things: it waits out a plain rate limit, and reports that it waits.
// Guarantees: another refusal, or a stop meanwhile, comes back as it was; a call that may have succeeded is never sent again.

import { isPlainRateLimit } from "@/lib/contract/failure";
import { sleep } from "@/lib/shared/async";
import { ACT_HEADER } from "@/lib/shared/headers";
import { type Result } from "@/lib/shared/result";
import { callApi, type CallInit } from "../api";
import { type ApiFailure } from "../read-failure";

/** What a longer piece of work is given, and reports. Ending `signal` lets the call under way finish, so that its outcome is known. */
export type Work = {
  connection: string | undefined;
  signal: AbortSignal;
  /** The same id for all of the work: the audit log shows it as one row. */
  act?: string;
  /** That many more are done. */
  onDone: (count: number) => void;
  /** The service asked to wait; undefined once the wait is over. */
  onWait: (ms: number | undefined) => void;
  /** The page is being left: everything is sent at once, in requests that outlive it. */
  isLeaving?: boolean;
};

const FIRST_WAIT_MS = 1_000;
const MOST_TRIES = 6;

/** A plain rate limit is the only refusal that did nothing and is worth the same request again, after the wait that it names. */
export async function callPatiently<T>(path: `/${string}`, init: CallInit, work: Work): Promise<Result<T, ApiFailure>> {
  const headers = new Headers(init.headers);
  if (work.act !== undefined) headers.set(ACT_HEADER, work.act);
  const call = () => callApi<T>(path, { ...init, headers, ...(work.isLeaving && { keepalive: true }) });
  return work.isLeaving ? call() : patiently(call, work);
}

/** Also for calls that do not use callApi. */
export async function patiently<T>(
  call: () => Promise<Result<T, ApiFailure>>,
  { signal, onWait }: Pick<Work, "signal" | "onWait">,
): Promise<Result<T, ApiFailure>> {
  for (let tried = 1; ; tried++) {
    const result = await call();
    if (result.ok || tried === MOST_TRIES || !isPlainRateLimit(result.failure)) return result;
    const waitMs = result.failure.retryAfterMs ?? FIRST_WAIT_MS * 2 ** (tried - 1);
    onWait(waitMs);
    const isFull = await sleep(waitMs, { signal });
    onWait(undefined);
    if (!isFull) return result;
  }
}

/** The next call would fail in the same way: no session, no right, no key, no money, no network. */
export function meetsAll({ status, code }: Pick<ApiFailure, "status" | "code">): boolean {
  return status === 0 || code === "UPSTREAM_REFUSED_KEY" || [401, 402, 403, 409, 429].includes(status);
}
