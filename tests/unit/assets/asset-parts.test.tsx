// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { NextIntlClientProvider } from "next-intl";
import { type ReactNode } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { AssetFacts } from "@/components/assets/asset-facts";
import { AssetGrid } from "@/components/assets/asset-grid";
import { AssetsEmpty } from "@/components/assets/assets-empty";
import { parseAssetsQuery } from "@/app/(console)/assets/assets-query";
import { type AssetView } from "@/lib/contract/asset-view";
import { messages } from "@/lib/messages/en";

afterEach(cleanup);

const show = (part: ReactNode) =>
  render(
    <NextIntlClientProvider locale="en" timeZone="UTC" now={new Date(0)} messages={messages}>
      {part}
    </NextIntlClientProvider>,
  );

const asset = (id: string, more: Partial<AssetView> = {}): AssetView => ({
  id,
  name: `${id}.png`,
  kind: "image",
  tags: ["output"],
  immutable: false,
  metadata: {},
  ...more,
});

describe("the grid", () => {
  const assets = [asset("a", { sizeBytes: 5_700_000 }), asset("b"), asset("c", { kind: "audio", name: "voice.flac" })];

  it("opens an asset beside itself on a plain press, and leaves a press with a key to the browser", () => {
    const opened: string[] = [];
    show(<AssetGrid assets={assets} onOpen={(id) => opened.push(id)} />);
    const first = screen.getByRole("link", { name: /a\.png/ });
    expect(fireEvent.click(first)).toBe(false);
    // The browser's own way of opening a new tab: the press is not prevented.
    first.addEventListener("click", (event) => event.preventDefault(), { once: true });
    fireEvent.click(first, { ctrlKey: true });
    expect(opened).toEqual(["a"]);
    expect(first.getAttribute("href")).toBe("/assets/a");
  });

  it("shows size and a picture where there can be one, and the kind of file where there cannot", () => {
    show(<AssetGrid assets={assets} connectionId="c1" onOpen={() => undefined} />);
    expect(screen.getByText("5.7 MB")).toBeTruthy();
    expect(document.querySelectorAll("img")).toHaveLength(2);
    expect(document.querySelector("img")?.getAttribute("src")).toBe("/api/console/thumbnail?asset=a&edge=512&connection=c1");
    expect(screen.getByText("FLAC")).toBeTruthy();
  });

  it("moves from picture to picture by key", () => {
    show(<AssetGrid assets={assets} onOpen={() => undefined} />);
    const links = screen.getAllByRole("link");
    links[0]?.focus();
    fireEvent.keyDown(links[0] ?? document.body, { key: "j" });
    expect(document.activeElement).toBe(links[1]);
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

  it("has no row for what the service does not send", () => {
    show(<AssetFacts asset={asset("a")} />);
    expect(screen.queryByText("Created")).toBeNull();
    expect(screen.getByText("uploaded, not made by a job")).toBeTruthy();
  });
});

describe("an empty view", () => {
  it.each([
    [{}, "No assets yet", "/run"],
    [{ name_contains: "x", sort: "name" }, "No asset matches", "/assets?sort=name"],
    [{ offset: "600" }, "This page is past the end", "/assets"],
  ])("for %o says why and leads on", (params, title, href) => {
    show(<AssetsEmpty query={parseAssetsQuery(params).query} canUpload />);
    expect(screen.getByText(title)).toBeTruthy();
    expect(screen.getByRole("link").getAttribute("href")).toBe(href);
  });
});
