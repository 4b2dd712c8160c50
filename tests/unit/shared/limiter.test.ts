import { expect, test } from "vitest";
import { createLimiter } from "@/lib/shared/async";

/** Work that ends when the test says so. */
function heldWork() {
  const open = new Map<string, (isGood: boolean) => void>();
  const begun: string[] = [];
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve, reject) => {
      open.set(name, (isGood) => (isGood ? resolve(name) : reject(new Error(name))));
    });
  };
  return { work, begun, end: (name: string, isGood = true) => open.get(name)?.(isGood) };
}

test("no more than so many are under way, and the others begin in the order in which they came", async () => {
  const inTurn = createLimiter(2);
  const { work, begun, end } = heldWork();
  const asked = ["a", "b", "c", "d"].map((name) => inTurn(work(name)));
  expect(begun).toEqual(["a", "b"]);
  end("b");
  expect(await asked[1]).toBe("b");
  expect(begun).toEqual(["a", "b", "c"]);
  // A late arrival queues behind those who wait, although a place was just handed on.
  const late = inTurn(work("e"));
  end("a");
  end("c");
  await Promise.all([asked[0], asked[2]]);
  expect(begun).toEqual(["a", "b", "c", "d", "e"]);
  end("d");
  end("e");
  expect(await Promise.all([asked[3], late])).toEqual(["d", "e"]);
});

test("a place is handed on also by work that fails, and its failure is its asker's own", async () => {
  const inTurn = createLimiter(1);
  const { work, begun, end } = heldWork();
  const [broken, next] = [inTurn(work("a")), inTurn(work("b"))];
  end("a", false);
  await expect(broken).rejects.toThrow("a");
  expect(begun).toEqual(["a", "b"]);
  end("b");
  expect(await next).toBe("b");
  const third = inTurn(work("c"));
  end("c");
  expect(await third).toBe("c");
});
