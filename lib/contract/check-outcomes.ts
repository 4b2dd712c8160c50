// What a connection answered when it was last asked who its key belongs to. Free of zod: browsers load it.

/**
 * `strange`: something answers, but not with this interface; `failing`: it answers with a failure of its own, which says nothing about the
 * key; `forbidden`: the key may be good, but something else is in its way; `unpaid`: the account has to pay.
 */
export const checkOutcomes = ["active", "waitlisted", "refused", "forbidden", "unpaid", "failing", "strange", "unreachable"] as const;
export type CheckOutcome = (typeof checkOutcomes)[number];
