import { beforeEach, describe, expect, test, vi } from "vitest";
import { toSearchParams } from "@/app/(console)/params";
import { deleteFiles, listFiles } from "@/components/files/file-dialogs";
import { MAX_TEXT_BYTES, readText, toText } from "@/components/files/file-panel";
import {
  filesParams,
  getFileApiPath,
  getFilesHref,
  getMoveApiPath,
  joinPath,
  normalizePath,
  ROWS_PER_PAGE,
  toCrumbs,
  toFilesView,
} from "@/components/files/files-view";
import { type BulkCallContext } from "@/lib/browser/bulk/bulk-calls";
import { parseSearch } from "@/lib/contract/params";

const DEFAULT_QUERY = parseSearch(filesParams, new URLSearchParams()).query;

const listedFiles = [
  { path: "b 10%.json", size: 10, modified: 1_767_225_600_000 },
  { path: "B2.json", size: 5, modified: 1_767_225_700 },
  { path: "deep/er/ünï.txt", size: 7, modified: "2026-01-02T00:00:00Z" },
  { path: "deep/one.txt", size: 3, modified: undefined },
];
const listNames = (view: ReturnType<typeof toFilesView>) => view.rows.map(({ name }) => name);

test("derives folders from paths, lists them first and sums sizes", () => {
  const view = toFilesView(listedFiles, DEFAULT_QUERY);
  expect(listNames(view)).toEqual(["deep", "b 10%.json", "B2.json"]);
  expect(view.rows[0]).toMatchObject({ kind: "folder", path: "deep/", fileCount: 2, bytes: 10, modifiedMs: Date.parse("2026-01-02") });
  expect(view).toMatchObject({ fileCount: 4, bytes: 25, total: 3 });
});

test("shows nested files flat on request and filters case-insensitively", () => {
  expect(listNames(toFilesView(listedFiles, { ...DEFAULT_QUERY, all: true }))).toHaveLength(4);
  expect(listNames(toFilesView(listedFiles, { ...DEFAULT_QUERY, all: true, name: "ÜN" }))).toEqual(["deep/er/ünï.txt"]);
});

test("finds names in any Unicode form and counts matches in folders", () => {
  const files = [{ path: "u\u0308.txt" }, { path: "a/\u00fc.txt" }];
  expect(toFilesView(files, { ...DEFAULT_QUERY, name: "\u00fc" })).toMatchObject({ rows: [{ path: "u\u0308.txt" }], nestedMatchCount: 2 });
  expect(toFilesView(files.slice(1), { ...DEFAULT_QUERY, name: "\u00dc" })).toMatchObject({ rows: [], nestedMatchCount: 1 });
});

test("sorts sizes and times both ways and distinguishes seconds from milliseconds", () => {
  const listSorted = (sort: "size" | "modified", order: "asc" | "desc") =>
    listNames(toFilesView(listedFiles.slice(0, 2), { ...DEFAULT_QUERY, sort, order }));
  expect(listSorted("size", "asc")).toEqual(["B2.json", "b 10%.json"]);
  expect(listSorted("modified", "desc")).toEqual(["B2.json", "b 10%.json"]);
});

test("keeps full paths in a folder with a subfolder of the same name", () => {
  const query = { ...DEFAULT_QUERY, dir: "deep/" };
  const [row] = toFilesView([{ path: "one.txt", size: 3, modified: undefined }], query).rows;
  expect(row).toMatchObject({ path: "deep/one.txt", name: "one.txt" });
  const [folderRow] = toFilesView([{ path: "deep/one.txt", size: 3, modified: undefined }], query).rows;
  expect(folderRow).toMatchObject({ kind: "folder", path: "deep/deep/", name: "deep" });
});

test("paginates a list of 100,000 files", () => {
  const manyFiles = Array.from({ length: 100_000 }, (_, index) => ({ path: `f${index}`, size: 1, modified: undefined }));
  const view = toFilesView(manyFiles, { ...DEFAULT_QUERY, offset: ROWS_PER_PAGE });
  expect([view.rows.length, view.total, view.rows[0]?.name]).toEqual([ROWS_PER_PAGE, 100_000, `f${ROWS_PER_PAGE}`]);
});

test("encodes spaces, percent signs, slashes and any script in API paths", () => {
  expect(getFileApiPath("a b/100%25/ü?.json", { connection: "c" })).toBe("/api/userdata/a%20b%2F100%2525%2F%C3%BC%3F.json?connection=c");
  expect(getMoveApiPath("a/b", "c/d", { overwrite: false })).toBe("/api/userdata/a%2Fb/move/c%2Fd?overwrite=false&full_info=true");
});

const parseParams = (params: Record<string, string>) => parseSearch(filesParams, toSearchParams(params));

test("stores non-default settings in the URL and reports invalid values", () => {
  const query = { dir: "a b/", all: true, name: "x&y", sort: "size", order: "desc", offset: ROWS_PER_PAGE } as const;
  const params = Object.fromEntries(new URL(getFilesHref(query), "http://x").searchParams);
  expect(parseParams(params)).toEqual({ query, ignored: [] });
  expect(getFilesHref(DEFAULT_QUERY)).toBe("/files");
  const result = parseParams({ dir: "../up/", sort: "colour", offset: "-1", name: "kept" });
  expect(result).toEqual({ query: { ...DEFAULT_QUERY, name: "kept" }, ignored: ["dir=../up/", "sort=colour", "offset=-1"] });
  expect(parseParams({ dir: "a" }).query.dir).toBe("a/");
});

test("derives folders from a path and rejects invalid names", () => {
  expect(toCrumbs("a/b/")).toEqual([
    { name: "a", dir: "a/" },
    { name: "b", dir: "a/b/" },
  ]);
  expect([toCrumbs("/"), joinPath("/", "x"), joinPath("a/", "x")]).toEqual([[], "x", "a/x"]);
  expect(["", " ", "..", "a/../b", "a\\b", "a//b"].map(normalizePath)).toEqual(Array(6).fill(undefined));
  expect(normalizePath("/a/b/")).toBe("a/b");
});

test("reads UTF-8 without NUL as text and accepts a truncated character", () => {
  const truncated = new TextEncoder().encode("aü").subarray(0, 2);
  expect(toText(truncated, false)).toEqual({ kind: "text", text: "a", isWhole: false });
  expect(toText(truncated, true)).toEqual({ kind: "bytes" });
  expect(toText(new Uint8Array([65, 0]), true)).toEqual({ kind: "bytes" });
});

describe("file removals", () => {
  const paths = Array.from({ length: 10 }, (_, index) => `old/${index}.json`);
  let deleted: string[];
  let responses: Record<string, () => Response>;
  let maxInFlight: number;
  let inFlightCount: number;

  const createErrorResponse = (status: number, code: string) => () => Response.json({ error: { code, message: "" } }, { status });

  beforeEach(() => {
    [deleted, responses, maxInFlight, inFlightCount] = [[], {}, 0, 0];
    vi.stubGlobal("fetch", async (address: string, init: RequestInit = {}) => {
      const { pathname, searchParams } = new URL(address, "http://console");
      if (init.method !== "DELETE") {
        const dir = `${searchParams.get("dir")}/`.replaceAll(/\/+/g, "/");
        return Response.json(paths.filter((path) => path.startsWith(dir)).map((path) => ({ path: path.slice(dir.length) })));
      }
      const path = decodeURIComponent(pathname.split("/").at(-1) ?? "");
      inFlightCount += 1;
      maxInFlight = Math.max(maxInFlight, inFlightCount);
      await Promise.resolve();
      inFlightCount -= 1;
      deleted.push(path);
      return responses[path]?.() ?? new Response(null, { status: 204 });
    });
  });

  function createWork(controller = new AbortController(), done: number[] = []): BulkCallContext {
    return { connection: "c", signal: controller.signal, onProgress: (count) => done.push(count), onWait: () => undefined };
  }
  const getOutcomes = (entries: readonly { outcome: string }[]) => entries.map(({ outcome }) => outcome);

  test("deletes a folder file by file, four at a time", async () => {
    const files = await listFiles(["old/", "old/3.json"], "c");
    if (!files.ok) throw new Error("the folder was not listed");
    expect(files.value.map(({ id }) => id).sort()).toEqual(paths);
    const progressCounts: number[] = [];
    const entries = await deleteFiles(files.value, createWork(undefined, progressCounts));
    expect([deleted.toSorted(), maxInFlight, progressCounts]).toEqual([paths, 4, [4, 4, 2]]);
    expect(new Set(getOutcomes(entries))).toEqual(new Set(["deleted"]));
  });

  test("reports why a file failed and stops at a general failure", async () => {
    const files = paths.map((id) => ({ id }));
    responses["old/0.json"] = createErrorResponse(404, "NOT_FOUND");
    responses["old/5.json"] = createErrorResponse(501, "NOT_IMPLEMENTED");
    const entries = await deleteFiles(files, createWork());
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
  const state = { pulledChunks: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        state.pulledChunks += 1;
        controller.enqueue(chunk);
      },
      cancel: () => void (state.isCancelled = true),
    },
    { highWaterMark: 0 },
  );
  vi.stubGlobal("fetch", async () => new Response(body));
  const text = await readText("endless.txt", "c");
  expect(text.ok && text.value.kind === "text" && [text.value.text.length, text.value.isWhole]).toEqual([MAX_TEXT_BYTES, false]);
  // One chunk beyond the limit shows that there is more.
  expect(state).toEqual({ pulledChunks: MAX_TEXT_BYTES / chunk.length + 1, isCancelled: true });
});

test("reads an empty file as empty text and returns errors", async () => {
  vi.stubGlobal("fetch", async () => new Response(null, { status: 416 }));
  expect(await readText("empty.txt", "c")).toEqual({ ok: true, value: { kind: "text", text: "", isWhole: true } });
  vi.stubGlobal("fetch", async () => Response.json({ code: "NOT_FOUND", message: "", request_id: "r" }, { status: 404 }));
  expect(await readText("missing.txt", "c")).toMatchObject({ ok: false, failure: { status: 404 } });
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("network")));
  expect(await readText("missing.txt", "c")).toMatchObject({ ok: false, failure: { code: "CONSOLE_UNREACHABLE" } });
});
