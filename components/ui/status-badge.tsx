import { type ReactNode } from "react";
import { cn } from "./cn";

type StatusBadgeProps = {
  tone: Tone;
  /** The state as text, because an icon or a colour alone is not accessible. */
  label: string;
  title?: string;
};

/** Stateless, so that long lists can call it as a function. */
export function StatusBadge({ tone, label, title }: StatusBadgeProps) {
  return (
    <span title={title} data-tone={tone} className={cn("status", toneStyle[tone])}>
      {ToneIcon({ tone })}
      {label}
    </span>
  );
}

/** The tones of states. Callers define their meaning. */
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

export const toneInk: Readonly<Record<Tone, string>> = {
  ok: "text-ok",
  run: "text-run",
  wait: "text-wait",
  bad: "text-bad",
  off: "text-off",
  unknown: "text-ink-2",
};

export const toneDot: Readonly<Record<Tone, string>> = {
  ok: "bg-ok",
  run: "bg-run",
  wait: "bg-wait",
  bad: "bg-bad",
  off: "bg-off",
  unknown: "bg-off",
};

const circle = <circle cx="7" cy="7" r="4.75" />;

const shapes: Readonly<Record<Tone, ReactNode>> = {
  ok: <path d="M2.75 7.5 5.6 10.25 11.25 4" />,
  run: (
    <>
      {circle}
      <path d="M7 2.25a4.75 4.75 0 0 0 0 9.5z" fill="currentColor" />
    </>
  ),
  wait: circle,
  bad: <path d="m3.5 3.5 7 7m0-7-7 7" />,
  off: (
    <>
      {circle}
      <path d="m3.75 10.25 6.5-6.5" />
    </>
  ),
  unknown: <path d="M4.75 5.1a2.3 2.3 0 1 1 3.2 2.1c-.6.3-.95.7-.95 1.4m0 2.1v.3" />,
};

/** Uses an SVG, because glyphs depend on the installed fonts. */
export function ToneIcon({ tone }: { tone: Tone }) {
  return (
    <svg className="icon" viewBox="0 0 14 14" aria-hidden="true">
      {shapes[tone]}
    </svg>
  );
}
