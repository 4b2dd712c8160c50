// Token buckets: in memory for one console, in the database for several.

import "server-only";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getNetwork } from "@/lib/shared/ip-address";
import { createLru } from "@/lib/shared/lru";
import { type AttemptStore, type Bucket } from "../store/settings";

export type AttemptLimit = {
  consume(name: string): Promise<number>;
  refund(name: string): Promise<void>;
};

export function createRateLimitFailure(retryAfterMs: number, message = "Too many attempts. Try again later."): Failure {
  return { ...createFailure("RATE_LIMITED", message), retryAfterMs };
}

/** Returns a failure if `name` has no attempts left. */
export async function consumeAttempt(limit: AttemptLimit, name: string, message?: string): Promise<Failure | undefined> {
  const waitMs = await limit.consume(name);
  return waitMs > 0 ? createRateLimitFailure(waitMs, message) : undefined;
}

const MAX_NAMES = 20_000;

/** A burst of 0 means no limit. */
export function createAttemptLimit({ now, burst, refillMs }: { now: () => number; burst: number; refillMs: number }): AttemptLimit {
  const fullAtByName = new Map<string, number>();

  function sweep(nowMs: number): void {
    for (const [name, fullAtMs] of fullAtByName) if (fullAtMs <= nowMs) fullAtByName.delete(name);
    // Beyond this number of names, the oldest are dropped to bound the memory.
    for (const name of fullAtByName.keys()) {
      if (fullAtByName.size < MAX_NAMES) break;
      fullAtByName.delete(name);
    }
  }

  function consume(name: string): number {
    if (burst === 0) return 0;
    const nowMs = now();
    if (fullAtByName.size >= MAX_NAMES) sweep(nowMs);
    const fullAtMs = Math.max(nowMs, fullAtByName.get(name) ?? nowMs) + refillMs;
    const waitMs = fullAtMs - nowMs - burst * refillMs;
    if (waitMs > 0) return Math.ceil(waitMs);
    fullAtByName.set(name, fullAtMs);
    return 0;
  }

  return {
    consume: (name) => Promise.resolve(consume(name)),
    refund(name) {
      const fullAtMs = fullAtByName.get(name);
      if (fullAtMs !== undefined) fullAtByName.set(name, fullAtMs - refillMs);
      return Promise.resolve();
    },
  };
}

/** Attempts are taken from the database in this many portions per bucket. */
const PORTIONS_PER_BUCKET = 20;

type LocalBucket = { remaining: number; waitUntilMs: number; pendingRefill?: Promise<void> };
type Options = { attempts: AttemptStore; now: () => number; limitName: string; burst: number; refillMs: number };

/** `limitName` distinguishes the limits, because all of them share one table. */
export function createSharedLimit({ attempts, now, limitName, burst, refillMs }: Options): AttemptLimit {
  const localBuckets = createLru<string, LocalBucket>({ max: MAX_NAMES });
  const portion = Math.max(1, Math.floor(burst / PORTIONS_PER_BUCKET));
  const toBucket = (name: string): Bucket => ({ name: `${limitName} ${name}`, burst, refillMs });

  function getOrCreateBucket(name: string): LocalBucket {
    const entry = localBuckets.get(name) ?? { remaining: 0, waitUntilMs: 0 };
    localBuckets.set(name, entry);
    return entry;
  }

  async function refill(name: string, entry: LocalBucket): Promise<void> {
    const consume = (count: number) => attempts.consume(toBucket(name), now(), count);
    if (portion > 1 && (await consume(portion)) === 0) {
      entry.remaining += portion;
      return;
    }
    // Less than a portion is left, so take one at a time.
    const waitMs = await consume(1);
    if (waitMs === 0) entry.remaining += 1;
    else entry.waitUntilMs = now() + waitMs;
  }

  return {
    async consume(name) {
      const entry = getOrCreateBucket(name);
      for (;;) {
        if (entry.remaining > 0) {
          entry.remaining -= 1;
          return 0;
        }
        const waitMs = entry.waitUntilMs - now();
        if (waitMs > 0) return Math.ceil(waitMs);
        entry.pendingRefill ??= refill(name, entry).finally(() => (entry.pendingRefill = undefined));
        await entry.pendingRefill;
      }
    },
    async refund(name) {
      await attempts.refund(toBucket(name));
      getOrCreateBucket(name).waitUntilMs = 0;
    },
  };
}

// Password attempts are limited by account and address, by address, and by account, before the password is checked. A known browser has its
// own limit, so that attackers can't lock a member out.

export type Attempt = { email: string; address: string; isKnownDevice?: boolean };
export type SignInLimits = ReturnType<typeof createSignInLimits>;

export function createSignInLimits(attempts: AttemptStore, now: () => number) {
  const toPairBucket = ({ email, address, isKnownDevice }: Attempt): Bucket => ({
    name: `pair ${writeExactJson(isKnownDevice ? [email] : [email, getNetwork(address)])}`,
    burst: 5,
    refillMs: 30_000,
  });
  const toAddressBucket = ({ address }: Attempt): Bucket => ({ name: `address ${getNetwork(address)}`, burst: 30, refillMs: 10_000 });
  const toAccountBucket = ({ email }: Attempt): Bucket => ({ name: `account ${email}`, burst: 60, refillMs: 15_000 });
  const consume = (bucket: Bucket) => attempts.consume(bucket, now());
  return {
    /** Returns the milliseconds to wait, or 0 if this attempt is allowed. */
    async consume(attempt: Attempt): Promise<number> {
      const waitMs = await consume(toPairBucket(attempt));
      if (attempt.isKnownDevice) return waitMs;
      return waitMs || (await consume(toAddressBucket(attempt))) || consume(toAccountBucket(attempt));
    },
    async recordSuccess(attempt: Attempt): Promise<void> {
      await attempts.reset(toPairBucket(attempt));
      if (attempt.isKnownDevice) return;
      await attempts.refund(toAddressBucket(attempt));
      await attempts.refund(toAccountBucket(attempt));
    },
  };
}

export const ADDRESS_HEADER = "x-lightdesk-address";

export function getClientAddress(request: Request): string {
  return request.headers.get(ADDRESS_HEADER) ?? "unknown";
}
