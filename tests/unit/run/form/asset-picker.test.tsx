// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { AssetPicker, type PickedAsset } from "@/components/run/form/controls/asset-picker";
import { assetsAnswerSchema } from "@/lib/contract/schemas/asset";
import { ok } from "@/lib/shared/result";
import { apiTo } from "../page";
import { renderPage } from "../render";

afterEach(cleanup);

const names = ["one", "two", "three", "four", "five"].map((name) => `${name}.png`);
const assets = names.map((name, index) => ({
  id: `asset-${index}`,
  name,
  asset_hash: `blake3:${String(index).repeat(64)}`,
  mime_type: "image/png",
  tags: ["input"],
}));

test("a press with Shift takes every picture from the one before to this one, either way, and keeps what was chosen", async () => {
  const picked: PickedAsset[][] = [];
  const { listAssets, storedName, sendPicture } = apiTo(undefined, {
    listAssets: async () => ok(assetsAnswerSchema.parse({ assets, total: assets.length, has_more: false })),
  });
  const picture = { listAssets, storedName, sendPicture, canSend: true, onNamed: () => undefined };
  renderPage(<AssetPicker isOpen isMany picture={picture} onClose={() => undefined} onPicked={(pictures) => picked.push(pictures)} />);
  const tile = (name: string) => screen.getByRole("button", { name, hidden: true });
  await screen.findByRole("button", { name: "five.png", hidden: true });
  fireEvent.click(tile("four.png"));
  fireEvent.click(tile("two.png"), { shiftKey: true });
  expect(names.map((name) => tile(name).getAttribute("aria-pressed"))).toEqual(["false", "true", "true", "true", "false"]);
  fireEvent.click(tile("three.png"));
  fireEvent.click(tile("five.png"), { shiftKey: true });
  expect(names.map((name) => tile(name).getAttribute("aria-pressed"))).toEqual(["false", "true", "true", "true", "true"]);
  fireEvent.click(screen.getByRole("button", { name: "Use 4 pictures", hidden: true }));
  expect(picked.map((pictures) => pictures.map(({ name }) => name).sort())).toEqual([["five.png", "four.png", "three.png", "two.png"]]);
});
