import { type Tone } from "@/components/ui/tone";
import { type Entry, type Outcome } from "./asset-acts";

const done: ReadonlySet<Outcome> = new Set(["tagged", "untagged", "deleted"]);
const bad: ReadonlySet<Outcome> = new Set(["unknown", "failed"]);

export function toneOf(outcome: Outcome): Tone {
  return done.has(outcome) ? "ok" : bad.has(outcome) ? "bad" : "off";
}

/** Every act on an asset may be repeated: existing tags stay, and deleted assets stay deleted. */
export function isWorthAgain({ outcome }: Entry): boolean {
  return bad.has(outcome) || outcome === "notDone";
}
