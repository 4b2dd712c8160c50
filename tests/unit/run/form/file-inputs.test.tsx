import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, test } from "vitest";
import { AssetPicker, type PickedAsset } from "@/components/run/form/controls/asset-picker";
import { MediaControl } from "@/components/run/form/controls/media-control";
import { type PictureContext } from "@/components/run/form/controls/picture-api";
import { assetsResponseSchema } from "@/lib/contract/schemas/asset";
import { ok } from "@/lib/shared/result";
import { eventually } from "@/tests/support/eventually";
import { renderPage } from "../render";
import { createApi, openText, showRunPage, stubNodeList } from "../run-page";

const names = ["one", "two", "three", "four", "five"].map((name) => `${name}.png`);
const assets = names.map((name, index) => ({
  id: `asset-${index}`,
  name,
  asset_hash: `blake3:${String(index).repeat(64)}`,
  mime_type: "image/png",
  tags: ["input"],
}));

test("selects a range of pictures with Shift click in both directions", async () => {
  const picks: PickedAsset[][] = [];
  const listAssets: PictureContext["listAssets"] = async () =>
    ok(assetsResponseSchema.parse({ assets, total: assets.length, has_more: false }));
  renderPage(
    <AssetPicker
      isOpen
      isMultiple
      picture={{ ...picture, listAssets }}
      onClose={() => undefined}
      onPicked={(pictures) => picks.push(pictures)}
    />,
  );
  const getTile = (name: string) => screen.getByRole("button", { name, hidden: true });
  const getSelectedNames = () => names.filter((name) => getTile(name).getAttribute("aria-pressed") === "true");
  await screen.findByRole("button", { name: "five.png", hidden: true });
  fireEvent.click(getTile("four.png"));
  fireEvent.click(getTile("two.png"), { shiftKey: true });
  expect(getSelectedNames()).toEqual(["two.png", "three.png", "four.png"]);
  fireEvent.click(getTile("three.png"));
  fireEvent.click(getTile("five.png"), { shiftKey: true });
  expect(getSelectedNames()).toEqual(["two.png", "three.png", "four.png", "five.png"]);
  fireEvent.click(screen.getByRole("button", { name: "Use 4 images", hidden: true }));
  expect(picks.map((pictures) => pictures.map(({ name }) => name).sort())).toEqual([["five.png", "four.png", "three.png", "two.png"]]);
});

const picture: PictureContext = { ...createApi(undefined), canSend: true, onNamed: () => undefined, ownNames: {} };
const unlistedNotice = "This service does not list this file.";

it.each([
  ["a missing file", "gone.mp4", ["there.mp4"], true],
  ["a listed file", "there.mp4", ["there.mp4"], false],
  ["a listed file with a folder suffix", "there.mp4 [input]", ["there.mp4"], false],
  ["a file in a folder that is not listed", "made.mp4 [output]", ["there.mp4"], false],
  ["a file in a subfolder when no subfolder is listed", "clips/made.mp4", ["there.mp4"], false],
  ["a missing file in a listed subfolder", "clips/made.mp4", ["clips/other.mp4"], true],
  ["a content hash", `${"ab".repeat(32)}.mp4`, ["there.mp4"], false],
  ["any file when the list is empty", "gone.mp4", [], true],
  ["any file when the list is unknown", "gone.mp4", undefined, false],
  ["no file", "", ["there.mp4"], false],
  ["a name inherited from Object.prototype", "constructor", ["there.mp4"], true],
])("shows a notice only for a file missing from the service's list: %s", (_, value, options, isNoticeExpected) => {
  const controlProps = { id: "film", media: "video" as const, onChange: () => undefined, onRunning: () => undefined };
  renderPage(<MediaControl {...controlProps} options={options} picture={picture} value={value} />);
  expect(screen.queryByText(unlistedNotice) !== null).toBe(isNoticeExpected);
  cleanup();
  renderPage(
    <MediaControl {...controlProps} options={options} picture={{ ...picture, ownNames: { [value]: "mine.mp4" } }} value={value} />,
  );
  expect(screen.queryByText(unlistedNotice)).toBeNull();
});

it("keeps the value and enables Run when a video upload is stopped", async () => {
  let finishUpload: (() => void) | undefined;
  let isAborted = false;
  const sendPicture: PictureContext["sendPicture"] = (_file, { signal, onProgress }) =>
    new Promise((resolve) => {
      onProgress(0.25);
      signal.addEventListener("abort", () => (isAborted = true));
      finishUpload = () => resolve(ok({ name: "late.mp4" }));
    });
  const changes: unknown[] = [];
  const running: boolean[] = [];
  renderPage(
    <MediaControl
      id="film"
      media="video"
      options={[]}
      picture={{ ...picture, sendPicture }}
      value="old.mp4"
      onChange={(value) => void changes.push(value)}
      onRunning={(isRunning) => void running.push(isRunning)}
    />,
  );
  fireEvent.change(screen.getByTestId("media-file"), { target: { files: [new File(["film"], "new.mp4", { type: "video/mp4" })] } });
  expect((await screen.findByRole("progressbar", { name: "Uploading new.mp4" })).getAttribute("aria-valuenow")).toBe("25");
  fireEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(isAborted).toBe(true);
  await act(async () => finishUpload?.());
  expect(screen.queryByRole("progressbar")).toBeNull();
  expect(changes).toEqual([]);
  expect(running).toEqual([true, false]);
});

// The notice about a file missing from the service's list. The list may be older than the file.
describe("unlisted file notice", () => {
  let files: string[];
  let pendingReads: (() => void)[];
  let isFailing: boolean;

  beforeEach(() => {
    files = ["old.png"];
    pendingReads = [];
    isFailing = false;
    stubNodeList(async () => {
      await new Promise<void>((resolve) => void pendingReads.push(resolve));
      if (isFailing) return Response.json({ code: "INTERNAL", message: "" }, { status: 500 });
      const image = [files, { image_upload: true }];
      return Response.json({
        LoadImage: { name: "LoadImage", input: { required: { image } }, output: ["IMAGE"] },
        SaveImage: { name: "SaveImage", input: { required: { images: ["IMAGE"] } }, output: [], output_node: true },
      });
    });
  });

  const workflow = (...images: string[]) =>
    JSON.stringify(
      Object.fromEntries(
        images.flatMap((image, index) => [
          [`${index}`, { class_type: "LoadImage", inputs: { image } }],
          [`s${index}`, { class_type: "SaveImage", inputs: { images: [`${index}`, 0] } }],
        ]),
      ),
    );
  const resolveRead = (index: number) => act(async () => pendingReads[index]?.());
  const expectReads = (count: number) => eventually(() => expect(pendingReads).toHaveLength(count));

  it("appears only after an outdated list was reloaded once", async () => {
    showRunPage(createApi(undefined));
    await openText(workflow("old.png"));
    await expectReads(1);
    await resolveRead(0);
    expect(screen.queryByText(unlistedNotice)).toBeNull();
    files = ["old.png", "cat.png"];
    await openText(workflow("cat.png", "gone.png", "old.png"));
    await expectReads(2);
    expect(screen.queryByText(unlistedNotice)).toBeNull();
    await resolveRead(1);
    expect(await screen.findAllByText(unlistedNotice)).toHaveLength(1);
    // A file in the reloaded list needs no further request.
    await openText(workflow("cat.png"));
    expect(screen.queryByText(unlistedNotice)).toBeNull();
    expect(pendingReads).toHaveLength(2);
  });

  it("uses a list loaded for this workflow and ignores a failed load", async () => {
    showRunPage(createApi(undefined));
    await openText(workflow("gone.png"));
    await expectReads(1);
    await resolveRead(0);
    expect(await screen.findByText(unlistedNotice)).toBeTruthy();
    expect(pendingReads).toHaveLength(1);
    isFailing = true;
    await openText(workflow("other.png"));
    await expectReads(2);
    await resolveRead(1);
    expect(screen.queryByText(unlistedNotice)).toBeNull();
    expect(screen.queryByText(/could not be read/)).toBeNull();
  });
});
