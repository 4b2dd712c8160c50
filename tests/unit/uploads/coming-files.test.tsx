// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type WayRequest } from "@/components/transfers/uploads/upload-item";
import { UploadsRoom } from "@/components/transfers/uploads-room";
import { type Dropped, droppedOf } from "@/lib/browser/files/dropped-files";
import { inApp, renderInApp } from "../components/render";

beforeEach(() => {
  vi.stubGlobal("fetch", async () => Response.json({}));
  // jsdom does not implement modal dialogs.
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const dropped = (...names: string[]): Dropped => droppedOf(names.map((name) => ({ path: name, file: new File(["x"], name) })));

async function desk() {
  let id = 0;
  const room = (request: WayRequest) => inApp(<UploadsRoom request={request} canAdd />);
  const { rerender } = renderInApp(null);
  const ask = (wish: { way: "files"; dropped: Promise<Dropped> } | { way: "url"; address?: string }) =>
    act(async () => rerender(room({ id: ++id, ...wish })));
  return { ask, drop: (files: Promise<Dropped>) => ask({ way: "files", dropped: files }) };
}
function later() {
  let arrive: (dropped: Dropped) => void = () => undefined;
  const promise = new Promise<Dropped>((resolve) => (arrive = resolve));
  return { promise, arrive };
}
const question = (name: string) => screen.findByRole("dialog", { name });

test("files that are dropped while others wait to be added are added to them", async () => {
  const { drop } = await desk();
  await drop(Promise.resolve(dropped("one.bin")));
  await question("Add 1 file");
  await drop(Promise.resolve({ ...dropped("two.bin", "three.bin"), unreadable: 1 }));
  await question("Add 3 files");
  expect(screen.getByText("one.bin")).toBeTruthy();
  expect(screen.getByText("1 file could not be read and will be skipped.")).toBeTruthy();
});

test("a folder that is still read loses nothing to a second drop, and one that was cancelled does not come back", async () => {
  const { drop } = await desk();
  const folder = later();
  await drop(folder.promise);
  await question("Reading files…");
  await drop(Promise.resolve(dropped("two.bin")));
  await question("Add 1 file");
  await act(async () => folder.arrive(dropped("shots/one.bin")));
  await question("Add 2 files");
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  const other = later();
  await drop(other.promise);
  await question("Reading files…");
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  await act(async () => other.arrive(dropped("late.bin")));
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("addresses that somebody types stay where files are dropped beside them", async () => {
  const { ask, drop } = await desk();
  await ask({ way: "url" });
  const box = await screen.findByLabelText<HTMLTextAreaElement>("Addresses, one per line");
  fireEvent.change(box, { target: { value: "https://example.com/a.bin" } });
  await drop(Promise.resolve(dropped("one.bin")));
  await question("Add 1 file");
  expect(box.value).toBe("https://example.com/a.bin");
  expect(box.isConnected).toBe(true);
});

test("an address that was pasted is among those to fetch, and another one below it", async () => {
  const { ask } = await desk();
  await ask({ way: "url", address: "https://example.com/a.bin" });
  const box = await screen.findByLabelText<HTMLTextAreaElement>("Addresses, one per line");
  expect(box.value).toBe("https://example.com/a.bin");
  fireEvent.change(box, { target: { value: "https://example.com/b.bin" } });
  await ask({ way: "url", address: "https://example.com/c.bin" });
  expect(box.value).toBe("https://example.com/b.bin\nhttps://example.com/c.bin");
});
