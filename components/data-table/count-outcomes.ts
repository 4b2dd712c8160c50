/** How often each outcome came, in the order of `outcomes`. */
export function countOutcomes<Outcome extends string>(
  outcomes: readonly Outcome[],
  entries: readonly { outcome: Outcome }[],
): { outcome: Outcome; count: number }[] {
  return outcomes.flatMap((outcome) => {
    const count = entries.filter((entry) => entry.outcome === outcome).length;
    return count > 0 ? [{ outcome, count }] : [];
  });
}
