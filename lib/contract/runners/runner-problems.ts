// What can be wrong with a runner's address, and the orders that a runner takes. Free of zod: browsers load it.

/**
 * Why an address is no usable runner. `not_reachable`: nothing answers; `timeout`: it answers too slowly; `redirects`: it leads elsewhere;
 * `wrong_protocol`: http and https were mixed up; `cloud_service`: it asks for a key; `not_a_server`: something else answers; `too_old`: it
 * lacks something that is needed; `failing`: it answers with failures of its own; `over_limits`: it exceeds a runner's limits.
 */
export const runnerProblems = [
  "not_reachable",
  "timeout",
  "redirects",
  "wrong_protocol",
  "cloud_service",
  "not_a_server",
  "too_old",
  "failing",
  "over_limits",
] as const;
export type RunnerProblem = (typeof runnerProblems)[number];

/** `ready` also brings back a runner that was set aside. */
export const runnerOrders = ["ready", "draining", "paused"] as const;
