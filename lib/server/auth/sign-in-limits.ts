// How often one may try to sign in: by account and address together, by address, by account. An IPv6 address counts as its /64.
// Guarantees: an attempt counts before the password is looked at, so many at once gain nothing; a success clears the pair.
// The bound by account is wide: it stops guessing from many addresses without letting a stranger lock a member out for long.

import "server-only";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { networkOf } from "@/lib/shared/ip-address";
import { createAttemptLimit } from "../limits/attempt-limit";

export type SignInLimits = {
  /** Milliseconds to wait, 0 when this attempt may be made. */
  take(email: string, address: string): number;
  succeeded(email: string, address: string): void;
};

export function createSignInLimits(now: () => number): SignInLimits {
  const pairs = createAttemptLimit({ now, burst: 5, refillMs: 30_000 });
  const addresses = createAttemptLimit({ now, burst: 30, refillMs: 10_000 });
  const accounts = createAttemptLimit({ now, burst: 60, refillMs: 15_000 });
  const pairOf = (email: string, address: string) => writeExactJson([email, networkOf(address)]);
  return {
    take: (email, address) => pairs.take(pairOf(email, address)) || addresses.take(networkOf(address)) || accounts.take(email),
    succeeded: (email, address) => pairs.reset(pairOf(email, address)),
  };
}
