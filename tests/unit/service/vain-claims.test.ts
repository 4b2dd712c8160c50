// A runner that found nothing in a long queue does not search it again at once, and one that could find something is never held back.
import { expect, it } from "vitest";
import { createVainClaims } from "@/lib/service/jobs/queue/vain-claims";

let now = 0;
const clock = () => now;

it("holds back whoever skips the same again, four times as long as it took and a second at most, at that place alone", () => {
  const vain = createVainClaims(clock);
  now = 100;
  expect(vain.restMs("built-in", ["1|"])).toBeLessThanOrEqual(0);
  vain.foundNothing("built-in", ["1|"], now - 30);
  expect(vain.restMs("built-in", ["1|"])).toBe(120);
  expect(vain.restMs("built-in", ["1|", "2|"])).toBe(120);
  expect(vain.restMs("gpu", ["1|"])).toBeLessThanOrEqual(0);
  now += 120;
  expect(vain.restMs("built-in", ["1|"])).toBeLessThanOrEqual(0);
  vain.foundNothing("built-in", ["1|"], now - 3000);
  expect(vain.restMs("built-in", ["1|"])).toBe(1000);
});

it("holds back nobody who skips less, nor once something has come that was not skipped", () => {
  const vain = createVainClaims(clock);
  vain.foundNothing("built-in", ["1|", "2|"], now - 30);
  expect(vain.restMs("built-in", ["1|"])).toBeLessThanOrEqual(0);
  expect(vain.came("2|")).toBe(false);
  expect(vain.restMs("built-in", ["1|", "2|"])).toBe(120);
  expect(vain.came("3|")).toBe(true);
  expect(vain.restMs("built-in", ["1|", "2|"])).toBeLessThanOrEqual(0);
  expect(vain.came("3|")).toBe(false);
});
