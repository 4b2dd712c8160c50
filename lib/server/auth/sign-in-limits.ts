// Limits password attempts by account and address, by address, and by account. Attempts count before the password is checked.
// A known browser has its own count, so that attackers can't lock a member out.

import "server-only";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { networkOf } from "@/lib/shared/ip-address";
import { type AttemptStore, type Bucket } from "../store/settings";

export type Attempt = { email: string; address: string; isKnown?: boolean };
export type SignInLimits = ReturnType<typeof createSignInLimits>;

export function createSignInLimits(attempts: AttemptStore, now: () => number) {
  const pairOf = ({ email, address, isKnown }: Attempt): Bucket => ({
    name: `pair ${writeExactJson(isKnown ? [email] : [email, networkOf(address)])}`,
    burst: 5,
    refillMs: 30_000,
  });
  const addressOf = ({ address }: Attempt): Bucket => ({ name: `address ${networkOf(address)}`, burst: 30, refillMs: 10_000 });
  const accountOf = ({ email }: Attempt): Bucket => ({ name: `account ${email}`, burst: 60, refillMs: 15_000 });
  const take = (bucket: Bucket) => attempts.take(bucket, now());
  return {
    /** Milliseconds to wait; 0 if this attempt may be made. */
    async take(attempt: Attempt): Promise<number> {
      const waitMs = await take(pairOf(attempt));
      if (attempt.isKnown) return waitMs;
      return waitMs || (await take(addressOf(attempt))) || take(accountOf(attempt));
    },
    async succeeded(attempt: Attempt): Promise<void> {
      await attempts.reset(pairOf(attempt));
      if (attempt.isKnown) return;
      await attempts.refund(addressOf(attempt));
      await attempts.refund(accountOf(attempt));
    },
  };
}
