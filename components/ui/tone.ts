/** The five tones of the interface and one for the unknown. Their meaning is up to the caller. */
export const tones = ["ok", "run", "wait", "bad", "off", "unknown"] as const;
export type Tone = (typeof tones)[number];

export const toneStyle: Readonly<Record<Tone, string>> = {
  ok: "bg-ok-soft text-ok",
  run: "bg-run-soft text-run",
  wait: "bg-wait-soft text-wait",
  bad: "bg-bad-soft text-bad",
  off: "bg-off-soft text-off",
  unknown: "bg-off-soft text-ink-2",
};

export const toneDot: Readonly<Record<Tone, string>> = {
  ok: "bg-ok",
  run: "bg-run",
  wait: "bg-wait",
  bad: "bg-bad",
  off: "bg-off",
  unknown: "bg-off",
};
