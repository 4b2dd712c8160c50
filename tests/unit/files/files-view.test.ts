import { beforeEach, describe, expect, test, vi } from "vitest";
import { toSearchParams } from "@/app/(console)/params";
import { deleteFiles, listFiles } from "@/components/files/file-dialogs";
import { MAX_TEXT_BYTES, readText, toText } from "@/components/files/file-panel";
import {
  fileApiPath,
  filesHref,
  filesParams,
  moveApiPath,
  ROWS,
  toCrumbs,
  toFilesView,
  toFolderName,
  within,
} from "@/components/files/files-view";
import { type Work } from "@/lib/browser/bulk/bulk-calls";
import { parseSearch } from "@/lib/contract/params";

const DEFAULT_QUERY = parseSearch(filesParams, new URLSearchParams()).query;

const listedFiles = [
  { path: "b 10%.json", size: 10, modified: 1_767_225_600_000 },
  { path: "B2.json", size: 5, modified: 1_767_225_700 },
  { path: "deep/er/ünï.txt", size: 7, modified: "2026-01-02T00:00:00Z" },
  { path: "deep/one.txt", size: 3, modified: undefined },
];
const names = (view: ReturnType<typeof toFilesView>) => view.rows.map(({ name }) => name);

test("derives folders from paths, lists them first and sums sizes", () => {
  const view = toFilesView(listedFiles, DEFAULT_QUERY);
  expect(names(view)).toEqual(["deep", "b 10%.json", "B2.json"]);
  expect(view.rows[0]).toMatchObject({ kind: "folder", path: "deep/", files: 2, bytes: 10, modifiedMs: Date.parse("2026-01-02") });
  expect(view).toMatchObject({ files: 4, bytes: 25, total: 3 });
});

test("shows nested files flat on request and filters case-insensitively", () => {
  expect(names(toFilesView(listedFiles, { ...DEFAULT_QUERY, all: true }))).toHaveLength(4);
  expect(names(toFilesView(listedFiles, { ...DEFAULT_QUERY, all: true, name: "ÜN" }))).toEqual(["deep/er/ünï.txt"]);
});

test("finds names in any Unicode spelling and counts files in folders", () => {
  const spelt = [{ path: "u\u0308.txt" }, { path: "a/\u00fc.txt" }];
  expect(toFilesView(spelt, { ...DEFAULT_QUERY, name: "\u00fc" })).toMatchObject({ rows: [{ path: "u\u0308.txt" }], counts: 2 });
  expect(toFilesView(spelt.slice(1), { ...DEFAULT_QUERY, name: "\u00dc" })).toMatchObject({ rows: [], counts: 1 });
});

test("sorts sizes and times both ways and distinguishes seconds from milliseconds", () => {
  const by = (sort: "size" | "modified", order: "asc" | "desc") =>
    names(toFilesView(listedFiles.slice(0, 2), { ...DEFAULT_QUERY, sort, order }));
  expect(by("size", "asc")).toEqual(["B2.json", "b 10%.json"]);
  expect(by("modified", "desc")).toEqual(["B2.json", "b 10%.json"]);
});

test("uses whole paths in a folder that contains its own name", () => {
  const query = { ...DEFAULT_QUERY, dir: "deep/" };
  const [row] = toFilesView([{ path: "one.txt", size: 3, modified: undefined }], query).rows;
  expect(row).toMatchObject({ path: "deep/one.txt", name: "one.txt" });
  const [same] = toFilesView([{ path: "deep/one.txt", size: 3, modified: undefined }], query).rows;
  expect(same).toMatchObject({ kind: "folder", path: "deep/deep/", name: "deep" });
});

test("pages a listing of a hundred thousand files", () => {
  const manyFiles = Array.from({ length: 100_000 }, (_, index) => ({ path: `f${index}`, size: 1, modified: undefined }));
  const view = toFilesView(manyFiles, { ...DEFAULT_QUERY, offset: ROWS });
  expect([view.rows.length, view.total, view.rows[0]?.name]).toEqual([ROWS, 100_000, `f${ROWS}`]);
});

test("round-trips spaces, percent signs, slashes and any script in the address", () => {
  expect(fileApiPath("a b/100%25/ü?.json", { connection: "c" })).toBe("/api/userdata/a%20b%2F100%2525%2F%C3%BC%3F.json?connection=c");
  expect(moveApiPath("a/b", "c/d", { overwrite: false })).toBe("/api/userdata/a%2Fb/move/c%2Fd?overwrite=false&full_info=true");
});

const readFiles = (params: Record<string, string>) => parseSearch(filesParams, toSearchParams(params));

test("stores non-default settings in the address and names bad values", () => {
  const query = { dir: "a b/", all: true, name: "x&y", sort: "size", order: "desc", offset: ROWS } as const;
  const params = Object.fromEntries(new URL(filesHref(query), "http://x").searchParams);
  expect(readFiles(params)).toEqual({ query, ignored: [] });
  expect(filesHref(DEFAULT_QUERY)).toBe("/files");
  const bad = readFiles({ dir: "../up/", sort: "colour", offset: "-1", name: "kept" });
  expect(bad).toEqual({ query: { ...DEFAULT_QUERY, name: "kept" }, ignored: ["dir=../up/", "sort=colour", "offset=-1"] });
  expect(readFiles({ dir: "a" }).query.dir).toBe("a/");
});

test("derives folders from a path and refuses odd names before sending", () => {
  expect(toCrumbs("a/b/")).toEqual([
    { name: "a", dir: "a/" },
    { name: "b", dir: "a/b/" },
  ]);
  expect([toCrumbs("/"), within("/", "x"), within("a/", "x")]).toEqual([[], "x", "a/x"]);
  expect(["", " ", "..", "a/../b", "a\\b", "a//b"].map(toFolderName)).toEqual(Array(6).fill(undefined));
  expect(toFolderName("/a/b/")).toBe("a/b");
});

test("reads UTF-8 without NUL as text and tolerates a cut letter", () => {
  const cut = new TextEncoder().encode("aü").subarray(0, 2);
  expect(toText(cut, false)).toEqual({ kind: "text", text: "a", isWhole: false });
  expect(toText(cut, true)).toEqual({ kind: "bytes" });
  expect(toText(new Uint8Array([65, 0]), true)).toEqual({ kind: "bytes" });
});

describe("file removals", () => {
  const paths = Array.from({ length: 10 }, (_, at) => `old/${at}.json`);
  let deleted: string[];
  let responses: Record<string, () => Response>;
  let maxInFlight: number;
  let underWay: number;

  const refusal = (status: number, code: string) => () => Response.json({ error: { code, message: "" } }, { status });

  beforeEach(() => {
    [deleted, responses, maxInFlight, underWay] = [[], {}, 0, 0];
    vi.stubGlobal("fetch", async (address: string, init: RequestInit = {}) => {
      const { pathname, searchParams } = new URL(address, "http://console");
      if (init.method !== "DELETE") {
        const dir = `${searchParams.get("dir")}/`.replaceAll(/\/+/g, "/");
        return Response.json(paths.filter((path) => path.startsWith(dir)).map((path) => ({ path: path.slice(dir.length) })));
      }
      const path = decodeURIComponent(pathname.split("/").at(-1) ?? "");
      underWay += 1;
      maxInFlight = Math.max(maxInFlight, underWay);
      await Promise.resolve();
      underWay -= 1;
      deleted.push(path);
      return responses[path]?.() ?? new Response(null, { status: 204 });
    });
  });

  function work(controller = new AbortController(), done: number[] = []): Work {
    return { connection: "c", signal: controller.signal, onDone: (count) => done.push(count), onWait: () => undefined };
  }
  const getOutcomes = (entries: readonly { outcome: string }[]) => entries.map(({ outcome }) => outcome);

  test("deletes a folder file by file, four at a time", async () => {
    const files = await listFiles(["old/", "old/3.json"], "c");
    if (!files.ok) throw new Error("the folder was not listed");
    expect(files.value.map(({ id }) => id).sort()).toEqual(paths);
    const progressCounts: number[] = [];
    const entries = await deleteFiles(files.value, work(undefined, progressCounts));
    expect([deleted.toSorted(), maxInFlight, progressCounts]).toEqual([paths, 4, [4, 4, 2]]);
    expect(new Set(getOutcomes(entries))).toEqual(new Set(["deleted"]));
  });

  test("reports why a file was refused and stops at a general failure", async () => {
    const files = paths.map((id) => ({ id }));
    responses["old/0.json"] = refusal(404, "NOT_FOUND");
    responses["old/5.json"] = refusal(501, "NOT_IMPLEMENTED");
    const entries = await deleteFiles(files, work());
    expect(entries[0]).toMatchObject({ outcome: "failed", failure: { status: 404 } });
    expect(getOutcomes(entries.slice(1))).toEqual([
      "deleted",
      "deleted",
      "deleted",
      "deleted",
      "unable",
      "deleted",
      "deleted",
      "notDone",
      "notDone",
    ]);
  });
});

test("reads an endless body without ranges only to the limit", async () => {
  const chunk = new Uint8Array(64 * 1024).fill(97);
  const state = { pulled: 0, isAbandoned: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        state.pulled += 1;
        controller.enqueue(chunk);
      },
      cancel: () => void (state.isAbandoned = true),
    },
    { highWaterMark: 0 },
  );
  vi.stubGlobal("fetch", async () => new Response(body));
  const text = await readText("endless.txt", "c");
  expect(text.ok && text.value.kind === "text" && [text.value.text.length, text.value.isWhole]).toEqual([MAX_TEXT_BYTES, false]);
  // One chunk beyond the limit shows that there is more.
  expect(state).toEqual({ pulled: MAX_TEXT_BYTES / chunk.length + 1, isAbandoned: true });
});

test("reads an empty file as empty text and returns a refusal", async () => {
  vi.stubGlobal("fetch", async () => new Response(null, { status: 416 }));
  expect(await readText("empty.txt", "c")).toEqual({ ok: true, value: { kind: "text", text: "", isWhole: true } });
  vi.stubGlobal("fetch", async () => Response.json({ code: "NOT_FOUND", message: "", request_id: "r" }, { status: 404 }));
  expect(await readText("gone.txt", "c")).toMatchObject({ ok: false, failure: { status: 404 } });
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("network")));
  expect(await readText("gone.txt", "c")).toMatchObject({ ok: false, failure: { code: "CONSOLE_UNREACHABLE" } });
});
