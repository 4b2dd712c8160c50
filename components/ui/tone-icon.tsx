import { type ReactNode } from "react";
import { type Tone } from "./tone";

const ring = <circle cx="7" cy="7" r="4.75" />;

const shapes: Readonly<Record<Tone, ReactNode>> = {
  ok: <path d="M2.75 7.5 5.6 10.25 11.25 4" />,
  run: (
    <>
      {ring}
      <path d="M7 2.25a4.75 4.75 0 0 0 0 9.5z" fill="currentColor" />
    </>
  ),
  wait: ring,
  bad: <path d="m3.5 3.5 7 7m0-7-7 7" />,
  off: (
    <>
      {ring}
      <path d="m3.75 10.25 6.5-6.5" />
    </>
  ),
  unknown: <path d="M4.75 5.1a2.3 2.3 0 1 1 3.2 2.1c-.6.3-.95.7-.95 1.4m0 2.1v.3" />,
};

/** Drawn as SVG, as a glyph would depend on the machine's fonts. */
export function ToneIcon({ tone }: { tone: Tone }) {
  return (
    <svg className="icon" viewBox="0 0 14 14" aria-hidden="true">
      {shapes[tone]}
    </svg>
  );
}
