// What a connection said when it was last asked who the key belongs to. Free of zod: browsers load it.

/** `strange`: something answers, but not as this interface; `failing`: it answers with a failure of its own, which says nothing of the key;
 * `forbidden`: the key may be good, and something else is in its way; `unpaid`: the account is asked for money. */
export const checkOutcomes = ["active", "waitlisted", "refused", "forbidden", "unpaid", "failing", "strange", "unreachable"] as const;
export type CheckOutcome = (typeof checkOutcomes)[number];
