import { expect, test } from "vitest";
import {
  type BrowserStorage,
  clearPersonalStorage,
  createPersistedValue,
  setStorageOwner,
  tabStorage,
} from "@/lib/browser/persisted-value";

const parseNumber = (storedValue: unknown) => (typeof storedValue === "number" ? storedValue : 0);

test("restores a value after a reload from its storage until removed", () => {
  const entry = createPersistedValue("share", parseNumber, tabStorage);
  expect(entry.get()).toBe(0);
  expect(entry.set(46)).toBe(true);
  expect([sessionStorage.getItem("share"), localStorage.getItem("share")]).toEqual(["46", null]);
  const reloadedEntry = createPersistedValue("share", parseNumber, tabStorage);
  expect(reloadedEntry.get()).toBe(46);
  reloadedEntry.remove();
  expect([entry.get(), sessionStorage.getItem("share")]).toEqual([0, null]);
});

test("validates values written elsewhere and returns the same object", () => {
  localStorage.setItem("list", "no JSON");
  const entry = createPersistedValue("list", (raw): unknown[] => (Array.isArray(raw) ? raw : [raw]));
  expect(entry.get()).toEqual(["no JSON"]);
  localStorage.setItem("list", "[1]");
  expect(entry.get()).toEqual([1]);
  expect(entry.get()).toBe(entry.get());
});

test("keeps a value in memory and reports it when storage fails", () => {
  const unavailableStorage: BrowserStorage = () => {
    throw new Error("no storage here");
  };
  const unsavedEntry = createPersistedValue("share", parseNumber, unavailableStorage);
  expect([unsavedEntry.get(), unsavedEntry.set(7), unsavedEntry.get()]).toEqual([0, false, 7]);
  unsavedEntry.remove();
  expect(unsavedEntry.get()).toBe(0);
  const limitedEntry = createPersistedValue("share", parseNumber, tabStorage, { maxCharacters: 2 });
  expect([limitedEntry.set(12), limitedEntry.set(123), limitedEntry.get(), sessionStorage.getItem("share")]).toEqual([
    true,
    false,
    123,
    "12",
  ]);
});

test("notifies listeners of changes in this tab and other tabs", () => {
  const entry = createPersistedValue("share", parseNumber);
  const values: number[] = [];
  const unsubscribe = entry.subscribe(() => void values.push(entry.get()));
  entry.set(1);
  localStorage.setItem("share", "2");
  window.dispatchEvent(new StorageEvent("storage", { key: "another" }));
  window.dispatchEvent(new StorageEvent("storage", { key: "share" }));
  unsubscribe();
  entry.set(3);
  expect(values).toEqual([1, 2]);
});

test("clears a member's values, but not the browser's, for the next member", () => {
  setStorageOwner("ana");
  sessionStorage.setItem("lightdesk.run", "a draft");
  sessionStorage.setItem("other-product", "its own");
  localStorage.setItem("lightdesk.run.workflows", "[]");
  localStorage.setItem("lightdesk.run.split", "0.4");
  setStorageOwner("ana");
  expect([sessionStorage.getItem("lightdesk.run"), localStorage.getItem("lightdesk.run.workflows")]).toEqual(["a draft", "[]"]);
  setStorageOwner("bo");
  expect([sessionStorage.getItem("lightdesk.run"), localStorage.getItem("lightdesk.run.workflows")]).toEqual([null, null]);
  expect([sessionStorage.getItem("other-product"), localStorage.getItem("lightdesk.run.split")]).toEqual(["its own", "0.4"]);
});

test("clears an embedded page's values for the next member", () => {
  window.history.replaceState(null, "", "/embed/host-1/slot0001/run");
  setStorageOwner("ana");
  const draft = createPersistedValue("lightdesk.run", parseNumber);
  draft.set(1);
  setStorageOwner("bo");
  window.history.replaceState(null, "", "/");
  expect(draft.get()).toBe(0);
});

test("clears the tab's values on sign-out and ignores later writes", () => {
  const draft = createPersistedValue("lightdesk.run", parseNumber, tabStorage);
  draft.set(1);
  clearPersonalStorage();
  expect(sessionStorage.getItem("lightdesk.run")).toBeNull();
  draft.set(2);
  expect(Object.keys(sessionStorage)).toEqual([]);
});
