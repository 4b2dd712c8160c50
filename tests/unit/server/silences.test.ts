// When reads of a service that does not answer are given up, by a clock of the test's own.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createSilences } from "@/lib/server/upstream/silences";

const SILENT_MS = 5_000;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function world() {
  const silences = createSilences(() => Date.now());
  const givenUp: string[] = [];
  const begin = (name: string, service = "studio") =>
    silences.begin(service, SILENT_MS, (why) => givenUp.push(why === "heard" ? `${name} is to ask again` : name));
  return { silences, givenUp, begin };
}
const pass = (ms: number) => vi.advanceTimersByTime(ms);

test("all but the first are given up after a silence; the next is let look, and those beside it are given up sooner", () => {
  const { givenUp, begin } = world();
  const ends = ["patient", "second", "third"].map((name) => begin(name));
  pass(SILENT_MS - 1);
  expect(givenUp).toEqual([]);
  pass(1);
  expect(givenUp).toEqual(["second", "third"]);
  ends[1]?.();
  ends[2]?.();
  begin("look");
  begin("beside");
  pass(500);
  expect(givenUp).toEqual(["second", "third", "beside"]);
  pass(SILENT_MS);
  expect(givenUp).toEqual(["second", "third", "beside", "look"]);
});

test("an answer ends the silence also for those that had just begun", () => {
  const { silences, givenUp, begin } = world();
  begin("patient");
  const end = begin("second");
  pass(SILENT_MS);
  end();
  begin("new");
  pass(400);
  silences.heard("studio");
  expect(givenUp).toEqual(["second", "patient is to ask again"]);
  pass(SILENT_MS - 1);
  expect(givenUp).toEqual(["second", "patient is to ask again"]);
});

test("a slow read beside others that are answered is left its time", () => {
  const { silences, givenUp, begin } = world();
  begin("slow");
  begin("slower");
  for (let times = 0; times < 10; times += 1) {
    pass(SILENT_MS - 1);
    silences.heard("studio");
  }
  expect(givenUp).toEqual([]);
});

test("services know nothing of each other, and a silence is over when nobody waits any more", () => {
  const { silences, givenUp, begin } = world();
  const ends = [begin("patient"), begin("second")];
  pass(SILENT_MS);
  begin("elsewhere", "other");
  silences.heard("other");
  for (const end of ends) end();
  begin("later");
  begin("later too");
  begin("and this");
  pass(SILENT_MS - 1);
  expect(givenUp).toEqual(["second"]);
});
