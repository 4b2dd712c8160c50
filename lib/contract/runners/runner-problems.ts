// What is wrong with the address of a runner, and what a runner can be told to do. Free of zod: browsers load it.

/**
 * What an address turned out to be where it is no runner. `not_reachable`: nothing answers; `timeout`: too slowly; `redirects`: elsewhere;
 * `wrong_protocol`: http and https were mixed up; `cloud_service`: it asks for a key; `not_a_server`: something else answers; `too_old`: it
 * lacks what is needed; `failing`: it answers with failures of its own.
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
] as const;
export type RunnerProblem = (typeof runnerProblems)[number];

/** `ready` also brings one back that was set aside. */
export const runnerOrders = ["ready", "draining", "paused"] as const;
