import { expect, test } from "vitest";
import { type BrowserStorage, clearPersonalStorage, persisted, setStorageOwner, tabStorage } from "@/lib/browser/persisted";

const number = (storedValue: unknown) => (typeof storedValue === "number" ? storedValue : 0);

test("restores a value after a reload from its storage until removed", () => {
  const entry = persisted("share", number, tabStorage);
  expect(entry.get()).toBe(0);
  expect(entry.set(46)).toBe(true);
  expect([sessionStorage.getItem("share"), localStorage.getItem("share")]).toEqual(["46", null]);
  const reloaded = persisted("share", number, tabStorage);
  expect(reloaded.get()).toBe(46);
  reloaded.forget();
  expect([entry.get(), sessionStorage.getItem("share")]).toEqual([0, null]);
});

test("validates foreign values and keeps the object's identity", () => {
  localStorage.setItem("list", "no JSON");
  const entry = persisted("list", (raw): unknown[] => (Array.isArray(raw) ? raw : [raw]));
  expect(entry.get()).toEqual(["no JSON"]);
  localStorage.setItem("list", "[1]");
  expect(entry.get()).toEqual([1]);
  expect(entry.get()).toBe(entry.get());
});

test("keeps a value for the page when storage fails and reports it", () => {
  const forbidden: BrowserStorage = () => {
    throw new Error("no storage here");
  };
  const refused = persisted("share", number, forbidden);
  expect([refused.get(), refused.set(7), refused.get()]).toEqual([0, false, 7]);
  refused.forget();
  expect(refused.get()).toBe(0);
  const short = persisted("share", number, tabStorage, { maxCharacters: 2 });
  expect([short.set(12), short.set(123), short.get(), sessionStorage.getItem("share")]).toEqual([true, false, 123, "12"]);
});

test("notifies listeners of this value here and in other tabs", () => {
  const entry = persisted("share", number);
  const values: number[] = [];
  const forget = entry.subscribe(() => void values.push(entry.get()));
  entry.set(1);
  localStorage.setItem("share", "2");
  window.dispatchEvent(new StorageEvent("storage", { key: "another" }));
  window.dispatchEvent(new StorageEvent("storage", { key: "share" }));
  forget();
  entry.set(3);
  expect(values).toEqual([1, 2]);
});

test("clears a member's values for the next member, but not the browser's", () => {
  setStorageOwner("ana");
  sessionStorage.setItem("lightdesk.run", "a draft");
  sessionStorage.setItem("of another product", "its own");
  localStorage.setItem("lightdesk.run.workflows", "[]");
  localStorage.setItem("lightdesk.run.split", "0.4");
  setStorageOwner("ana");
  expect([sessionStorage.getItem("lightdesk.run"), localStorage.getItem("lightdesk.run.workflows")]).toEqual(["a draft", "[]"]);
  setStorageOwner("bo");
  expect([sessionStorage.getItem("lightdesk.run"), localStorage.getItem("lightdesk.run.workflows")]).toEqual([null, null]);
  expect([sessionStorage.getItem("of another product"), localStorage.getItem("lightdesk.run.split")]).toEqual(["its own", "0.4"]);
});

test("leaves nothing in the tab on sign-out, nor from late writes", () => {
  const draft = persisted("lightdesk.run", number, tabStorage);
  draft.set(1);
  clearPersonalStorage();
  expect(sessionStorage.getItem("lightdesk.run")).toBeNull();
  draft.set(2);
  expect(Object.keys(sessionStorage)).toEqual([]);
});
