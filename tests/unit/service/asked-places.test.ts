// A runner that found nothing in a long queue does not search it again at once, and one that could find something is never held back.
import { expect, it } from "vitest";
import { createAskedPlaces } from "@/lib/service/jobs/queue/claimers";

let now = 0;
const clock = () => now;

it("holds back whoever skips the same again, four times as long as it took and a second at most, at that place alone", () => {
  const asked = createAskedPlaces(clock);
  now = 100;
  expect(asked.restMs("built-in", ["1|"])).toBeLessThanOrEqual(0);
  asked.foundNothing("built-in", ["1|"], now - 30);
  expect(asked.restMs("built-in", ["1|"])).toBe(120);
  expect(asked.restMs("built-in", ["1|", "2|"])).toBe(120);
  expect(asked.restMs("gpu", ["1|"])).toBeLessThanOrEqual(0);
  now += 120;
  expect(asked.restMs("built-in", ["1|"])).toBeLessThanOrEqual(0);
  asked.foundNothing("built-in", ["1|"], now - 3000);
  expect(asked.restMs("built-in", ["1|"])).toBe(1000);
});

it("holds back nobody who skips less, nor once something has come that was not skipped", () => {
  const asked = createAskedPlaces(clock);
  asked.foundNothing("built-in", ["1|", "2|"], now - 30);
  expect(asked.restMs("built-in", ["1|"])).toBeLessThanOrEqual(0);
  expect(asked.came("2|")).toBe(false);
  expect(asked.restMs("built-in", ["1|", "2|"])).toBe(120);
  expect(asked.came("3|")).toBe(true);
  expect(asked.restMs("built-in", ["1|", "2|"])).toBeLessThanOrEqual(0);
  expect(asked.came("3|")).toBe(false);
});

it("has the place that was asked for longest ago come first, and each place due after news, or once a second", () => {
  const asked = createAskedPlaces(clock);
  const places = [{ place: "built-in" }, { place: "gpu" }, { place: "other" }];
  const inTurn = () => asked.inTurn(places).map(({ place }) => place);
  asked.asks("built-in");
  now += 10;
  asked.asks("gpu");
  expect(inTurn()).toEqual(["other", "built-in", "gpu"]);
  expect(["built-in", "gpu", "other"].filter(asked.isDue)).toEqual(["other"]);
  now += 10;
  asked.asks("other");
  asked.foundNothing("other", [], now);
  expect(places.filter(({ place }) => asked.isDue(place))).toEqual([]);
  now += 10;
  asked.news();
  expect(places.filter(({ place }) => asked.isDue(place))).toEqual(places);
  now += 10;
  asked.asks("built-in");
  expect(inTurn()).toEqual(["gpu", "other", "built-in"]);
  expect(asked.isDue("built-in")).toBe(false);
  now += 1001;
  expect(asked.isDue("built-in")).toBe(true);
});
