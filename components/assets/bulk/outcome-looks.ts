import { type Tone } from "@/components/ui/tone";
import { type Outcome } from "./asset-acts";

const done: ReadonlySet<Outcome> = new Set(["tagged", "untagged", "deleted"]);
const bad: ReadonlySet<Outcome> = new Set(["unknown", "failed"]);

export function toneOf(outcome: Outcome): Tone {
  return done.has(outcome) ? "ok" : bad.has(outcome) ? "bad" : "off";
}
