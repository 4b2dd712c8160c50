// How often one may try a password: by account and address together, by address, by account. An IPv6 address counts as its /64.
// Guarantees: an attempt counts before the password is looked at, so many at once gain nothing; a success clears the pair and counts for
// nothing else. Those who have shown before that they may be the member (a session, or a browser in which they signed in) are counted apart, all
// of them together: strangers who try from many addresses use up their own attempts, and keep no member out.

import "server-only";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { networkOf } from "@/lib/shared/ip-address";
import { createAttemptLimit } from "../limits/attempt-limit";

/** `isKnown`: by a session, or by a browser. */
export type Attempt = { email: string; address: string; isKnown?: boolean };
export type SignInLimits = {
  /** Milliseconds to wait, 0 when this attempt may be made. */
  take(attempt: Attempt): number;
  succeeded(attempt: Attempt): void;
};

export function createSignInLimits(now: () => number): SignInLimits {
  const pairs = createAttemptLimit({ now, burst: 5, refillMs: 30_000 });
  const addresses = createAttemptLimit({ now, burst: 30, refillMs: 10_000 });
  const accounts = createAttemptLimit({ now, burst: 60, refillMs: 15_000 });
  const pairOf = ({ email, address, isKnown }: Attempt) => writeExactJson(isKnown ? [email] : [email, networkOf(address)]);
  return {
    take(attempt) {
      const waitMs = pairs.take(pairOf(attempt));
      if (attempt.isKnown) return waitMs;
      return waitMs || addresses.take(networkOf(attempt.address)) || accounts.take(attempt.email);
    },
    succeeded(attempt) {
      pairs.reset(pairOf(attempt));
      if (attempt.isKnown) return;
      addresses.giveBack(networkOf(attempt.address));
      accounts.giveBack(attempt.email);
    },
  };
}
