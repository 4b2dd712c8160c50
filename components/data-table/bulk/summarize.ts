import { type Tone } from "@/components/ui/tone";

type Words<Outcome> = { textOf: (counted: { outcome: Outcome; count: number }) => string; toneOf: (outcome: Outcome) => Tone };

/** How often each outcome occurred, in the order of `outcomes`; the first of them gives the line its tone. */
export function summarize<Outcome extends string>(
  outcomes: readonly Outcome[],
  entries: readonly { outcome: Outcome }[],
  { textOf, toneOf }: Words<Outcome>,
): { text: string; tone: Tone } {
  const counts = new Map<Outcome, number>();
  for (const { outcome } of entries) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const came = outcomes.filter((outcome) => counts.has(outcome));
  const [first] = came;
  return {
    text: came.map((outcome) => textOf({ outcome, count: counts.get(outcome) ?? 0 })).join(", "),
    tone: first === undefined ? "off" : toneOf(first),
  };
}
