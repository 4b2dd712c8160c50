import { expect, test } from "vitest";
import { createFileRemovals, type RemovalState } from "@/components/files/file-removals";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { failed, ok, type Result } from "@/lib/shared/result";
import { until } from "@/tests/support/until";

const refusal = (status: number, code = "NOT_FOUND"): Result<never, ApiFailure> => failed({ status, code, message: "" });

/** Paths relative to the folder. */
function below(folder: string, files: readonly { path: string }[]): { path: string }[] {
  const inside = folder === "/" ? "" : folder;
  return files.filter(({ path }) => path.startsWith(inside)).map(({ path }) => ({ path: path.slice(inside.length) }));
}

/** A service whose answers to deletions the test releases. */
function service(paths: readonly string[]) {
  let listed: Result<{ path: string }[], ApiFailure> = ok(paths.map((path) => ({ path })));
  const asked: { path: string; answer: (result: Result<unknown, ApiFailure>) => void }[] = [];
  const removals = createFileRemovals({
    list: async (folder) => (listed.ok ? ok(below(folder, listed.value)) : listed),
    remove: (path) => new Promise((answer) => asked.push({ path, answer })),
  });
  return {
    removals,
    asked,
    lists: (next: typeof listed) => (listed = next),
    async next(result: Result<unknown, ApiFailure> = ok(undefined)): Promise<string> {
      const one = await until("a deletion is asked for", () => asked.shift());
      one.answer(result);
      return one.path;
    },
  };
}
const progress = (state: RemovalState) => (state.kind === "removing" ? [state.done, state.count] : undefined);
const many = Array.from({ length: 10 }, (_, at) => `old/${at}.json`);

test("a folder goes file by file, four at a time, and every step is reported", async () => {
  const { removals, asked, next } = service([...many, "new/x.json"]);
  const seen: string[] = [];
  removals.subscribe(() => seen.push(progress(removals.get())?.join(" of ") ?? removals.get().kind));
  const ended = removals.remove(["old/", "old/3.json"], "c");
  await until("four are asked for", () => asked.length === 4);
  const gone = [];
  for (let at = 0; at < 10; at += 1) gone.push(await next());
  await ended;
  expect(gone.sort()).toEqual(many);
  expect(seen.slice(0, 4)).toEqual(["0 of 2", "0 of 10", "1 of 10", "2 of 10"]);
  expect(removals.get()).toEqual({ kind: "over", removal: { removed: 10, failed: [], left: [] }, isAbsent: false });
});

test("stopping lets those under way finish, and names what was left as it was", async () => {
  const { removals, asked, next } = service(many);
  const ended = removals.remove(["old/"], "c");
  await until("four are asked for", () => asked.length === 4);
  await next();
  await until("a fifth is asked for", () => asked.length === 4);
  removals.stop();
  expect(removals.get()).toMatchObject({ kind: "removing", isStopping: true });
  for (let at = 0; at < 4; at += 1) await next();
  await ended;
  expect(asked).toEqual([]);
  expect(removals.get()).toMatchObject({ removal: { removed: 5, failed: [], left: many.slice(5) } });
});

test("a refused file has its reason and the others go on; what would meet them all ends the work", async () => {
  const { removals, next } = service(many.slice(0, 6));
  const ended = removals.remove(["old/"], "c");
  const [first] = [await next(refusal(500, "INTERNAL"))];
  for (let at = 0; at < 2; at += 1) await next();
  const last = await next(refusal(0, "CONSOLE_UNREACHABLE"));
  for (let at = 0; at < 2; at += 1) await next();
  await ended;
  const state = removals.get();
  if (state.kind !== "over") throw new Error("it is not over");
  expect(state.removal.failed.map(({ path, failure }) => [path, failure.code])).toEqual([
    [first, "INTERNAL"],
    [last, "CONSOLE_UNREACHABLE"],
  ]);
  expect(state.removal.removed + state.removal.failed.length + state.removal.left.length).toBe(6);
});

test("a service without the act is told from a file that is gone", async () => {
  const lacks = service(["a.json", "b.json"]);
  const ended = lacks.removals.remove(["a.json"], "c");
  await lacks.next(refusal(501, "NOT_IMPLEMENTED"));
  await ended;
  expect(lacks.removals.get()).toMatchObject({ kind: "over", isAbsent: true });

  const gone = service(["b.json"]);
  const over = gone.removals.remove(["a.json"], "c");
  await gone.next(refusal(404));
  await over;
  expect(gone.removals.get()).toMatchObject({ kind: "over", isAbsent: false, removal: { failed: [{ path: "a.json" }] } });
});

test("a folder that cannot be read is shown as such, and nothing is deleted", async () => {
  const { removals, asked, lists } = service(many);
  lists(refusal(502, "BAD_GATEWAY"));
  await removals.remove(["old/"], "c");
  expect(removals.get()).toMatchObject({ kind: "unread", failure: { code: "BAD_GATEWAY" } });
  expect(asked).toEqual([]);
  removals.dismiss();
  expect(removals.get()).toEqual({ kind: "idle" });
});

test("a second wish waits for the first, and neither is lost", async () => {
  const { removals, next } = service(["a.json", "b.json"]);
  const both = Promise.all([removals.remove(["a.json"], "c"), removals.remove(["b.json"], "c")]);
  expect([await next(), await next()]).toEqual(["a.json", "b.json"]);
  await both;
  expect(removals.get()).toMatchObject({ removal: { removed: 1 } });
});
