import { type Tone } from "@/components/ui/tone";
import { type Entry, type Outcome, outcomes } from "./asset-acts";

const done: ReadonlySet<Outcome> = new Set(["tagged", "untagged", "deleted"]);
const bad: ReadonlySet<Outcome> = new Set(["unknown", "failed"]);

export function toneOf(outcome: Outcome): Tone {
  return done.has(outcome) ? "ok" : bad.has(outcome) ? "bad" : "off";
}

/** How often each outcome came, what was done first. */
export function countOutcomes(entries: readonly Entry[]): { outcome: Outcome; count: number }[] {
  return outcomes.flatMap((outcome) => {
    const count = entries.filter((entry) => entry.outcome === outcome).length;
    return count > 0 ? [{ outcome, count }] : [];
  });
}
