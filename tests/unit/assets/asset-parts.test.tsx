// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { NextIntlClientProvider } from "next-intl";
import { type ReactNode } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { parseAssetsQuery } from "@/app/(console)/assets/assets-query";
import { AssetPicture } from "@/components/assets/asset-picture";
import { assetsHref } from "@/components/assets/assets-address";
import { AssetsEmpty } from "@/components/assets/assets-footer";
import { AssetFacts } from "@/components/assets/detail/asset-facts";
import { AssetSummary } from "@/components/assets/detail/asset-preview";
import { AssetTile } from "@/components/assets/wall/asset-tile";
import { sharedNames } from "@/components/assets/wall/gallery";
import { createMotion } from "@/components/assets/wall/motion";
import { createSelection } from "@/components/data-table/selection/selection";
import { type AssetDetail } from "@/lib/contract/views/asset-view";
import * as messages from "@/lib/messages/en";
import { eventually } from "@/tests/support/eventually";

afterEach(cleanup);

const show = (part: ReactNode) =>
  render(
    <NextIntlClientProvider locale="en" timeZone="UTC" now={new Date(0)} messages={messages}>
      {part}
    </NextIntlClientProvider>,
  );

const asset = (id: string, more: Partial<AssetDetail> = {}): AssetDetail => ({
  id,
  name: `${id}.png`,
  kind: "image",
  tags: ["output"],
  immutable: false,
  metadata: {},
  others: {},
  ...more,
});

describe("the picture of an asset", () => {
  const picture = (more: Partial<AssetDetail>) => {
    show(<AssetPicture asset={asset("a", more)} connection="c" edge={256} alt="it" />);
    return screen.getByRole("img");
  };
  it("is named by content and preview in both densities, so that a browser keeps it until one of them is another", () => {
    const image = picture({ hash: "blake3:4b", previewId: "p" });
    expect(image.getAttribute("src")).toBe("/api/console/thumbnail?asset=a&version=blake3%3A4b.p&edge=256&fit=fill&connection=c");
    expect(image.getAttribute("srcset")).toMatch(/version=blake3%3A4b\.p&edge=256\S+ 1x, \S+version=blake3%3A4b\.p&edge=512\S+ 2x/);
  });

  it("of a service that names no content is asked for again each time", () => {
    expect(picture({ previewId: "p" }).getAttribute("src")).toBe("/api/console/thumbnail?asset=a&edge=256&fit=fill&connection=c");
  });

  it("that does not come gives way to the plate of its kind", () => {
    fireEvent.error(picture({ name: "scan.tiff" }));
    expect(screen.getByRole("img", { name: "it" }).textContent).toBe("TIFF");
  });

  it("that nobody can read says so, and one that only did not come does not", async () => {
    const answers = vi.fn<typeof fetch>(async () => new Response(null, { status: 204 }));
    vi.stubGlobal("fetch", answers);
    // Counts only the check in the cache: a lost picture is also requested again after a while.
    const looked = () => answers.mock.calls.filter(([, init]) => init?.cache === "only-if-cached").length;
    fireEvent.error(picture({}));
    expect(await screen.findByText("This picture cannot be read")).toBeTruthy();
    cleanup();
    // A type that browsers may still show is not called unreadable.
    fireEvent.error(picture({ name: "plan.svg" }));
    await eventually(() => expect(screen.getByRole("img", { name: "it" }).textContent).toBe("SVG"));
    cleanup();
    answers.mockRejectedValue(new TypeError("not in the cache"));
    fireEvent.error(picture({}));
    await eventually(() => expect(looked()).toBe(3));
    expect(screen.getByRole("img", { name: "it" }).textContent).toBe("PNG");
    vi.unstubAllGlobals();
  });
});

describe("outputs that jobs call alike", () => {
  const acts = { toggle: vi.fn(), extend: vi.fn(), band: vi.fn(), settle: vi.fn(), all: vi.fn() };
  const picking = { ...acts, store: createSelection(), chosen: () => [], isReading: false };
  const tileOf = (one: AssetDetail, others: AssetDetail[]) => {
    const place = { index: 0, count: 2, locale: "en", edge: 256, fit: "cover", isOpen: false, isEarly: false, isCurrent: true } as const;
    const isNamesake = sharedNames([one, ...others]).has(one.name);
    show(<AssetTile {...place} asset={one} isNamesake={isNamesake} motion={createMotion()} picking={picking} />);
    return screen.getByRole("link");
  };
  const output = (id: string, more: Partial<AssetDetail> = {}) => asset(id, { name: "x_00001_.png", sizeBytes: 5600, ...more });

  it("have their job beside the name, and one of a kind has its size", () => {
    const [one, other] = [output("a", { jobId: "9f2c41ab-77" }), output("b", { jobId: "71cc0a10-02" })];
    expect(tileOf(one, [other]).textContent).toBe("x_00001_.png9f2c41ab");
    cleanup();
    expect(tileOf(one, [asset("c")]).textContent).toBe("x_00001_.png5.6 kB");
  });

  it.each(["../a", "a/b", "a%2Fb", "", "\ud800"])("have no link and give the reason when the id %j can't be opened", (id) => {
    const tile = tileOf(output(id), []);
    expect([tile.getAttribute("href"), tile.getAttribute("aria-disabled")]).toEqual([null, "true"]);
    expect(tile.querySelector("[title]")?.getAttribute("title")).toBe("This id can't be opened.");
    expect(tile.textContent).toContain("This id can't be opened.");
  });

  it("are known by when they came where no job made them", () => {
    const one = output("a", { createdAtMs: Date.parse("2026-03-01T11:56:00Z") });
    expect(tileOf(one, [output("b")]).querySelector("time")?.dateTime).toBe("2026-03-01T11:56:00.000Z");
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
  ])("of %s, which is said to be %s, is %s", (name, mimeType, format) => {
    const { container } = show(<AssetSummary asset={asset("a", { name, mimeType })} isShownWhole />);
    expect(container.textContent).toBe(format);
  });
});

describe("what is known of an asset", () => {
  it("leads to the job that made it, and has the whole hash to copy", () => {
    const hash = `blake3:${"4be1".repeat(16)}`;
    show(<AssetFacts asset={asset("a", { jobId: "9f2c41ab-77", hash, metadata: { seed: 40213, sku: "A-1182" } })} />);
    expect(screen.getByRole("link", { name: "9f2c41ab" }).getAttribute("href")).toBe("/jobs/9f2c41ab-77");
    expect(screen.getByText("blake3:4be1…4be1")).toBeTruthy();
    expect(screen.getByRole("button", { name: `Copy ${hash}` })).toBeTruthy();
    expect(screen.getByRole("row", { name: "seed 40213" })).toBeTruthy();
  });

  it("shows what people ask for, and folds what only the interface calls by a name", () => {
    show(<AssetFacts asset={asset("a-1", { jobId: "9f2c41ab-77", hash: `blake3:${"4be1".repeat(16)}`, mimeType: "image/png" })} />);
    const folded = screen.getByText("Technical details").closest("details");
    expect(folded?.open).toBe(false);
    for (const text of ["a-1", "blake3:4be1…4be1", "image/png"]) expect(screen.getByText(text).closest("details")).toBe(folded);
    for (const text of ["9f2c41ab", "Same content", "Metadata"]) expect(screen.getByText(text).closest("details")).toBeNull();
  });

  it("names what lies inside its metadata by the way there, keeps every digit, and opens a long text when somebody asks", () => {
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

  it("gives its link to the clipboard, with the connection that it belongs to", async () => {
    const writeText = vi.fn(async () => undefined);
    vi.stubGlobal("navigator", { clipboard: { writeText } });
    show(<AssetFacts asset={asset("a")} connectionId="c1" />);
    fireEvent.click(screen.getByRole("button", { name: "Copy the link to this page" }));
    await eventually(() => expect(writeText).toHaveBeenCalledExactlyOnceWith(`${window.location.origin}/assets/a?connection=c1`));
    vi.unstubAllGlobals();
  });

  it("has no row for what the service does not send", () => {
    show(<AssetFacts asset={asset("a")} />);
    expect(screen.queryByText("Created")).toBeNull();
    expect(screen.queryByText("Read-only")).toBeNull();
    // Its tag makes it an output, so some job made it.
    expect(screen.getByText("not reported by the service")).toBeTruthy();
    cleanup();
    show(<AssetFacts asset={asset("a", { tags: [], isMutableReported: true })} />);
    expect(screen.getByText("uploaded, not made by a job")).toBeTruthy();
    expect(screen.getByText("Read-only")).toBeTruthy();
  });
});

describe("an empty view", () => {
  it.each([
    [{}, "No assets yet", "/run"],
    [{ name_contains: "x", sort: "name" }, "No assets match", "/assets?sort=name"],
    [{ offset: "600" }, "No assets on this page", "/assets"],
  ])("for %o says why and leads on", (params, title, href) => {
    const { query } = parseAssetsQuery(params);
    show(<AssetsEmpty place={{ query, hrefOf: (change) => assetsHref({ ...query, ...change }) }} canChange />);
    expect(screen.getByText(title)).toBeTruthy();
    expect(screen.getByRole("link").getAttribute("href")).toBe(href);
  });
});
