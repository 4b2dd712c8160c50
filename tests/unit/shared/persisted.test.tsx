// @vitest-environment jsdom
import { afterEach, expect, test } from "vitest";
import { forgetPerson, keepTo, type KeptIn, ofTab, persisted } from "@/lib/browser/persisted";

afterEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

const number = (kept: unknown) => (typeof kept === "number" ? kept : 0);

test("a value is there after a reload, in the storage it was meant for, until it is forgotten", () => {
  const kept = persisted("share", number, ofTab);
  expect(kept.get()).toBe(0);
  expect(kept.set(46)).toBe(true);
  expect([sessionStorage.getItem("share"), localStorage.getItem("share")]).toEqual(["46", null]);
  const reloaded = persisted("share", number, ofTab);
  expect(reloaded.get()).toBe(46);
  reloaded.forget();
  expect([kept.get(), sessionStorage.getItem("share")]).toEqual([0, null]);
});

test("what other hands wrote is read with care, and the same object is given until it is another", () => {
  localStorage.setItem("list", "no JSON");
  const kept = persisted("list", (raw): unknown[] => (Array.isArray(raw) ? raw : [raw]));
  expect(kept.get()).toEqual(["no JSON"]);
  localStorage.setItem("list", "[1]");
  expect(kept.get()).toEqual([1]);
  expect(kept.get()).toBe(kept.get());
});

test("a browser that keeps nothing, or a text that is too long, still holds the value for this page, and says so", () => {
  const forbidden: KeptIn = () => {
    throw new Error("no storage here");
  };
  const refused = persisted("share", number, forbidden);
  expect([refused.get(), refused.set(7), refused.get()]).toEqual([0, false, 7]);
  refused.forget();
  expect(refused.get()).toBe(0);
  const short = persisted("share", number, ofTab, { maxCharacters: 2 });
  expect([short.set(12), short.set(123), short.get(), sessionStorage.getItem("share")]).toEqual([true, false, 123, "12"]);
});

test("listeners are told of changes here and of other tabs', of this value alone", () => {
  const kept = persisted("share", number);
  const seen: number[] = [];
  const forget = kept.subscribe(() => void seen.push(kept.get()));
  kept.set(1);
  localStorage.setItem("share", "2");
  window.dispatchEvent(new StorageEvent("storage", { key: "another" }));
  window.dispatchEvent(new StorageEvent("storage", { key: "share" }));
  forget();
  kept.set(3);
  expect(seen).toEqual([1, 2]);
});

test("what one member typed is gone once another is signed in, and what the browser is set to stays", () => {
  keepTo("ana");
  sessionStorage.setItem("lightdesk.run", "a draft");
  sessionStorage.setItem("of another product", "its own");
  localStorage.setItem("lightdesk.uploads.alarms", "[]");
  localStorage.setItem("lightdesk.run.split", "0.4");
  keepTo("ana");
  expect([sessionStorage.getItem("lightdesk.run"), localStorage.getItem("lightdesk.uploads.alarms")]).toEqual(["a draft", "[]"]);
  keepTo("bo");
  expect([sessionStorage.getItem("lightdesk.run"), localStorage.getItem("lightdesk.uploads.alarms")]).toEqual([null, null]);
  expect([sessionStorage.getItem("of another product"), localStorage.getItem("lightdesk.run.split")]).toEqual(["its own", "0.4"]);
});

test("signing out leaves nothing of the member in the tab, nor does what writes as the page goes", () => {
  const draft = persisted("lightdesk.run", number, ofTab);
  draft.set(1);
  forgetPerson();
  expect(sessionStorage.getItem("lightdesk.run")).toBeNull();
  draft.set(2);
  expect(Object.keys(sessionStorage)).toEqual([]);
});
