// Numbers with a uniform distribution between two bounds. fc.double chooses among all doubles, nearly all of which are close to zero.
import fc from "fast-check";

const STEPS = 1_000_000;

export function uniformFloat(min: number, max: number): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: STEPS }).map((step) => min + ((max - min) * step) / STEPS);
}
