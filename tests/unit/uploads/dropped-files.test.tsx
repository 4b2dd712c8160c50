// @vitest-environment jsdom
import { act, cleanup, render } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { useWindowFiles } from "@/components/transfers/ways-in";
import { type Dropped, filesOfDrop, filesOfInput } from "@/lib/browser/files/dropped-files";

afterEach(cleanup);

/** The parts that are used of a browser's drop data. */
type Node = { fullPath: string; isFile: boolean; isDirectory: boolean };
const fileAt = (fullPath: string, isLocked = false): Node => ({
  fullPath,
  isFile: true,
  isDirectory: false,
  ...{
    file: (resolve: (file: File) => void, reject: (cause: Error) => void) =>
      isLocked ? reject(new Error("locked")) : resolve(new File(["x"], fullPath.split("/").at(-1) ?? "")),
  },
});
const folderAt = (fullPath: string, children: Node[]): Node => ({
  fullPath,
  isFile: false,
  isDirectory: true,
  ...{
    createReader() {
      const waiting = [...children];
      // A hundred entries at a time, as in browsers.
      return { readEntries: (resolve: (some: Node[]) => void) => resolve(waiting.splice(0, 100)) };
    },
  },
});
const dropOf = (...entries: Node[]) =>
  filesOfDrop({ items: entries.map((entry) => ({ kind: "file", webkitGetAsEntry: () => entry })), files: [] } as unknown as DataTransfer); // jsdom has no drops

describe("what is dropped", () => {
  it("is walked to the end of its folders, however many files lie in one, with the paths they have there", async () => {
    const many = Array.from({ length: 250 }, (_, at) => fileAt(`/shots/night/${at}.png`));
    const dropped = await dropOf(fileAt("/loose.txt"), folderAt("/shots", [folderAt("/shots/night", many), fileAt("/shots/day.png")]));
    expect(dropped.files.map(({ path }) => path).sort()).toEqual(
      ["loose.txt", "shots/day.png", ...many.map(({ fullPath }) => fullPath.slice(1))].sort(),
    );
    expect([dropped.unreadable, dropped.isCut]).toEqual([0, false]);
  });

  it("leaves out what a system keeps in folders, and says how much that is; a file that was chosen by itself is wanted", async () => {
    const kept = ["a.png", "Thumbs.db.png", "x.ini"];
    const own = [".DS_Store", "Thumbs.db", "ehthumbs.db", "desktop.ini", "Desktop.ini", "._a.png"];
    const dropped = await dropOf(
      fileAt("/.DS_Store"),
      folderAt(
        "/shots",
        [...kept, ...own].map((name) => fileAt(`/shots/${name}`)),
      ),
    );
    expect(dropped).toMatchObject({ leftOut: own.length, unreadable: 0, isCut: false });
    expect(dropped.files.map(({ path }) => path).sort()).toEqual([".DS_Store", ...kept.map((name) => `shots/${name}`)].sort());
    const inFolder = (name: string) => Object.assign(new File([], name), { webkitRelativePath: `shots/${name}` });
    const picked = filesOfInput([...kept, ...own].map(inFolder));
    expect([picked.files.length, picked.leftOut]).toEqual([kept.length, own.length]);
  });

  it("is counted where it cannot be read, and shown as cut where it is too much", async () => {
    expect(await dropOf(fileAt("/a"), fileAt("/b", true))).toMatchObject({ files: [{ path: "a" }], unreadable: 1, isCut: false });
    const folders = Array.from({ length: 120 }, (_, at) =>
      folderAt(
        `/${at}`,
        Array.from({ length: 90 }, (__, of) => fileAt(`/${at}/${of}`)),
      ),
    );
    const dropped = await dropOf(...folders);
    expect([dropped.files.length, dropped.isCut]).toEqual([10_000, true]);
    const picked = filesOfInput(Array.from({ length: 10_001 }, () => new File([], "x")));
    expect([picked.files.length, picked.isCut]).toEqual([10_000, true]);
  });
});

type WindowProps = { onFiles?: (files: Promise<Dropped>) => void; onAddress?: (address: string) => void };
const nothing = () => undefined;
function Window({ onFiles = nothing, onAddress = nothing }: WindowProps) {
  return <input aria-label={String(useWindowFiles({ isOn: true, onFiles, onAddress }))} />;
}

describe("what is pasted", () => {
  it("is taken anywhere on the page, but not where a field has the cursor, and not without a file", () => {
    const taken: Promise<Dropped>[] = [];
    const { getByRole } = render(<Window onFiles={(files) => taken.push(files)} />);
    const paste = (target: Element, files: File[]) => {
      const event = new Event("paste", { bubbles: true, cancelable: true });
      target.dispatchEvent(Object.assign(event, { clipboardData: { files, getData: () => "" } }));
      return event.defaultPrevented;
    };
    const picture = new File(["x"], "a.png");
    expect(paste(getByRole("textbox"), [picture])).toBe(false);
    expect(paste(document.body, [])).toBe(false);
    expect(taken).toHaveLength(0);
    expect(paste(document.body, [picture])).toBe(true);
    expect(taken).toHaveLength(1);
  });
});

describe("an address", () => {
  function desk() {
    const addresses: string[] = [];
    const { getByRole } = render(<Window onAddress={(address) => addresses.push(address)} />);
    /** True if the handler prevented the browser's default action. */
    const send = (target: Element, type: string, data: Record<string, string> = {}) => {
      const event = new Event(type, { bubbles: true, cancelable: true });
      const transfer = { files: [], items: [], types: Object.keys(data), getData: (kind: string) => data[kind] ?? "" };
      act(() => void target.dispatchEvent(Object.assign(event, { dataTransfer: transfer, clipboardData: transfer })));
      return event.defaultPrevented;
    };
    return { addresses, send, field: getByRole("textbox") };
  }

  it("that is pasted as text is taken, with others below it, and any other text is not", () => {
    const { addresses, send, field } = desk();
    expect(send(document.body, "paste", { "text/plain": " https://a.example/x.bin\n\nhttps://b.example/y.bin\n" })).toBe(true);
    expect(addresses).toEqual(["https://a.example/x.bin\nhttps://b.example/y.bin"]);
    for (const text of ["see https://a.example/x.bin", "a.example/x.bin", "mailto:a@b.example", ""])
      expect(send(document.body, "paste", { "text/plain": text })).toBe(false);
    expect(send(field, "paste", { "text/plain": "https://a.example/x.bin" })).toBe(false);
    expect(addresses).toHaveLength(1);
  });

  it("that is dragged here from another page is taken, where the browser would have gone to it; a link of this page is not", () => {
    const { addresses, send, field } = desk();
    const link = { "text/uri-list": "# a comment\r\nhttps://a.example/x.bin\r\n", "text/html": "<a>" };
    expect(send(document.body, "dragover", link)).toBe(true);
    expect(field.getAttribute("aria-label")).toBe("addresses");
    expect(send(document.body, "drop", link)).toBe(true);
    expect(field.getAttribute("aria-label")).toBe("undefined");
    expect(addresses).toEqual(["https://a.example/x.bin"]);
    send(document.body, "dragstart");
    expect([send(document.body, "dragover", link), send(document.body, "drop", link)]).toEqual([false, false]);
    send(document.body, "dragend");
    expect([send(field, "dragover", link), send(field, "drop", link)]).toEqual([false, false]);
    expect(addresses).toHaveLength(1);
  });
});
