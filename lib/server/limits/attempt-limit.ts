// Token buckets: in memory for one console, in the database for several.

import "server-only";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getNetwork } from "@/lib/shared/ip-address";
import { createLru } from "@/lib/shared/lru";
import { type AttemptStore, type Bucket } from "../store/settings";

export type AttemptLimit = {
  take(name: string): Promise<number>;
  refund(name: string): Promise<void>;
};

export function rateLimited(retryAfterMs: number, message = "Too many attempts. Try again later."): Failure {
  return { ...createFailure("RATE_LIMITED", message), retryAfterMs };
}

/** Returns the refusal if `name` has no attempt left. */
export async function takeAttempt(limit: AttemptLimit, name: string, message?: string): Promise<Failure | undefined> {
  const waitMs = await limit.take(name);
  return waitMs > 0 ? rateLimited(waitMs, message) : undefined;
}

const MAX_NAMES = 20_000;

/** A burst of 0 means no limit. */
export function createAttemptLimit({ now, burst, refillMs }: { now: () => number; burst: number; refillMs: number }): AttemptLimit {
  const fullAtByName = new Map<string, number>();

  function sweep(at: number): void {
    for (const [name, full] of fullAtByName) if (full <= at) fullAtByName.delete(name);
    // Beyond this number of names, the oldest are dropped to bound the memory.
    for (const name of fullAtByName.keys()) {
      if (fullAtByName.size < MAX_NAMES) break;
      fullAtByName.delete(name);
    }
  }

  function take(name: string): number {
    if (burst === 0) return 0;
    const at = now();
    if (fullAtByName.size >= MAX_NAMES) sweep(at);
    const full = Math.max(at, fullAtByName.get(name) ?? at) + refillMs;
    const waitMs = full - at - burst * refillMs;
    if (waitMs > 0) return Math.ceil(waitMs);
    fullAtByName.set(name, full);
    return 0;
  }

  return {
    take: (name) => Promise.resolve(take(name)),
    refund(name) {
      const full = fullAtByName.get(name);
      if (full !== undefined) fullAtByName.set(name, full - refillMs);
      return Promise.resolve();
    },
  };
}

/** Attempts are taken from the database in this many portions per bucket. */
const PORTIONS_PER_BUCKET = 20;

type LocalBucket = { left: number; waitUntilMs: number; pendingRefill?: Promise<void> };
type Options = { attempts: AttemptStore; now: () => number; of: string; burst: number; refillMs: number };

/** `of` is the name of the limit, because all limits share one table. */
export function createSharedLimit({ attempts, now, of, burst, refillMs }: Options): AttemptLimit {
  const localBuckets = createLru<string, LocalBucket>({ max: MAX_NAMES });
  const portion = Math.max(1, Math.floor(burst / PORTIONS_PER_BUCKET));
  const toBucket = (name: string): Bucket => ({ name: `${of} ${name}`, burst, refillMs });

  function find(name: string): LocalBucket {
    const entry = localBuckets.get(name) ?? { left: 0, waitUntilMs: 0 };
    localBuckets.set(name, entry);
    return entry;
  }

  async function refill(name: string, entry: LocalBucket): Promise<void> {
    const take = (count: number) => attempts.take(toBucket(name), now(), count);
    if (portion > 1 && (await take(portion)) === 0) {
      entry.left += portion;
      return;
    }
    // Less than a portion is left, so take one at a time.
    const waitMs = await take(1);
    if (waitMs === 0) entry.left += 1;
    else entry.waitUntilMs = now() + waitMs;
  }

  return {
    async take(name) {
      const entry = find(name);
      for (;;) {
        if (entry.left > 0) {
          entry.left -= 1;
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
      find(name).waitUntilMs = 0;
    },
  };
}

// Password attempts are limited by account and address, by address, and by account, before the password is checked. A known browser has its
// own limit, so that attackers can't lock a member out.

export type Attempt = { email: string; address: string; isKnown?: boolean };
export type SignInLimits = ReturnType<typeof createSignInLimits>;

export function createSignInLimits(attempts: AttemptStore, now: () => number) {
  const pairBucket = ({ email, address, isKnown }: Attempt): Bucket => ({
    name: `pair ${writeExactJson(isKnown ? [email] : [email, getNetwork(address)])}`,
    burst: 5,
    refillMs: 30_000,
  });
  const addressBucket = ({ address }: Attempt): Bucket => ({ name: `address ${getNetwork(address)}`, burst: 30, refillMs: 10_000 });
  const accountBucket = ({ email }: Attempt): Bucket => ({ name: `account ${email}`, burst: 60, refillMs: 15_000 });
  const take = (bucket: Bucket) => attempts.take(bucket, now());
  return {
    /** Milliseconds to wait; 0 if this attempt may be made. */
    async take(attempt: Attempt): Promise<number> {
      const waitMs = await take(pairBucket(attempt));
      if (attempt.isKnown) return waitMs;
      return waitMs || (await take(addressBucket(attempt))) || take(accountBucket(attempt));
    },
    async succeeded(attempt: Attempt): Promise<void> {
      await attempts.reset(pairBucket(attempt));
      if (attempt.isKnown) return;
      await attempts.refund(addressBucket(attempt));
      await attempts.refund(accountBucket(attempt));
    },
  };
}

export const ADDRESS_HEADER = "x-lightdesk-address";

export function clientAddress(request: Request): string {
  return request.headers.get(ADDRESS_HEADER) ?? "unknown";
}
