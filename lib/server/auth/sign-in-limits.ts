// Limits password attempts by account and address, by address, and by account. Attempts count before the password is checked.
// A known browser has its own limit, so that attackers can't lock a member out.

import "server-only";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getNetwork } from "@/lib/shared/ip-address";
import { type AttemptStore, type Bucket } from "../store/settings";

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
