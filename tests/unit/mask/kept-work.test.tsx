// @vitest-environment jsdom
// Unsaved drawings: which of them stay in the tab, and which are dropped.
import { afterEach, expect, it } from "vitest";
import { emptyCoverage } from "@/components/mask/drawing/coverage";
import { keepWork, sessionOf, takeWork } from "@/components/mask/file/mask-session";

const sessions = ["a", "b", "c", "d"].map((name) => ({
  name,
  session: sessionOf({ coverage: emptyCoverage({ width: 100, height: 100 }), earlier: "none", refs: [], isPreview: false }),
}));
const warns = () => {
  const event = new Event("beforeunload", { cancelable: true });
  window.dispatchEvent(event);
  return event.defaultPrevented;
};

afterEach(() => sessions.forEach(({ name }) => takeWork(name)));

it("keeps as many as there is room for, tells which had to go, and warns while any waits", () => {
  const lost = sessions.slice(0, 3).map((work) => keepWork(work.name, work));
  expect(lost).toEqual([[], [], []]);
  const [first, , third, last] = sessions;
  if (!first || !third || !last) throw new Error("there are four");
  expect(keepWork(last.name, last, 20_000)).toEqual(["a", "b"]);
  expect(warns()).toBe(true);
  expect([takeWork("a"), takeWork("b"), takeWork("c"), takeWork("d")]).toEqual([undefined, undefined, third.session, last.session]);
  expect(warns()).toBe(false);
});

it("keeps the latest whatever it weighs", () => {
  const [first, second] = sessions;
  if (!first || !second) throw new Error("there are four");
  expect([keepWork("a", first, 1), keepWork("b", second, 1)]).toEqual([[], ["a"]]);
  expect(takeWork("b")).toBe(second.session);
});
