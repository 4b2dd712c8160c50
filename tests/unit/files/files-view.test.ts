import { expect, test } from "vitest";
import { toSearchParams } from "@/app/(console)/params";
import { toText } from "@/components/files/file-panel";
import {
  crumbsOf,
  fileApiPath,
  filesHref,
  filesParams,
  moveApiPath,
  ROWS,
  toFilesView,
  toFolderName,
  within,
} from "@/components/files/files-view";
import { readAddress } from "@/lib/contract/params";

const usualQuery = readAddress(filesParams, new URLSearchParams()).query;

const listed = [
  { path: "b 10%.json", size: 10, modified: 1_767_225_600_000 },
  { path: "B2.json", size: 5, modified: 1_767_225_700 },
  { path: "deep/er/ünï.txt", size: 7, modified: "2026-01-02T00:00:00Z" },
  { path: "deep/one.txt", size: 3, modified: undefined },
];
const names = (view: ReturnType<typeof toFilesView>) => view.rows.map(({ name }) => name);

test("folders are read off the paths, stand first, and sum up what is below them", () => {
  const view = toFilesView(listed, usualQuery);
  expect(names(view)).toEqual(["deep", "b 10%.json", "B2.json"]);
  expect(view.rows[0]).toMatchObject({ kind: "folder", path: "deep/", files: 2, bytes: 10, modifiedMs: Date.parse("2026-01-02") });
  expect(view).toMatchObject({ files: 4, bytes: 25, total: 3 });
});

test("what is in folders is shown flat on request, and a name filters without regard to case", () => {
  expect(names(toFilesView(listed, { ...usualQuery, all: true }))).toHaveLength(4);
  expect(names(toFilesView(listed, { ...usualQuery, all: true, name: "ÜN" }))).toEqual(["deep/er/ünï.txt"]);
});

test("a name is found however its letters are spelt, and what only folders hold is counted", () => {
  const spelt = [{ path: "u\u0308.txt" }, { path: "a/\u00fc.txt" }];
  expect(toFilesView(spelt, { ...usualQuery, name: "\u00fc" })).toMatchObject({ rows: [{ path: "u\u0308.txt" }], below: 2 });
  expect(toFilesView(spelt.slice(1), { ...usualQuery, name: "\u00dc" })).toMatchObject({ rows: [], below: 1 });
});

test("sizes and times sort both ways, and seconds and milliseconds are told apart", () => {
  const by = (sort: "size" | "modified", order: "asc" | "desc") => names(toFilesView(listed.slice(0, 2), { ...usualQuery, sort, order }));
  expect(by("size", "asc")).toEqual(["B2.json", "b 10%.json"]);
  expect(by("modified", "desc")).toEqual(["B2.json", "b 10%.json"]);
});

test("the files of a folder have their whole path, also where it holds nothing but a folder of its own name", () => {
  const query = { ...usualQuery, dir: "deep/" };
  const [row] = toFilesView([{ path: "one.txt", size: 3, modified: undefined }], query).rows;
  expect(row).toMatchObject({ path: "deep/one.txt", name: "one.txt" });
  const [same] = toFilesView([{ path: "deep/one.txt", size: 3, modified: undefined }], query).rows;
  expect(same).toMatchObject({ kind: "folder", path: "deep/deep/", name: "deep" });
});

test("a listing of a hundred thousand files is shown in pages", () => {
  const many = Array.from({ length: 100_000 }, (_, index) => ({ path: `f${index}`, size: 1, modified: undefined }));
  const view = toFilesView(many, { ...usualQuery, offset: ROWS });
  expect([view.rows.length, view.total, view.rows[0]?.name]).toEqual([ROWS, 100_000, `f${ROWS}`]);
});

test("every letter of a path survives the address: blanks, percent signs, slashes, other scripts", () => {
  expect(fileApiPath("a b/100%25/ü?.json", { connection: "c" })).toBe("/api/userdata/a%20b%2F100%2525%2F%C3%BC%3F.json?connection=c");
  expect(moveApiPath("a/b", "c/d", { overwrite: false })).toBe("/api/userdata/a%2Fb/move/c%2Fd?overwrite=false&full_info=true");
});

const readFiles = (params: Record<string, string>) => readAddress(filesParams, toSearchParams(params));

test("the address says what differs from the usual, and is read back; bad values are left out and named", () => {
  const query = { dir: "a b/", all: true, name: "x&y", sort: "size", order: "desc", offset: ROWS } as const;
  const params = Object.fromEntries(new URL(filesHref(query), "http://x").searchParams);
  expect(readFiles(params)).toEqual({ query, ignored: [] });
  expect(filesHref(usualQuery)).toBe("/files");
  const bad = readFiles({ dir: "../up/", sort: "colour", offset: "-1", name: "kept" });
  expect(bad).toEqual({ query: { ...usualQuery, name: "kept" }, ignored: ["dir=../up/", "sort=colour", "offset=-1"] });
  expect(readFiles({ dir: "a" }).query.dir).toBe("a/");
});

test("folders on the way are told from a path, and odd names are refused before anything is sent", () => {
  expect(crumbsOf("a/b/")).toEqual([
    { name: "a", dir: "a/" },
    { name: "b", dir: "a/b/" },
  ]);
  expect([crumbsOf("/"), within("/", "x"), within("a/", "x")]).toEqual([[], "x", "a/x"]);
  expect(["", " ", "..", "a/../b", "a\\b", "a//b"].map(toFolderName)).toEqual(Array(6).fill(undefined));
  expect(toFolderName("/a/b/")).toBe("a/b");
});

test("bytes are text where they are UTF-8 without NUL, and a letter cut at the bound is no fault", () => {
  const cut = new TextEncoder().encode("aü").subarray(0, 2);
  expect(toText(cut, false)).toEqual({ kind: "text", text: "a", isWhole: false });
  expect(toText(cut, true)).toEqual({ kind: "bytes" });
  expect(toText(new Uint8Array([65, 0]), true)).toEqual({ kind: "bytes" });
});
