// Rounding and bytes exactly as the family does them, so that the pixels come out equal.

import { type Tick } from "./raster";

/** To the nearest whole number, halves to the even one. */
export function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Samples between two ticks: some milliseconds. */
const STRETCH = 1 << 20;

/** The bytes that frames were made of. Truncation gives every byte back, so what was read or resampled is not computed again. */
const madeOf = new WeakMap<Float32Array, Uint8Array>();

/** A saved byte is the truncation of 255 x in float32, clamped. To be read only. */
export function toBytes(samples: Float32Array, tick?: Tick): Uint8Array {
  const known = madeOf.get(samples);
  if (known) return known;
  const { length } = samples;
  const bytes = new Uint8Array(length);
  for (let start = 0; start < length; start += STRETCH) {
    const end = Math.min(length, start + STRETCH);
    for (let i = start; i < end; i++) {
      const value = Math.fround(255 * (samples[i] ?? 0));
      bytes[i] = value >= 255 ? 255 : value > 0 ? value | 0 : 0;
    }
    tick?.(end / length);
  }
  return bytes;
}

/** float32 of byte / 255. */
const unitOfByte: Readonly<Float32Array> = Float32Array.from({ length: 256 }, (_, byte) => byte / 255);

/** One sample for each byte. The bytes must not change any more. */
export function toUnit(bytes: Uint8Array, tick?: Tick): Float32Array {
  const { length } = bytes;
  const samples = new Float32Array(length);
  for (let start = 0; start < length; start += STRETCH) {
    const end = Math.min(length, start + STRETCH);
    for (let i = start; i < end; i++) samples[i] = unitOfByte[bytes[i] ?? 0] ?? 0;
    tick?.(end / length);
  }
  madeOf.set(samples, bytes);
  return samples;
}
