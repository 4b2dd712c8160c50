import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { assetValue, checkPicture, type SendPicture, type UploadResponse } from "@/components/run/form/controls/picture-api";
import { PictureControl } from "@/components/run/form/controls/picture-control";
import { type RunApi } from "@/components/run/run-actions";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { toFileRef, toImageValue } from "@/lib/contract/assets/file-refs";
import { assetsAnswerSchema } from "@/lib/contract/schemas/asset";
import { failed, ok, type Result } from "@/lib/shared/result";
import { renderPage } from "../render";

type SentPicture = {
  file: File;
  onProgress: (share: number) => void;
  signal: AbortSignal;
  finish: (result: Result<UploadResponse & { isKnown?: boolean }, ApiFailure>) => void;
};

// jsdom decodes no pictures and creates no object URLs.
beforeEach(() => {
  vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: ({ name }: File) => `blob:${name}`, revokeObjectURL: () => undefined }));
});

const decode = (file: File) => (file.name.startsWith("bad") ? Promise.reject(new Error("no picture")) : Promise.resolve());
const picture = () => screen.getByRole("img", { name: "Picture of Photo" }).getAttribute("src");
const name = () => screen.getByRole<HTMLInputElement>("textbox", { name: "Picture name" }).value;
const choose = (...files: File[]) => act(async () => void fireEvent.change(screen.getByTestId("picture-file"), { target: { files } }));
const png = (fileName: string) => new File(["x"], fileName, { type: "image/png" });

const asset = { id: "a1", name: "hero.png", asset_hash: `blake3:${"ab".repeat(32)}`, tags: ["output"], mime_type: "image/png" };
const otherAsset = { ...asset, id: "a2", name: "notes.txt", mime_type: "text/plain" };
const layer = { ...asset, id: "a3", name: "hero-paint.png", tags: ["mask-layer"] };
const listAssets: RunApi["listAssets"] = async ({ name_contains, exclude_tags = [] }) => {
  const pictures = [asset, otherAsset, layer].filter(
    ({ name, tags }) => name.includes(name_contains) && !tags.some((tag) => exclude_tags.includes(tag)),
  );
  return ok(assetsAnswerSchema.parse({ assets: pictures, total: pictures.length, has_more: false }));
};

function show({ first = "photo.png", storedName = async () => undefined }: { first?: string; storedName?: RunApi["storedName"] } = {}) {
  const requests: SentPicture[] = [];
  const running: boolean[] = [];
  const values: unknown[] = [];
  const sendPicture: SendPicture = (file, options) => new Promise((finish) => requests.push({ file, ...options, finish }));
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
          onNamed: (sentAs, ownName) => setNames((ownNames) => ({ ...ownNames, [sentAs]: ownName })),
          canSend: true,
          sendPicture,
          decode,
          listAssets,
          storedName,
        }}
        onRunning={(isRunning) => running.push(isRunning)}
      />
    );
  }
  const view = renderPage(<Host />);
  return { sent: requests, running, values, ...view };
}

describe("the picture of a node", () => {
  it("is replaced immediately on screen and in the graph once uploaded", async () => {
    const { sent, running, values } = show();
    expect(picture()).toBe("/api/console/thumbnail?filename=photo.png&type=input&edge=512");
    await choose(png("mine.png"));
    expect(picture()).toBe("blob:mine.png");
    expect(name()).toBe("photo.png");
    act(() => sent[0]?.onProgress(0.5));
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("50");
    await act(async () => sent[0]?.finish(ok({ name: "4be1.png", subfolder: "", type: "input" })));
    expect(name()).toBe("mine.png");
    expect(values.at(-1)).toBe("4be1.png");
    expect(picture()).toBe("blob:mine.png");
    expect(screen.getByText("mine.png uploaded")).toBeTruthy();
    expect(running).toEqual([true, false]);
    await choose(png("known.png"));
    await act(async () => sent[1]?.finish(ok({ name: "77aa.png", type: "input", isKnown: true })));
    expect(screen.getByText("known.png is already on the service; nothing was sent")).toBeTruthy();
    expect(values.at(-1)).toBe("77aa.png");
  });

  it("is kept when the new file is damaged or not a picture", async () => {
    const { sent } = show();
    await choose(new File(["x"], "bad.txt", { type: "text/plain" }));
    expect(screen.getByText("bad.txt is not a picture. The previous picture was kept.")).toBeTruthy();
    await choose(png("bad.png"));
    expect(screen.getByText(/Couldn't read bad.png as a picture/)).toBeTruthy();
    expect(sent).toHaveLength(0);
    expect(name()).toBe("photo.png");
    expect(picture()).toContain("photo.png");
  });

  it("is not shown as kept when there was none", async () => {
    const { sent } = show({ first: "" });
    await choose(new File(["x"], "bad.txt", { type: "text/plain" }));
    expect(screen.getByText("bad.txt is not a picture.")).toBeTruthy();
    await choose(png("bad.png"));
    expect(screen.getByText("Couldn't read bad.png as a picture. It may be damaged or incomplete.")).toBeTruthy();
    await choose(png("mine.png"));
    await act(async () => sent[0]?.finish(failed({ code: "TRUNCATED_UPLOAD", message: "", status: 400 })));
    expect(screen.getByText("mine.png could not be uploaded.")).toBeTruthy();
  });

  it("is kept after a failed upload, which can be retried", async () => {
    const { sent, running } = show();
    await choose(png("mine.png"));
    await act(async () => sent[0]?.finish(failed({ code: "TRUNCATED_UPLOAD", message: "", status: 400 })));
    expect(screen.getByText("mine.png could not be uploaded. The previous picture was kept.")).toBeTruthy();
    expect(picture()).toContain("photo.png");
    expect(name()).toBe("photo.png");
    expect(running).toEqual([true, false]);
    await act(async () => void fireEvent.click(screen.getByRole("button", { name: "Try again" })));
    expect(sent.map(({ file }) => file.name)).toEqual(["mine.png", "mine.png"]);
  });

  it("clears an upload error when another name is typed", async () => {
    const { sent, values } = show();
    await choose(png("photo.png"));
    await act(async () => sent[0]?.finish(failed({ code: "TRUNCATED_UPLOAD", message: "", status: 400 })));
    expect(screen.getByText("photo.png could not be uploaded.")).toBeTruthy();
    fireEvent.change(screen.getByRole("textbox", { name: "Picture name" }), { target: { value: "photo.pn" } });
    expect(screen.queryByText(/could not be uploaded/)).toBeNull();
    expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
    expect(values).toEqual(["photo.pn"]);
  });

  it("follows the newest choice and ignores older responses", async () => {
    const { sent, values } = show();
    await choose(png("first.png"));
    await choose(png("second.png"));
    expect(sent[0]?.signal.aborted).toBe(true);
    await act(async () => sent[0]?.finish(ok({ name: "first-hash.png" })));
    expect(name()).toBe("photo.png");
    await act(async () => sent[1]?.finish(ok({ name: "second-hash.png" })));
    expect(name()).toBe("second.png");
    expect(values).toEqual(["second-hash.png"]);
  });

  it("shows the owner's name, with the sent name on hover and in Copy", async () => {
    const { sent, values } = show();
    const box = () => screen.getByRole("textbox", { name: "Picture name" });
    expect(screen.queryByRole("button", { name: /^Copy/ })).toBeNull();
    await choose(png("mine.png"));
    await act(async () => sent[0]?.finish(ok({ name: "4be1.png" })));
    expect(name()).toBe("mine.png");
    expect(box().title).toBe("4be1.png");
    expect(screen.getByRole("button", { name: "Copy 4be1.png" })).toBeTruthy();
    fireEvent.focus(box());
    expect(name()).toBe("4be1.png");
    fireEvent.blur(box());
    expect(name()).toBe("mine.png");
    expect(values).toEqual(["4be1.png"]);
    fireEvent.focus(box());
    fireEvent.change(box(), { target: { value: "other.png" } });
    fireEvent.blur(box());
    expect(name()).toBe("other.png");
    expect(screen.queryByRole("button", { name: /^Copy/ })).toBeNull();
  });

  it("shows the asset's name for a content-addressed picture", async () => {
    const content = `${"ab".repeat(32)}.png`;
    const requests: string[] = [];
    const storedName: RunApi["storedName"] = async (value) => {
      requests.push(value);
      return value === content ? "hero.png" : undefined;
    };
    const { values } = show({ first: content, storedName });
    await waitFor(() => expect(name()).toBe("hero.png"));
    expect(screen.getByRole("button", { name: `Copy ${content}` })).toBeTruthy();
    expect(values).toEqual([]);
    cleanup();
    const otherFile = `${"cd".repeat(32)}.png`;
    show({ first: otherFile, storedName });
    await waitFor(() => expect(requests).toEqual([content, otherFile]));
    expect(name()).toBe(otherFile);
    cleanup();
    show({ storedName });
    expect(requests).toHaveLength(2);
  });

  it("cancels its upload by hand and when the page closes", async () => {
    const { sent, running, unmount } = show();
    await choose(png("mine.png"));
    await act(async () => void fireEvent.click(screen.getByRole("button", { name: "Stop" })));
    expect(sent[0]?.signal.aborted).toBe(true);
    expect(picture()).toContain("photo.png");
    await choose(png("again.png"));
    unmount();
    expect(sent[1]?.signal.aborted).toBe(true);
    expect(running).toEqual([true, false, true, false]);
  });

  it("accepts one file at a time", async () => {
    const { sent } = show();
    await choose(png("a.png"), png("b.png"));
    expect(screen.getByText("You dropped 2 files. Drop one picture.")).toBeTruthy();
    expect(sent).toHaveLength(0);
  });
});

describe("a file", () => {
  it("leaves service-only formats to the service", async () => {
    const refuse = () => Promise.reject(new Error("no"));
    expect(await checkPicture(new File([], "scan.tiff", { type: "image/tiff" }), refuse)).toBe("picture");
    expect(await checkPicture(new File([], "photo.jpg", { type: "image/jpeg" }), refuse)).toBe("broken");
    expect(await checkPicture(new File([], "notes.pdf", { type: "application/pdf" }), refuse)).toBe("not-image");
  });
});

describe("the name of a picture in the graph", () => {
  it("is read with its folder and its kind, and written the same way", () => {
    for (const value of ["photo.png", "clips/a b.png", "x.png [output]", "clips/x.png [temp]"]) {
      const { filename, subfolder, type } = toFileRef(value);
      expect(toImageValue({ name: filename, subfolder, type })).toBe(value);
    }
    expect(toFileRef("clips/x.png [temp]")).toEqual({ filename: "x.png", subfolder: "clips", type: "temp" });
    expect(toImageValue({ name: "x.png", subfolder: null })).toBe("x.png");
  });
});

describe("a picture from the assets", () => {
  it("uses its content's name and offers only pictures", async () => {
    const { values } = show();
    fireEvent.click(screen.getByRole("button", { name: "From assets" }));
    const choice = await screen.findByRole("button", { name: "hero.png" });
    expect(screen.queryByRole("button", { name: "notes.txt" })).toBeNull();
    fireEvent.click(choice);
    expect(values.at(-1)).toBe(`${"ab".repeat(32)}.png`);
    expect(name()).toBe("hero.png");
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("excludes mask layers unless requested", async () => {
    show();
    fireEvent.click(screen.getByRole("button", { name: "From assets" }));
    await screen.findByRole("button", { name: "hero.png" });
    expect(screen.queryByRole("button", { name: "hero-paint.png" })).toBeNull();
    fireEvent.click(screen.getByRole("checkbox", { name: "Include mask layers" }));
    await screen.findByRole("button", { name: "hero-paint.png" });
  });

  it("reports that nothing matches", async () => {
    show();
    fireEvent.click(screen.getByRole("button", { name: "From assets" }));
    await screen.findByRole("button", { name: "hero.png" });
    fireEvent.change(screen.getByRole("searchbox", { name: "Name contains" }), { target: { value: "nothing like it" } });
    expect(await screen.findByText("No picture matches.")).toBeTruthy();
  });
});

it("names a local server's asset by file and folder", () => {
  const hash = `blake3:${"ab".repeat(32)}`;
  const file = { filename: "hero.png", subfolder: "a", type: "output" };
  expect(assetValue({ name: "Hero", hash, tags: ["output"], file })).toBe("a/hero.png [output]");
  expect(assetValue({ name: "Hero", hash, tags: ["input"], file: { ...file, type: "input" } })).toBe("a/hero.png");
  expect(assetValue({ name: "hero.png", tags: ["output"] })).toBe("hero.png [output]");
});
