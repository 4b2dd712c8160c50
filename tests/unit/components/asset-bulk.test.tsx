import { act, cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { type ComponentProps } from "react";
import { afterEach, expect, it, vi } from "vitest";
import { type AssetRights } from "@/components/assets/asset-api";
import { BulkBar } from "@/components/assets/bulk/bulk-bar";
import { dismissToast, toastStore } from "@/components/ui/toast-store";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { ACTION_HEADER } from "@/lib/shared/headers";
import { renderInApp, wrapInApp } from "./render";
import { advanceTime, press } from "./render-screen";

afterEach(() => toastStore.getState().forEach(({ id }) => dismissToast(id)));

const asset = (id: string, overrides: Partial<AssetView> = {}): AssetView => ({
  ...{ id, name: `${id}.png`, kind: "image", tags: ["wip"], immutable: false, metadata: {} },
  ...overrides,
});
const createAssets = (count: number) => Array.from({ length: count }, (_, index) => asset(`a${index + 1}`));
type BulkBarProps = ComponentProps<typeof BulkBar>;
const rights: AssetRights = { can: () => true, canTag: true, restrictionReason: undefined };

type SentRequest = { path: string; method: string; json: unknown };
/** Replaces `fetch`: records requests and responds like the console. Only services with the full API list tags. */
function mockFetch(respond: (request: SentRequest) => Response | Promise<Response>, hasTags = true): SentRequest[] {
  const requests: SentRequest[] = [];
  const respondToFetch = async (path: string, { method = "GET", body }: RequestInit = {}) => {
    if (path.startsWith("/api/console/optional/tags?")) return Response.json(hasTags ? { tags: [] } : null);
    if (path.startsWith("/api/console/capabilities?"))
      return Response.json({ "tags.list": hasTags, "tags.remove": hasTags, "assets.edit": hasTags, "assets.delete": hasTags });
    const request = { path, method, json: body === undefined || body === null ? undefined : JSON.parse(String(body)) };
    requests.push(request);
    return respond(request);
  };
  vi.stubGlobal("fetch", vi.fn(respondToFetch));
  return requests;
}
const createBar = (selected: BulkBarProps["selected"], overrides: Partial<BulkBarProps> = {}) => (
  <BulkBar
    selected={selected}
    total={selected.kind === "named" ? selected.assets.length : selected.total}
    connectionId="c1"
    rights={rights}
    isLoading={false}
    onDone={vi.fn()}
    onCompare={vi.fn()}
    onClear={vi.fn()}
    onRestored={vi.fn()}
    {...overrides}
  />
);
function show(assets: AssetView[], connectionId = "c1") {
  const onDone = vi.fn();
  renderInApp(createBar({ kind: "named", assets }, { connectionId, onDone }));
  return onDone;
}
/** Opens the tags dialog, types the tags and confirms. */
async function changeTags(name: string, tags: string) {
  await press(name);
  fireEvent.change(screen.getByRole("textbox", { name: "Tags" }), { target: { value: tags } });
  const dialog = within(screen.getByRole("dialog"));
  await act(async () => void fireEvent.click(dialog.getByRole("button", { name })));
}
const findText = (text: string) => screen.findByText(text);
async function openResultLines(): Promise<(string | null)[]> {
  await press("Show results");
  const rows = within(screen.getByRole("dialog")).getAllByRole("row").slice(1);
  return rows.map(({ textContent }) => textContent);
}
const createEmptyResponse = () => new Response(null, { status: 204 });
/** Responds to the pending requests only when `respond` is called. */
function mockSlowFetch() {
  const pendingResponses: (() => void)[] = [];
  const requests = mockFetch(() => new Promise((resolve) => pendingResponses.push(() => resolve(createEmptyResponse()))));
  return { requests, respond: () => act(async () => pendingResponses.splice(0).forEach((resolve) => resolve())) };
}

it("asks for confirmation when more than five assets are deleted", async () => {
  const requests = mockFetch(createEmptyResponse);
  show([...createAssets(13), asset("fixed", { immutable: true })]);
  await press("Delete");
  const dialog = within(screen.getByRole("dialog"));
  expect(within(dialog.getByRole("list", { name: "Assets to delete" })).getAllByRole("img")).toHaveLength(12);
  expect(dialog.getByText("and 1 more")).toBeDefined();
  expect(dialog.queryByRole("img", { name: "fixed.png" })).toBeNull();
  await press("Cancel");
  expect(screen.queryByRole("dialog")).toBeNull();
  cleanup();
  show(createAssets(5));
  await press("Delete");
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(requests).toEqual([]);
});

it("deletes assets when the Undo window ends and keeps immutable ones", async () => {
  vi.useFakeTimers();
  const requests = mockFetch(({ path }) => {
    if (path.includes("a2")) return Response.json({ code: "NOT_FOUND", message: "no such asset" }, { status: 404 });
    if (path.includes("a3")) return Response.json({ code: "CONFLICT", message: "a job needs it" }, { status: 409 });
    return createEmptyResponse();
  });
  const onDone = show([...createAssets(3), asset("shipped", { immutable: true })]);
  await press("Delete");
  expect(screen.getByText(/^3 assets will be deleted in 5 seconds\. .* 1 of them is read-only and won't be deleted\.$/)).toBeDefined();
  await press("Undo");
  await advanceTime(6_000);
  expect(requests).toEqual([]);
  await press("Delete");
  await advanceTime(4_900);
  expect(requests).toEqual([]);
  await advanceTime(200);
  expect(screen.getByText("1 deleted, 1 read-only, 1 not found, 1 refused")).toBeDefined();
  const deletes = requests.filter(({ method }) => method === "DELETE").map(({ path }) => path);
  expect(deletes).toEqual(["/api/assets/a1?connection=c1", "/api/assets/a2?connection=c1", "/api/assets/a3?connection=c1"]);
  expect(onDone).toHaveBeenCalledTimes(1);
  expect(await openResultLines()).toEqual([
    "a1.pnga1Deleted",
    "a2.pnga2Not found",
    "a3.pnga3Refused. It already exists, or someone else changed it. Reason: a job needs it",
    "shipped.pngshippedSkipped: it is read-only",
  ]);
});

it("sends pending deletions immediately when the page closes", async () => {
  const { requests, respond } = mockSlowFetch();
  show(createAssets(5));
  await press("Delete");
  expect(requests).toEqual([]);
  await act(async () => void window.dispatchEvent(new Event("pagehide")));
  expect(requests.map(({ method }) => method)).toEqual(Array(5).fill("DELETE"));
  const actionIds = vi
    .mocked(fetch)
    .mock.calls.flatMap(([, init]) => (init?.method === "DELETE" ? new Headers(init.headers).get(ACTION_HEADER) : []));
  expect(new Set(actionIds)).toEqual(new Set([expect.stringMatching(/^[\da-f-]{36}$/)]));
  await respond();
});

it("finishes requests in progress and lists them when stopped", async () => {
  const { requests, respond } = mockSlowFetch();
  const onDone = show([...createAssets(10), asset("fixed", { immutable: true })]);
  await press("Delete");
  await press("Delete 10 assets");
  await findText("Deleting 0 of 10");
  expect(requests).toHaveLength(4);
  await press("Stop");
  expect(screen.getByRole("button", { name: "Stopping" }).getAttribute("aria-disabled")).toBe("true");
  await respond();
  await findText("4 deleted, 1 read-only, 6 not processed");
  expect(requests).toHaveLength(4);
  expect(onDone.mock.calls[0]?.[1]).toHaveLength(11);
  const resultLines = await openResultLines();
  expect(resultLines.slice(3, 5)).toEqual(["a4.pnga4Deleted", "a5.pnga5Skipped: you stopped the action"]);
});

it("stops immediately when the service doesn't support the operation", async () => {
  const requests = mockFetch(({ method }) =>
    method === "DELETE"
      ? Response.json({ code: "NOT_IMPLEMENTED", message: "" }, { status: 501 })
      : Response.json({ id: "x", name: "x", tags: [] }),
  );
  show(createAssets(9));
  await press("Delete");
  await press("Delete 9 assets");
  await findText("4 skipped: not supported by this service, 5 not processed");
  expect(requests.filter(({ method }) => method === "DELETE")).toHaveLength(4);
});

it("restores tags only on assets that had them when a removal is undone", async () => {
  const requests = mockFetch(({ path, method, json }) => {
    if (!path.includes("/tags?")) return Response.json({ tags: [] });
    const [noChanges, tags] = [{ added: [], removed: [], already_present: [], not_present: [] }, ["wip"]];
    if (method === "POST") return Response.json({ ...noChanges, total_tags: tags, added: tags });
    const wasTagged = path.includes("a1") || path.includes("a2");
    expect(json).toEqual({ tags });
    return Response.json({ ...noChanges, total_tags: [], ...(wasTagged ? { removed: tags } : { not_present: tags }) });
  });
  show(createAssets(3));
  await changeTags("Remove tags", "wip");
  await findText("2 untagged, 1 did not have it");
  await press("Undo");
  await findText("2 tagged");
  expect(requests.filter(({ method }) => method === "POST").map(({ path }) => path)).toEqual([
    "/api/assets/a1/tags?connection=c1",
    "/api/assets/a2/tags?connection=c1",
  ]);
});

it("lists the added and existing tags of each asset", async () => {
  mockFetch(({ path }) => {
    const existingTags = path.includes("a1/") ? ["wip"] : [];
    const newTags = ["wip", "seen"].filter((tag) => !existingTags.includes(tag));
    return Response.json({ total_tags: ["wip", "seen"], added: newTags, removed: [], already_present: existingTags, not_present: [] });
  });
  show(createAssets(2));
  await changeTags("Add tags", "wip, seen");
  await findText("2 tagged");
  expect(await openResultLines()).toEqual(["a1.pnga1Added: seen · already had: wip", "a2.pnga2Added: wip, seen"]);
});

it("retries only failed items and keeps the other results", async () => {
  let isUnavailable = true;
  const requests = mockFetch(({ path }) =>
    isUnavailable && !path.includes("a1?")
      ? Response.json({ code: "UPSTREAM_FAILED", message: "" }, { status: 500 })
      : createEmptyResponse(),
  );
  show(createAssets(6));
  await press("Delete");
  await press("Delete 6 assets");
  await findText("1 deleted, 5 with an unknown result");
  isUnavailable = false;
  requests.length = 0;
  await press("Retry 5");
  await findText("6 deleted");
  expect(requests).toHaveLength(5);
  expect(screen.queryByRole("button", { name: /^Try again/ })).toBeNull();
  expect(await openResultLines()).toHaveLength(6);
});

it("shows the result as a toast when the member leaves the page", async () => {
  const { respond } = mockSlowFetch();
  show(createAssets(6));
  await press("Delete");
  await press("Delete 6 assets");
  cleanup();
  await respond();
  await waitFor(() => expect(toastStore.getState().map(({ text }) => text)).toEqual(["4 deleted, 2 not processed"]));
});

it("offers only Select all and Clear when a range is loading", () => {
  const createLoadingBar = (isLoading: boolean) =>
    createBar({ kind: "named", assets: createAssets(2) }, { isLoading, total: 5000, onSelectAll: vi.fn() });
  const listUsableButtons = () => {
    const buttons = within(screen.getByRole("region")).getAllByRole("button");
    return buttons.filter((button) => button.closest("[inert]") === null).map(({ textContent }) => textContent);
  };
  const { rerender } = renderInApp(createLoadingBar(true));
  expect(screen.getByRole("status").closest("[inert]")).toBeNull();
  expect(listUsableButtons()).toEqual(["Select all 5,000 matching assets", "Clear selection"]);
  rerender(wrapInApp(createLoadingBar(false)));
  expect(listUsableButtons()).toContain("Delete");
});

it("copies all matching ids and limits an action to 100,000 assets", async () => {
  const copiedTexts: string[] = [];
  vi.stubGlobal("navigator", { clipboard: { writeText: async (text: string) => void copiedTexts.push(text) } });
  const total = 1_234;
  const requests = mockFetch(({ path }) => {
    const { searchParams } = new URL(path, "http://desk.test");
    const [offset, limit] = [Number(searchParams.get("offset")), Number(searchParams.get("limit"))];
    const assets = Array.from({ length: Math.min(limit, total - offset) }, (_, at) => ({ id: `m${offset + at}`, name: "x", tags: [] }));
    return Response.json({ assets, total, has_more: offset + assets.length < total });
  });
  const query = { sort: "created_at", order: "desc", include_public: false, offset: 0, limit: 60 } as const;
  const createMatchingBar = (count: number) => createBar({ kind: "matching", query, total: count, loadedAssets: [] });
  const { rerender } = renderInApp(createMatchingBar(total));
  await press("Copy ids");
  await findText("1,234 assets are ready to copy");
  expect(requests).toHaveLength(3);
  const actionBar = within(screen.getByRole("region", { name: "Actions for the selected assets" }));
  for (const name of ["Copy ids", "Copy links"]) await act(async () => void fireEvent.click(actionBar.getByRole("button", { name })));
  expect(copiedTexts.map((text) => text.split("\n").length)).toEqual([total, total]);
  expect(copiedTexts[1]?.split("\n").at(-1)).toMatch(/^http.*\/assets\/m1233\?connection=c1$/);
  await press("Dismiss");
  rerender(wrapInApp(createMatchingBar(250_000)));
  await press("Delete");
  expect(screen.getByText("You can do this for up to 100,000 assets at a time. Repeat it for the rest.")).toBeDefined();
});

it("hides downloads when one file can't be read", async () => {
  const requests = mockFetch(() => Response.json({ code: "UNSUPPORTED", message: "" }, { status: 404 }), false);
  show(createAssets(2), "core");
  await waitFor(() => expect(screen.queryByRole("button", { name: "Download ZIP" })).toBeNull());
  expect(requests.map(({ path }) => path)).toEqual(["/api/view?filename=a1.png&connection=core"]);
  cleanup();
  show(createAssets(1), "core");
  await findText("1 selected");
  expect(screen.queryByRole("button", { name: "Download" })).toBeNull();
  expect(requests).toHaveLength(1);
});

it("offers downloads when the service has no tags", async () => {
  const requests = mockFetch(() => new Response("a", { status: 206 }), false);
  show(createAssets(2), "plain");
  await waitFor(() => expect(requests).toHaveLength(1));
  expect(screen.getByRole("button", { name: "Download ZIP" })).toBeDefined();
});
