import { act, cleanup, createEvent, fireEvent, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { checkPicture, type SendPicture, toAssetValue, type UploadResponse } from "@/components/run/form/controls/picture-api";
import { PictureControl } from "@/components/run/form/controls/picture-control";
import { type RunApi } from "@/components/run/run-actions";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { toFileRef, toImageValue } from "@/lib/contract/assets/file-refs";
import { assetsResponseSchema } from "@/lib/contract/schemas/asset";
import { failed, ok, type Result } from "@/lib/shared/result";
import { renderPage } from "../render";

type PictureUpload = {
  file: File;
  onProgress: (fraction: number) => void;
  signal: AbortSignal;
  finish: (result: Result<UploadResponse & { isKnown?: boolean }, ApiFailure>) => void;
};

// jsdom can't decode images or create object URLs.
beforeEach(() => {
  vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: ({ name }: File) => `blob:${name}`, revokeObjectURL: () => undefined }));
});

const decode = (file: File) => (file.name.startsWith("bad") ? Promise.reject(new Error("no picture")) : Promise.resolve());
const getPictureSource = () => screen.getByRole("img", { name: "Image of Photo" }).getAttribute("src");
const getPictureName = () => screen.getByRole<HTMLInputElement>("textbox", { name: "Image name" }).value;
const chooseFiles = (...files: File[]) => act(async () => void fireEvent.change(screen.getByTestId("picture-file"), { target: { files } }));
const failUpload = (upload: PictureUpload | undefined) =>
  act(async () => upload?.finish(failed({ code: "TRUNCATED_UPLOAD", message: "", status: 400 })));
const createPngFile = (fileName: string) => new File(["x"], fileName, { type: "image/png" });

const asset = { id: "a1", name: "hero.png", asset_hash: `blake3:${"ab".repeat(32)}`, tags: ["output"], mime_type: "image/png" };
const otherAsset = { ...asset, id: "a2", name: "notes.txt", mime_type: "text/plain" };
const maskLayer = { ...asset, id: "a3", name: "hero-paint.png", tags: ["mask-layer"] };
const listAssets: RunApi["listAssets"] = async ({ name_contains, exclude_tags = [] }) => {
  const pictures = [asset, otherAsset, maskLayer].filter(
    ({ name, tags }) => name.includes(name_contains) && !tags.some((tag) => exclude_tags.includes(tag)),
  );
  return ok(assetsResponseSchema.parse({ assets: pictures, total: pictures.length, has_more: false }));
};

function show({ first = "photo.png", storedName = async () => undefined }: { first?: string; storedName?: RunApi["findStoredName"] } = {}) {
  const uploads: PictureUpload[] = [];
  const running: boolean[] = [];
  const values: unknown[] = [];
  const sendPicture: SendPicture = (file, options) => new Promise((finish) => uploads.push({ file, ...options, finish }));
  function Host() {
    const [value, setValue] = useState<unknown>(first);
    const [names, setNames] = useState<Record<string, string>>({});
    return (
      <PictureControl
        id="x"
        nodeTitle="Photo"
        value={value}
        onChange={(next) => {
          values.push(next);
          setValue(next);
        }}
        picture={{
          ownNames: names,
          onNamed: (sentName, ownName) => setNames((ownNames) => ({ ...ownNames, [sentName]: ownName })),
          canSend: true,
          sendPicture,
          decode,
          listAssets,
          findStoredName: storedName,
        }}
        onRunning={(isRunning) => running.push(isRunning)}
      />
    );
  }
  const view = renderPage(<Host />);
  return { uploads, running, values, ...view };
}

describe("the picture of a node", () => {
  it("is replaced on screen immediately, and in the graph after the upload", async () => {
    const { uploads, running, values } = show();
    expect(getPictureSource()).toBe("/api/console/thumbnail?filename=photo.png&type=input&edge=512");
    await chooseFiles(createPngFile("mine.png"));
    expect(getPictureSource()).toBe("blob:mine.png");
    expect(getPictureName()).toBe("photo.png");
    act(() => uploads[0]?.onProgress(0.5));
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("50");
    await act(async () => uploads[0]?.finish(ok({ name: "4be1.png", subfolder: "", type: "input" })));
    expect(getPictureName()).toBe("mine.png");
    expect(values.at(-1)).toBe("4be1.png");
    expect(getPictureSource()).toBe("blob:mine.png");
    expect(screen.getByText("mine.png uploaded")).toBeTruthy();
    expect(running).toEqual([true, false]);
    await chooseFiles(createPngFile("known.png"));
    await act(async () => uploads[1]?.finish(ok({ name: "77aa.png", type: "input", isKnown: true })));
    expect(screen.getByText("known.png is already on the service; nothing was sent")).toBeTruthy();
    expect(values.at(-1)).toBe("77aa.png");
  });

  it.each([
    ["photo.png", " The previous image was kept."],
    ["", ""],
  ])("is kept when files are damaged, aren't a single image or fail to upload: %j", async (first, keptText) => {
    const { uploads } = show({ first });
    await chooseFiles(new File(["x"], "bad.txt", { type: "text/plain" }));
    expect(screen.getByText(`bad.txt is not an image.${keptText}`)).toBeTruthy();
    await chooseFiles(createPngFile("a.png"), createPngFile("b.png"));
    expect(screen.getByText("You dropped 2 files. Drop one image.")).toBeTruthy();
    await chooseFiles(createPngFile("bad.png"));
    expect(screen.getByText(`Couldn't read bad.png as an image. It may be damaged or incomplete.${keptText}`)).toBeTruthy();
    expect(uploads).toHaveLength(0);
    await chooseFiles(createPngFile("mine.png"));
    await failUpload(uploads[0]);
    expect(screen.getByText(`Couldn't upload mine.png.${keptText}`)).toBeTruthy();
    expect(getPictureName()).toBe(first);
  });

  it("is kept after a failed upload, which can be retried until another name is typed", async () => {
    const { uploads, running, values } = show();
    await chooseFiles(createPngFile("mine.png"));
    await failUpload(uploads[0]);
    expect(getPictureSource()).toContain("photo.png");
    expect(running).toEqual([true, false]);
    await act(async () => void fireEvent.click(screen.getByRole("button", { name: "Try again" })));
    expect(uploads.map(({ file }) => file.name)).toEqual(["mine.png", "mine.png"]);
    await failUpload(uploads[1]);
    expect(screen.getByText(/^Couldn't upload mine.png/)).toBeTruthy();
    fireEvent.change(screen.getByRole("textbox", { name: "Image name" }), { target: { value: "photo.pn" } });
    expect(screen.queryByText(/Couldn't upload/)).toBeNull();
    expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
    expect(values).toEqual(["photo.pn"]);
  });

  it("ignores files dropped on or pasted into a dialog", async () => {
    const { uploads } = show();
    await act(async () => void fireEvent.click(screen.getByRole("button", { name: "From assets" })));
    const dialog = await screen.findByRole("dialog");
    const files = [createPngFile("mine.png")];
    const drop = createEvent.drop(dialog, { dataTransfer: { types: ["Files"], files } });
    const paste = createEvent.paste(dialog, { clipboardData: { files, getData: () => "" } });
    for (const event of [drop, paste]) await act(async () => void fireEvent(dialog, event));
    // Without a handler, the browser would open the file, and the page would add it to the assets.
    expect([drop.defaultPrevented, paste.defaultPrevented, uploads]).toEqual([true, true, []]);
    await act(
      async () => void fireEvent.drop(screen.getByRole("img", { name: "Image of Photo" }), { dataTransfer: { types: ["Files"], files } }),
    );
    expect(uploads).toHaveLength(1);
  });

  it("uses the newest file and ignores the responses for older files", async () => {
    const { uploads, values } = show();
    await chooseFiles(createPngFile("first.png"));
    await chooseFiles(createPngFile("second.png"));
    expect(uploads[0]?.signal.aborted).toBe(true);
    await act(async () => uploads[0]?.finish(ok({ name: "first-hash.png" })));
    expect(getPictureName()).toBe("photo.png");
    await act(async () => uploads[1]?.finish(ok({ name: "second-hash.png" })));
    expect(getPictureName()).toBe("second.png");
    expect(values).toEqual(["second-hash.png"]);
  });

  it("shows the local filename, with the stored name on hover and in Copy", async () => {
    const { uploads, values } = show();
    const getNameInput = () => screen.getByRole("textbox", { name: "Image name" });
    expect(screen.queryByRole("button", { name: /^Copy/ })).toBeNull();
    await chooseFiles(createPngFile("mine.png"));
    await act(async () => uploads[0]?.finish(ok({ name: "4be1.png" })));
    expect(getPictureName()).toBe("mine.png");
    expect(getNameInput().title).toBe("4be1.png");
    expect(screen.getByRole("button", { name: "Copy 4be1.png" })).toBeTruthy();
    fireEvent.focus(getNameInput());
    expect(getPictureName()).toBe("4be1.png");
    fireEvent.blur(getNameInput());
    expect(getPictureName()).toBe("mine.png");
    expect(values).toEqual(["4be1.png"]);
    fireEvent.focus(getNameInput());
    fireEvent.change(getNameInput(), { target: { value: "other.png" } });
    fireEvent.blur(getNameInput());
    expect(getPictureName()).toBe("other.png");
    expect(screen.queryByRole("button", { name: /^Copy/ })).toBeNull();
  });

  it("shows the asset's name for a content-addressed picture", async () => {
    const contentName = `${"ab".repeat(32)}.png`;
    const requests: string[] = [];
    const storedName: RunApi["findStoredName"] = async (value) => {
      requests.push(value);
      return value === contentName ? "hero.png" : undefined;
    };
    const { values } = show({ first: contentName, storedName });
    await waitFor(() => expect(getPictureName()).toBe("hero.png"));
    expect(screen.getByRole("button", { name: `Copy ${contentName}` })).toBeTruthy();
    expect(values).toEqual([]);
    cleanup();
    const otherFile = `${"cd".repeat(32)}.png`;
    show({ first: otherFile, storedName });
    await waitFor(() => expect(requests).toEqual([contentName, otherFile]));
    expect(getPictureName()).toBe(otherFile);
    cleanup();
    show({ storedName });
    expect(requests).toHaveLength(2);
  });

  it("cancels its upload on Stop and when the page closes", async () => {
    const { uploads, running, unmount } = show();
    await chooseFiles(createPngFile("mine.png"));
    await act(async () => void fireEvent.click(screen.getByRole("button", { name: "Stop" })));
    expect(uploads[0]?.signal.aborted).toBe(true);
    expect(getPictureSource()).toContain("photo.png");
    await chooseFiles(createPngFile("again.png"));
    unmount();
    expect(uploads[1]?.signal.aborted).toBe(true);
    expect(running).toEqual([true, false, true, false]);
  });
});

it("accepts formats that only the service can decode", async () => {
  const check = (name: string, type: string) => checkPicture(new File([], name, { type }), () => Promise.reject(new Error("no")));
  expect(await check("scan.tiff", "image/tiff")).toBe("picture");
  expect(await check("photo.jpg", "image/jpeg")).toBe("broken");
  expect(await check("notes.pdf", "application/pdf")).toBe("not-image");
});

it("parses and writes a picture's name with its folder and type", () => {
  for (const value of ["photo.png", "clips/a b.png", "x.png [output]", "clips/x.png [temp]"]) {
    const { filename, subfolder, type } = toFileRef(value);
    expect(toImageValue({ name: filename, subfolder, type })).toBe(value);
  }
  expect(toFileRef("clips/x.png [temp]")).toEqual({ filename: "x.png", subfolder: "clips", type: "temp" });
  expect(toImageValue({ name: "x.png", subfolder: null })).toBe("x.png");
});

it("uses an asset by its content hash and lists pictures without mask layers", async () => {
  const { values } = show();
  fireEvent.click(screen.getByRole("button", { name: "From assets" }));
  await screen.findByRole("button", { name: "hero.png" });
  for (const name of ["notes.txt", "hero-paint.png"]) expect(screen.queryByRole("button", { name })).toBeNull();
  fireEvent.click(screen.getByRole("checkbox", { name: "Include mask layers" }));
  await screen.findByRole("button", { name: "hero-paint.png" });
  const search = (value: string) => fireEvent.change(screen.getByRole("searchbox", { name: "Name contains" }), { target: { value } });
  search("nothing like it");
  expect(await screen.findByText("No image matches.")).toBeTruthy();
  search("");
  fireEvent.click(await screen.findByRole("button", { name: "hero.png" }));
  expect(values.at(-1)).toBe(`${"ab".repeat(32)}.png`);
  expect(getPictureName()).toBe("hero.png");
  expect(screen.queryByRole("dialog")).toBeNull();
});

it("refers to a local server's asset by file and folder", () => {
  const hash = `blake3:${"ab".repeat(32)}`;
  const file = { filename: "hero.png", subfolder: "a", type: "output" };
  expect(toAssetValue({ name: "Hero", hash, tags: ["output"], file })).toBe("a/hero.png [output]");
  expect(toAssetValue({ name: "Hero", hash, tags: ["input"], file: { ...file, type: "input" } })).toBe("a/hero.png");
  expect(toAssetValue({ name: "hero.png", tags: ["output"] })).toBe("hero.png [output]");
});
