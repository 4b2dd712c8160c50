// Rounding and bytes exactly as in the family, so that the pixels are equal.

import { type Tick } from "./tick";

/** Rounds to the nearest integer, halves to the even one. */
export function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Samples between two ticks: a few milliseconds. */
const STRETCH = 1 << 20;

export function inStretches(length: number, tick: Tick, work: (start: number, end: number) => void): void {
  for (let start = 0; start < length; start += STRETCH) {
    const end = Math.min(length, start + STRETCH);
    work(start, end);
    tick(end / length);
  }
}

/** A saved byte is the truncation of 255 x in float32, clamped; NaN becomes 0. */
export function toBytes(samples: Float32Array, tick: Tick): Uint8Array {
  const bytes = new Uint8Array(samples.length);
  inStretches(samples.length, tick, (start, end) => {
    for (let i = start; i < end; i++) {
      const value = Math.fround((samples[i] ?? 0) * 255);
      bytes[i] = value >= 255 ? 255 : value > 0 ? value : 0;
    }
  });
  return bytes;
}
