import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, test, vi } from "vitest";
import { AssetPicker, type PickedAsset } from "@/components/run/form/controls/asset-picker";
import { MediaControl } from "@/components/run/form/controls/media-control";
import { type PictureContext } from "@/components/run/form/controls/picture-api";
import { assetsAnswerSchema } from "@/lib/contract/schemas/asset";
import { failed, ok } from "@/lib/shared/result";
import { eventually } from "@/tests/support/eventually";
import { createApi, openText, show } from "../page";
import { renderPage } from "../render";

const names = ["one", "two", "three", "four", "five"].map((name) => `${name}.png`);
const assets = names.map((name, index) => ({
  id: `asset-${index}`,
  name,
  asset_hash: `blake3:${String(index).repeat(64)}`,
  mime_type: "image/png",
  tags: ["input"],
}));

test("selects a range of pictures with Shift in both directions", async () => {
  const picks: PickedAsset[][] = [];
  const { listAssets, storedName, sendPicture } = createApi(undefined, {
    listAssets: async () => ok(assetsAnswerSchema.parse({ assets, total: assets.length, has_more: false })),
  });
  const picture = { listAssets, storedName, sendPicture, canSend: true, onNamed: () => undefined };
  renderPage(<AssetPicker isOpen isMany picture={picture} onClose={() => undefined} onPicked={(pictures) => picks.push(pictures)} />);
  const tile = (name: string) => screen.getByRole("button", { name, hidden: true });
  await screen.findByRole("button", { name: "five.png", hidden: true });
  fireEvent.click(tile("four.png"));
  fireEvent.click(tile("two.png"), { shiftKey: true });
  expect(names.map((name) => tile(name).getAttribute("aria-pressed"))).toEqual(["false", "true", "true", "true", "false"]);
  fireEvent.click(tile("three.png"));
  fireEvent.click(tile("five.png"), { shiftKey: true });
  expect(names.map((name) => tile(name).getAttribute("aria-pressed"))).toEqual(["false", "true", "true", "true", "true"]);
  fireEvent.click(screen.getByRole("button", { name: "Use 4 pictures", hidden: true }));
  expect(picks.map((pictures) => pictures.map(({ name }) => name).sort())).toEqual([["five.png", "four.png", "three.png", "two.png"]]);
});

const unreachable = failed({ code: "CONSOLE_UNREACHABLE", message: "", status: 0 });

const unlisted = "This service does not list this file.";

it.each([
  ["a name that is not in it", "gone.mp4", ["there.mp4"], true],
  ["a name that is in it", "there.mp4", ["there.mp4"], false],
  ["the same, with its folder's word", "there.mp4 [input]", ["there.mp4"], false],
  ["a file of another folder than the one that is listed", "made.mp4 [output]", ["there.mp4"], false],
  ["a file below the folder, where the list tells of none", "clips/made.mp4", ["there.mp4"], false],
  ["a file below the folder, where the list tells of some", "clips/made.mp4", ["clips/other.mp4"], true],
  ["content by its hash", `${"ab".repeat(32)}.mp4`, ["there.mp4"], false],
  ["anything, where the service lists nothing", "gone.mp4", [], true],
  ["anything, where the list is not known", "gone.mp4", undefined, false],
  ["no file at all", "", ["there.mp4"], false],
  ["a name that every object inherits", "constructor", ["there.mp4"], true],
])("checks the service's list of videos, %s", (_, value, options, isMarked) => {
  const picture: PictureContext = {
    listAssets: async () => unreachable,
    storedName: async () => undefined,
    onNamed: () => undefined,
    canSend: true,
    sendPicture: async () => unreachable,
    ownNames: {},
  };
  const control = { id: "film", media: "video" as const, onChange: () => undefined, onRunning: () => undefined };
  renderPage(<MediaControl {...control} options={options} picture={picture} value={value} />);
  expect(screen.queryByText(unlisted) !== null).toBe(isMarked);
  cleanup();
  renderPage(<MediaControl {...control} options={options} picture={{ ...picture, ownNames: { [value]: "mine.mp4" } }} value={value} />);
  expect(screen.queryByText(unlisted)).toBeNull();
});

it("stops a video upload, keeps the value and frees Run", async () => {
  let end: (() => void) | undefined;
  let isAborted = false;
  const picture: PictureContext = {
    listAssets: async () => unreachable,
    storedName: async () => undefined,
    onNamed: () => undefined,
    canSend: true,
    sendPicture: (_file, { signal, onProgress }) =>
      new Promise((resolve) => {
        onProgress(0.25);
        signal.addEventListener("abort", () => (isAborted = true));
        end = () => resolve(ok({ name: "late.mp4" }));
      }),
  };
  const changes: unknown[] = [];
  const running: boolean[] = [];
  renderPage(
    <MediaControl
      id="film"
      media="video"
      options={[]}
      picture={picture}
      value="old.mp4"
      onChange={(value) => void changes.push(value)}
      onRunning={(isRunning) => void running.push(isRunning)}
    />,
  );
  fireEvent.change(screen.getByTestId("media-file"), { target: { files: [new File(["film"], "new.mp4", { type: "video/mp4" })] } });
  expect((await screen.findByRole("progressbar", { name: "Uploading new.mp4" })).getAttribute("aria-valuenow")).toBe("25");
  fireEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(isAborted).toBe(true);
  await act(async () => end?.());
  expect(screen.queryByRole("progressbar")).toBeNull();
  expect(changes).toEqual([]);
  expect(running).toEqual([true, false]);
});

// The note about a file that the service's list lacks: the list may be older than the file.
describe("unlisted note", () => {
  let files: string[];
  let reads: (() => void)[];
  let isFailing: boolean;

  beforeEach(() => {
    files = ["old.png"];
    reads = [];
    isFailing = false;
    vi.stubGlobal("fetch", async (path: string) => {
      if (!String(path).includes("object_info")) return Response.json({ code: "NOT_FOUND" }, { status: 404 });
      await new Promise<void>((resolve) => void reads.push(resolve));
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
        images.flatMap((image, at) => [
          [`${at}`, { class_type: "LoadImage", inputs: { image } }],
          [`s${at}`, { class_type: "SaveImage", inputs: { images: [`${at}`, 0] } }],
        ]),
      ),
    );
  const resolveRead = (at: number) => act(async () => reads[at]?.());
  const expectReads = (count: number) => eventually(() => expect(reads).toHaveLength(count));

  it("rereads an outdated list once before showing anything", async () => {
    show(createApi(undefined));
    await openText(workflow("old.png"));
    await expectReads(1);
    await resolveRead(0);
    expect(screen.queryByText(unlisted)).toBeNull();
    files = ["old.png", "cat.png"];
    await openText(workflow("cat.png", "gone.png", "old.png"));
    await expectReads(2);
    expect(screen.queryByText(unlisted)).toBeNull();
    await resolveRead(1);
    expect(await screen.findAllByText(unlisted)).toHaveLength(1);
    // A file that is now in the list needs no further request.
    await openText(workflow("cat.png"));
    expect(screen.queryByText(unlisted)).toBeNull();
    expect(reads).toHaveLength(2);
  });

  it("trusts a list read for this opening and ignores an unreadable one", async () => {
    show(createApi(undefined));
    await openText(workflow("gone.png"));
    await expectReads(1);
    await resolveRead(0);
    expect(await screen.findByText(unlisted)).toBeTruthy();
    expect(reads).toHaveLength(1);
    isFailing = true;
    await openText(workflow("other.png"));
    await expectReads(2);
    await resolveRead(1);
    expect(screen.queryByText(unlisted)).toBeNull();
    expect(screen.queryByText(/could not be read/)).toBeNull();
  });

  it("marks a file when the service lists none", async () => {
    files = [];
    show(createApi(undefined));
    await openText(workflow("photo.png"));
    await expectReads(1);
    await resolveRead(0);
    expect(await screen.findAllByText(unlisted)).toHaveLength(1);
  });
});
