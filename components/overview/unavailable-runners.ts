import { type Runner } from "@/lib/contract/runners/runners";

/** Runners that accept no jobs although they were not paused. Used by the page and by its polls. */
export function unavailableRunners({ runners }: { runners: Runner[] }): Runner[] {
  return runners.filter(({ state }) => state === "set_aside" || state === "unreachable");
}
