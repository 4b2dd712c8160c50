// Fractions, drawn evenly between two bounds. fc.double draws evenly among the values a double can have, and nearly all of those
// are close to zero: a property of places and shares would be tried at zero alone.
import fc from "fast-check";

const STEPS = 1_000_000;

export function evenly(min: number, max: number): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: STEPS }).map((step) => min + ((max - min) * step) / STEPS);
}
