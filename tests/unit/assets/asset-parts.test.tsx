import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { NextIntlClientProvider } from "next-intl";
import { type ReactNode, useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { parseAssetsQuery } from "@/app/(console)/params";
import { AssetPicture } from "@/components/assets/asset-picture";
import { assetsHref } from "@/components/assets/assets-address";
import { AssetsEmpty } from "@/components/assets/assets-footer";
import { AssetsFilters } from "@/components/assets/assets-tools";
import { AssetsViewer } from "@/components/assets/assets-viewer";
import { AssetFacts } from "@/components/assets/detail/asset-facts";
import { AssetSummary } from "@/components/assets/detail/asset-preview";
import { TagDialog } from "@/components/assets/filter/filter-dialogs";
import { AssetTile } from "@/components/assets/gallery/asset-tile";
import { type AssetsSource } from "@/components/assets/gallery/chunk-store";
import { sharedNames } from "@/components/assets/gallery/gallery";
import { createMotion } from "@/components/assets/gallery/motion";
import { createSelection } from "@/components/data-table/selection";
import { createListState, type ListAddress } from "@/components/frame/list/list-state";
import { type AssetsQuery, assetsQuerySchema } from "@/lib/contract/schemas/asset";
import { type AssetDetail, type AssetView } from "@/lib/contract/views/asset-view";
import * as messages from "@/lib/messages/en";
import { eventually } from "@/tests/support/eventually";
import { stubElementSizes } from "@/tests/support/jsdom-parts";
import { inApp, renderInApp } from "../components/render";

const show = (part: ReactNode) =>
  render(
    <NextIntlClientProvider locale="en" timeZone="UTC" now={new Date(0)} messages={messages}>
      {part}
    </NextIntlClientProvider>,
  );

const asset = (id: string, overrides: Partial<AssetDetail> = {}): AssetDetail => ({
  id,
  name: `${id}.png`,
  kind: "image",
  tags: ["output"],
  immutable: false,
  metadata: {},
  others: {},
  ...overrides,
});

describe("the picture of an asset", () => {
  const picture = (overrides: Partial<AssetDetail>) => {
    show(<AssetPicture asset={asset("a", overrides)} connection="c" edge={256} alt="it" />);
    return screen.getByRole("img");
  };
  it("is addressed by content and preview in both densities", () => {
    const image = picture({ hash: "blake3:4b", previewId: "p" });
    expect(image.getAttribute("src")).toBe("/api/console/thumbnail?asset=a&version=blake3%3A4b.p&edge=256&fit=fill&connection=c");
    expect(image.getAttribute("srcset")).toMatch(/version=blake3%3A4b\.p&edge=256\S+ 1x, \S+version=blake3%3A4b\.p&edge=512\S+ 2x/);
  });

  it("is requested again each time without a content hash", () => {
    expect(picture({ previewId: "p" }).getAttribute("src")).toBe("/api/console/thumbnail?asset=a&edge=256&fit=fill&connection=c");
  });

  it("falls back to an icon of its kind when missing", () => {
    fireEvent.error(picture({ name: "scan.tiff" }));
    expect(screen.getByRole("img", { name: "it" }).textContent).toBe("TIFF");
  });

  it("explains an unreadable picture, but not one that only failed to load", async () => {
    const responses = vi.fn<typeof fetch>(async () => new Response(null, { status: 204 }));
    vi.stubGlobal("fetch", responses);
    // Counts only the check in the cache: a lost picture is also requested again after a while.
    const looked = () => responses.mock.calls.filter(([, init]) => init?.cache === "only-if-cached").length;
    fireEvent.error(picture({}));
    expect(await screen.findByText("This picture cannot be read")).toBeTruthy();
    cleanup();
    // A type that browsers may still show is not called unreadable.
    fireEvent.error(picture({ name: "plan.svg" }));
    await eventually(() => expect(screen.getByRole("img", { name: "it" }).textContent).toBe("SVG"));
    cleanup();
    responses.mockRejectedValue(new TypeError("not in the cache"));
    fireEvent.error(picture({}));
    await eventually(() => expect(looked()).toBe(3));
    expect(screen.getByRole("img", { name: "it" }).textContent).toBe("PNG");
  });
});

describe("outputs with equal names", () => {
  const handlers = { toggle: vi.fn(), extend: vi.fn(), band: vi.fn(), settle: vi.fn(), all: vi.fn() };
  const picking = { ...handlers, store: createSelection(), chosen: () => [], isReading: false };
  const getTile = (assetDetail: AssetDetail, otherAssets: AssetDetail[]) => {
    const tileProps = {
      index: 0,
      count: 2,
      locale: "en",
      edge: 256,
      fit: "cover",
      isOpen: false,
      isEarly: false,
      isCurrent: true,
    } as const;
    const isNamesake = sharedNames([assetDetail, ...otherAssets]).has(assetDetail.name);
    show(<AssetTile {...tileProps} asset={assetDetail} isNamesake={isNamesake} motion={createMotion()} picking={picking} />);
    return screen.getByRole("link");
  };
  const output = (id: string, overrides: Partial<AssetDetail> = {}) => asset(id, { name: "x_00001_.png", sizeBytes: 5600, ...overrides });

  it("show their job next to the name, or their size if single", () => {
    const [first, second] = [output("a", { jobId: "9f2c41ab-77" }), output("b", { jobId: "71cc0a10-02" })];
    expect(getTile(first, [second]).textContent).toBe("x_00001_.png9f2c41ab");
    cleanup();
    expect(getTile(first, [asset("c")]).textContent).toBe("x_00001_.png5.6 kB");
  });

  it.each(["../a", "a/b", "a%2Fb", "", "\ud800"])("have no link and give the reason when the id %j can't be opened", (id) => {
    const tile = getTile(output(id), []);
    expect([tile.getAttribute("href"), tile.getAttribute("aria-disabled")]).toEqual([null, "true"]);
    expect(tile.querySelector("[title]")?.getAttribute("title")).toBe("This id can't be opened.");
    expect(tile.textContent).toContain("This id can't be opened.");
  });

  it("show their time when they have no job", () => {
    const assetDetail = output("a", { createdAtMs: Date.parse("2026-03-01T11:56:00Z") });
    expect(getTile(assetDetail, [output("b")]).querySelector("time")?.dateTime).toBe("2026-03-01T11:56:00.000Z");
  });
});

describe("the format of an asset", () => {
  it.each([
    ["Sofa no.2", "image/png", "PNG"],
    ["Portrait of J.Doe", "image/jpeg", "JPEG"],
    ["Portrait of J.md", "image/png", "PNG"],
    ["Offer v1.2", "application/pdf", "PDF"],
    ["hero.jpg", "image/jpeg", "JPG"],
    ["chair.glb", "model/gltf-binary", "GLB"],
    ["layers.psd", "image/vnd.adobe.photoshop", "PSD"],
    ["settings.toml", "text/plain", "TOML"],
    ["model.safetensors", "application/octet-stream", "SAFETENSORS"],
    ["scan.tiff", undefined, "TIFF"],
  ])("of %s, declared as %s, is %s", (name, mimeType, format) => {
    const { container } = show(<AssetSummary asset={asset("a", { name, mimeType })} isShownWhole />);
    expect(container.textContent).toBe(format);
  });
});

describe("an asset's details", () => {
  it("links to its job and offers the whole hash to copy", () => {
    const hash = `blake3:${"4be1".repeat(16)}`;
    show(<AssetFacts asset={asset("a", { jobId: "9f2c41ab-77", hash, metadata: { seed: 40213, sku: "A-1182" } })} />);
    expect(screen.getByRole("link", { name: "9f2c41ab" }).getAttribute("href")).toBe("/jobs/9f2c41ab-77");
    expect(screen.getByText("blake3:4be1…4be1")).toBeTruthy();
    expect(screen.getByRole("button", { name: `Copy ${hash}` })).toBeTruthy();
    expect(screen.getByRole("row", { name: "seed 40213" })).toBeTruthy();
  });

  it("shows common facts and folds technical ones", () => {
    show(<AssetFacts asset={asset("a-1", { jobId: "9f2c41ab-77", hash: `blake3:${"4be1".repeat(16)}`, mimeType: "image/png" })} />);
    const folded = screen.getByText("Technical details").closest("details");
    expect(folded?.open).toBe(false);
    for (const text of ["a-1", "blake3:4be1…4be1", "image/png"]) expect(screen.getByText(text).closest("details")).toBe(folded);
    for (const text of ["9f2c41ab", "Same content", "Metadata"]) expect(screen.getByText(text).closest("details")).toBeNull();
  });

  it("lists nested metadata by path, with exact digits and folded long texts", () => {
    const metadata = { seed: 12345678901234567890n, camera: { lens: "50mm", stops: [1.4, 2] }, prompt: "many words ".repeat(60) };
    show(<AssetFacts asset={asset("a", { metadata })} />);
    expect(screen.getByRole("row", { name: "seed 12345678901234567890" })).toBeTruthy();
    expect(screen.getByRole("row", { name: "camera.lens 50mm" })).toBeTruthy();
    expect(screen.getByRole("row", { name: "camera.stops [1.4,2]" })).toBeTruthy();
    const row = screen.getByRole("row", { name: /^prompt/ });
    expect(row.textContent.length).toBeLessThan(300);
    fireEvent.click(screen.getByRole("button", { name: "Show all" }));
    expect(row.textContent).toContain("many words ".repeat(60));
  });

  it("copies its link with its connection", async () => {
    const writeText = vi.fn(async () => undefined);
    vi.stubGlobal("navigator", { clipboard: { writeText } });
    show(<AssetFacts asset={asset("a")} connectionId="c1" />);
    fireEvent.click(screen.getByRole("button", { name: "Copy page link" }));
    await eventually(() => expect(writeText).toHaveBeenCalledExactlyOnceWith(`${window.location.origin}/assets/a?connection=c1`));
  });

  it("hides rows that the service doesn't send", () => {
    show(<AssetFacts asset={asset("a")} />);
    expect(screen.queryByText("Created")).toBeNull();
    expect(screen.queryByText("Read-only")).toBeNull();
    // Its tag makes it an output, so a job created it.
    expect(screen.getByText("not reported by the service")).toBeTruthy();
    cleanup();
    show(<AssetFacts asset={asset("a", { tags: [], isMutableReported: true })} />);
    expect(screen.getByText("uploaded, not created by a job")).toBeTruthy();
    expect(screen.getByText("Read-only")).toBeTruthy();
  });
});

describe("an empty view", () => {
  it.each([
    [{}, "No assets yet", "/run"],
    [{ name_contains: "x", sort: "name" }, "No assets match", "/assets?sort=name"],
    [{ offset: "600" }, "No assets on this page", "/assets"],
  ])("explains %o and links on", (params, title, href) => {
    const { query } = parseAssetsQuery(params);
    show(<AssetsEmpty listState={createListState(query, { keyOf: assetsHref, getHref: assetsHref, push: () => undefined })} canChange />);
    expect(screen.getByText(title)).toBeTruthy();
    expect(screen.getByRole("link").getAttribute("href")).toBe(href);
  });
});

function Filters({ excluded }: { excluded: string }) {
  const address: ListAddress<AssetsQuery> = { keyOf: JSON.stringify, getHref: () => "/assets", push: () => undefined };
  const [listState] = useState(() => createListState(assetsQuerySchema.parse({ exclude_tags: excluded }), address));
  return <AssetsFilters listState={listState} connectionId="a" seenTags={() => []} />;
}

/** Clicks the tag like a key press, which keeps the focus on it. */
async function forget(tag: string): Promise<HTMLElement> {
  renderInApp(<Filters excluded={tag} />);
  const link = screen.getByText(tag).closest("a");
  if (!link) throw new Error("a tag is a link");
  link.focus();
  await act(async () => void fireEvent.click(link));
  return link;
}

it("moves the focus to Add tag when the third press removes a tag", async () => {
  await forget("portrait");
  expect(screen.queryByText("portrait")).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Filter by tags" }));
});

it("keeps the focus on a system tag after the third press", async () => {
  const link = await forget("output");
  expect(document.activeElement).toBe(link);
  // jsdom does not apply the stylesheet's widths, so check the classes: none hides the focused element.
  expect(link.className.split(" ").filter((name) => name.endsWith(":hidden") && !name.includes("not-focus:"))).toEqual([]);
});

it("offers tags once all responses are there, so no line moves", async () => {
  const responses: ((body: unknown) => void)[] = [];
  vi.stubGlobal("fetch", () => new Promise((resolve) => responses.push((body) => resolve(Response.json(body)))));
  renderInApp(
    <TagDialog query={assetsQuerySchema.parse({})} connectionId="a" loadedTags={["seen"]} onChange={() => {}} onClose={() => {}} />,
  );
  const lines = () => screen.queryAllByRole("listitem", { hidden: true }).length;
  expect(screen.getByText("Loading")).toBeTruthy();
  await act(async () => responses[0]?.(null));
  expect(lines()).toBe(0);
  await act(async () => responses[1]?.({ tag_counts: { listed: 2 } }));
  await eventually(() => expect(lines()).toBe(2));
});

describe("assets viewer", () => {
  const asset = (id: string): AssetView => ({ id, name: `${id}.png`, kind: "image", tags: [], immutable: false, metadata: {} });
  const nothing = () => undefined;

  beforeEach(stubElementSizes);

  function viewer(id: string, rows: readonly AssetView[], want: AssetsSource["request"] = nothing) {
    const source: AssetsSource = {
      ...{ version: 1, total: rows.length, newCount: 0, failure: undefined, atMs: 0, offset: 0, isEmpty: rows.length === 0 },
      ...{ count: rows.length, at: (index) => rows[index], rows: () => [...rows], range: async () => [] },
      ...{ indexOf: (value) => rows.findIndex((row) => row.id === value), request: want, refresh: nothing, patch: nothing },
    };
    const foundIndex = source.indexOf(id);
    const viewing = { isOpen: true, id, at: foundIndex < 0 ? undefined : foundIndex, open: nothing, move: nothing, close: vi.fn() };
    const part = <AssetsViewer source={source} viewing={viewing} onCompare={nothing} isCovered={false} connectionId="c" />;
    return { part, viewing };
  }

  it("shows a linked asset before its list and keeps it in place", async () => {
    vi.stubGlobal("fetch", async () => Response.json({ id: "two", name: "two.png", tags: [], mime_type: "image/png" }));
    const { rerender } = renderInApp(viewer("two", []).part);
    await screen.findByRole("dialog", { name: "two.png, 1 of 1" });
    const [dialog, picture] = [screen.getByRole("dialog"), screen.getByAltText("two.png")];
    rerender(inApp(viewer("two", [asset("one"), asset("two")]).part));
    expect(screen.getByText("2 of 2")).toBeDefined();
    // A newly opened dialog would cover a comparison that was opened over this one.
    expect(screen.getByRole("dialog")).toBe(dialog);
    expect(screen.getByAltText("two.png")).toBe(picture);
    expect(fireEvent.keyDown(screen.getByRole("group", { name: /Picture/ }), { key: "ArrowLeft" })).toBe(false);
  });

  it("closes when its asset is removed", async () => {
    vi.stubGlobal("fetch", async () => Response.json({ code: "NOT_FOUND", message: "no such asset" }, { status: 404 }));
    const { part, viewing } = viewer("gone", [asset("one")]);
    renderInApp(part);
    await waitFor(() => expect(viewing.close).toHaveBeenCalled(), { timeout: 10_000 });
  });

  it("requests no rows once closed, besides the gallery's", () => {
    const want = vi.fn();
    const rows = Array.from({ length: 40 }, (_, index) => asset(`row${index}`));
    const { unmount } = renderInApp(viewer("row20", rows, want).part);
    expect(want.mock.calls).toEqual([[8, 32, "full view"]]);
    unmount();
    expect(want.mock.lastCall).toEqual([0, 0, "full view"]);
  });
});
