// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { ALARMS_KEY, createAlarmBook, type KeptAlarm } from "@/components/transfers/uploads/upload-item";
import { until } from "@/tests/support/until";
import { hashed, hashOf, line, stored, unknownHash } from "./upload-line";

const alarm = (id: string): KeptAlarm => ({ id, connection: "c", assetId: "a", name: `${id}.png`, size: 3, theirs: "blake3:00", atMs: 1 });

/** One browser's storage, and tabs that get each other's writes. */
function browser(text: string | null = null) {
  const state = { text, isForbidden: false };
  const tab = () =>
    createAlarmBook(() => ({
      getItem: () => state.text,
      setItem(_key: string, value: string) {
        if (state.isForbidden) throw new Error("no storage here");
        state.text = value;
      },
      removeItem: () => void (state.text = null),
    }));
  return { state, tab, tellOthers: () => window.dispatchEvent(new StorageEvent("storage", { key: ALARMS_KEY })) };
}

describe("alarms", () => {
  it("are there after a reload until they are dismissed, and other tabs get both", () => {
    const { tab, tellOthers } = browser();
    const [one, other] = [tab(), tab()];
    const seen: string[][] = [];
    const forget = other.subscribe(() => void seen.push(other.get().map(({ id }) => id)));
    one.add(alarm("first"));
    tellOthers();
    one.add(alarm("second"));
    expect(tab().get()).toEqual([alarm("first"), alarm("second")]);
    one.remove("first");
    tellOthers();
    expect(seen).toEqual([["first"], ["second"]]);
    forget();
    one.remove("second");
    tellOthers();
    expect(seen).toHaveLength(2);
    expect(tab().get()).toEqual([]);
  });

  it("of another tab are not lost by one of this tab", () => {
    const { tab } = browser();
    const [one, other] = [tab(), tab()];
    expect(other.get()).toEqual([]);
    one.add(alarm("first"));
    other.add(alarm("second"));
    expect(
      tab()
        .get()
        .map(({ id }) => id),
    ).toEqual(["first", "second"]);
  });

  it("are bounded, and nonsense in the storage is no alarm and breaks nothing", () => {
    const { tab } = browser('[{"id":"x"},7,null,{"id":"y","assetId":"a","name":"n","theirs":"t","size":"big","atMs":1}]');
    const book = tab();
    expect(book.get()).toEqual([]);
    for (let at = 0; at < 130; at += 1) book.add(alarm(String(at)));
    expect(book.get().map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, at) => String(at + 30)));
    expect(browser("no JSON").tab().get()).toEqual([]);
  });

  it("hold in the tab where the browser keeps nothing", () => {
    const { state, tab } = browser();
    state.isForbidden = true;
    const book = tab();
    let calls = 0;
    book.subscribe(() => (calls += 1));
    book.add(alarm("first"));
    expect([calls, book.get().length]).toEqual([1, 1]);
  });

  it("are raised once by the file that differs, and dealt with when it is taken off the list", async () => {
    const { add, answer, item, store, announced } = line();
    add("cat.png", "dog.png");
    for (const name of ["cat.png", "dog.png"]) {
      await answer("hash", hashed(name));
      await answer("fromHash", unknownHash);
    }
    await answer("send", stored({ asset_hash: hashOf("another") }));
    await answer("send", stored({ asset_hash: hashOf("dog.png") }));
    await until("both are done", () => store.get().items.every(({ status }) => status.kind === "done"));
    store.clear();
    expect(announced.filter((text) => text.includes("alarm"))).toEqual(["alarm cat.png"]);
    store.remove(item().key);
    expect(announced.at(-1)).toBe("dismissed cat.png");
  });
});
