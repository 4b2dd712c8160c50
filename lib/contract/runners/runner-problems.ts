/** `wrong_protocol`: http and https were mixed up; `failing`: it answers with failures of its own. */
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

export const runnerOrders = ["ready", "draining", "paused"] as const;
