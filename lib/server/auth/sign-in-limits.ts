// How often one may try a password: by account and address together, by address, by account. An IPv6 address counts as its /64.
// Guarantees: an attempt counts before the password is looked at, so many at once gain nothing; a success clears the pair and counts for
// nothing else. Those who have shown before that they may be the member (a session, or a browser in which they signed in) are counted apart, all
// of them together: strangers who try from many addresses use up their own attempts, and keep no member out.

import "server-only";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { networkOf } from "@/lib/shared/ip-address";
import { type AttemptStore, type Bucket } from "../store/people/attempts";

/** `isKnown`: by a session, or by a browser. */
export type Attempt = { email: string; address: string; isKnown?: boolean };
export type SignInLimits = {
  /** Milliseconds to wait, 0 when this attempt may be made. */
  take(attempt: Attempt): Promise<number>;
  succeeded(attempt: Attempt): Promise<void>;
};

export function createSignInLimits(attempts: AttemptStore, now: () => number): SignInLimits {
  const pairOf = ({ email, address, isKnown }: Attempt): Bucket => ({
    name: `pair ${writeExactJson(isKnown ? [email] : [email, networkOf(address)])}`,
    burst: 5,
    refillMs: 30_000,
  });
  const addressOf = ({ address }: Attempt): Bucket => ({ name: `address ${networkOf(address)}`, burst: 30, refillMs: 10_000 });
  const accountOf = ({ email }: Attempt): Bucket => ({ name: `account ${email}`, burst: 60, refillMs: 15_000 });
  const take = (bucket: Bucket) => attempts.take(bucket, now());
  return {
    async take(attempt) {
      const waitMs = await take(pairOf(attempt));
      if (attempt.isKnown) return waitMs;
      return waitMs || (await take(addressOf(attempt))) || take(accountOf(attempt));
    },
    async succeeded(attempt) {
      await attempts.reset(pairOf(attempt));
      if (attempt.isKnown) return;
      await attempts.giveBack(addressOf(attempt));
      await attempts.giveBack(accountOf(attempt));
    },
  };
}
