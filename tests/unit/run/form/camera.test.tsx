// Taking a photo, with stub cameras because jsdom has none.
import { act, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { type SendPicture } from "@/components/run/form/controls/picture-api";
import { PictureControl } from "@/components/run/form/controls/picture-control";
import { ok } from "@/lib/shared/result";
import { renderPage } from "../render";

class StubTrack extends EventTarget {
  isLive = true;
  constructor(readonly deviceId: string) {
    super();
  }
  stop = () => void (this.isLive = false);
  getSettings = () => ({ deviceId: this.deviceId });
}

let tracks: StubTrack[];
let constraints: (MediaStreamConstraints | undefined)[];
let openCamera: () => Promise<void>;
let cameraNames: string[];

beforeEach(() => {
  [tracks, constraints, cameraNames] = [[], [], ["Front", "Desk"]];
  openCamera = async () => undefined;
  vi.stubGlobal("navigator", {
    ...navigator,
    userAgent: navigator.userAgent,
    language: "en",
    mediaDevices: {
      getUserMedia: async (constraint: { video: { deviceId?: { exact: string } } }) => {
        constraints.push(constraint);
        await openCamera();
        const track = new StubTrack(constraint.video.deviceId?.exact ?? cameraNames[0] ?? "");
        tracks.push(track);
        return { getTracks: () => [track], getVideoTracks: () => [track] };
      },
      enumerateDevices: async () => [
        { kind: "audioinput", deviceId: "mic", label: "Microphone" },
        ...cameraNames.map((name) => ({ kind: "videoinput", deviceId: name, label: name })),
      ],
    },
  });
  vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: ({ name }: File) => `blob:${name}`, revokeObjectURL: () => undefined }));
  vi.spyOn(HTMLVideoElement.prototype, "videoWidth", "get").mockReturnValue(1920);
  vi.spyOn(HTMLVideoElement.prototype, "videoHeight", "get").mockReturnValue(1080);
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
  vi.spyOn(HTMLCanvasElement.prototype, "toBlob").mockImplementation(function (this: HTMLCanvasElement, callback, type) {
    // As many bytes as width plus height, so that tests can check the size.
    callback(new Blob([new Uint8Array(this.width + this.height)], { type }));
  });
});

function show() {
  const files: File[] = [];
  const values: unknown[] = [];
  const sendPicture: SendPicture = async (file) => {
    files.push(file);
    return ok({ name: "kept.jpg" });
  };
  const listAssets = async () => ok({ assets: [], total: 0, has_more: false });
  const picture = {
    ...{ canSend: true, sendPicture, listAssets, decode: async () => undefined },
    ...{ findStoredName: async () => undefined, onNamed: () => undefined },
  };
  renderPage(
    <PictureControl
      id="x"
      nodeTitle="Photo"
      value=""
      picture={picture}
      onChange={(value) => values.push(value)}
      onRunning={() => undefined}
    />,
  );
  return { files, values };
}

const dialog = () => within(screen.getByRole("dialog", { name: "Take a photo" }));
const pressButton = (name: string) => act(async () => void fireEvent.click(dialog().getByRole("button", { name })));
const openDialog = async () => {
  await act(async () => void fireEvent.click(screen.getByRole("button", { name: "Take a photo" })));
  await screen.findByRole("dialog", { name: "Take a photo" });
};
const startVideo = async () => fireEvent.playing(await dialog().findByLabelText("Camera view"));

it("takes, retakes and uses a photo, then stops the camera", async () => {
  const { files, values } = show();
  await openDialog();
  await dialog().findByLabelText("Camera view");
  expect(dialog().getByRole("button", { name: "Take photo" }).getAttribute("aria-disabled")).toBe("true");
  await startVideo();
  expect(document.activeElement).toBe(dialog().getByRole("button", { name: "Take photo" }));
  await pressButton("Take photo");
  expect(dialog().getByRole("img", { name: "Your photo" })).toBeDefined();
  expect(dialog().getByLabelText<HTMLVideoElement>("Camera view").hidden).toBe(true);
  await pressButton("Retake");
  await pressButton("Take photo");
  expect(document.activeElement).toBe(dialog().getByRole("button", { name: "Use this photo" }));
  expect([files, tracks.map(({ isLive }) => isLive)]).toEqual([[], [true]]);
  await pressButton("Use this photo");
  expect(files.map(({ type, size }) => [type, size])).toEqual([["image/jpeg", 1920 + 1080]]);
  expect(files[0]?.name).toMatch(/^photo-\d{4}-\d\d-\d\d-\d{6}\.jpg$/);
  expect(values).toEqual(["kept.jpg"]);
  expect(tracks.map(({ isLive }) => isLive)).toEqual([false]);
  expect(screen.queryByLabelText("Camera view")).toBeNull();
});

it("stops the first camera when another is selected", async () => {
  show();
  await openDialog();
  await startVideo();
  const cameraSelect = dialog().getByRole<HTMLSelectElement>("combobox", { name: "Camera" });
  expect([...cameraSelect.options].map(({ text }) => text)).toEqual(["Front", "Desk"]);
  await act(async () => void fireEvent.change(cameraSelect, { target: { value: "Desk" } }));
  await startVideo();
  expect(constraints.map((constraint) => constraint?.video)).toMatchObject([{}, { deviceId: { exact: "Desk" } }]);
  expect(tracks.map(({ isLive }) => isLive)).toEqual([false, true]);
  expect(dialog().getByRole<HTMLSelectElement>("combobox", { name: "Camera" }).value).toBe("Desk");
});

it("stops a camera that starts after the dialog closed", async () => {
  let resolveCamera: () => void = () => undefined;
  openCamera = () => new Promise((resolve) => (resolveCamera = resolve));
  show();
  await openDialog();
  expect(dialog().getByRole("status").textContent).toContain("Your browser may ask");
  await pressButton("Cancel");
  await act(async () => resolveCamera());
  expect(tracks.map(({ isLive }) => isLive)).toEqual([false]);
});

it.each([
  ["NotAllowedError", /blocks the camera on this page/],
  ["NotFoundError", /No camera found/],
  ["OverconstrainedError", /No camera found/],
  ["NotReadableError", /Close other programs that use it/],
  ["SecurityError", /only on https pages/],
])("explains %s and retries on demand", async (name, message) => {
  openCamera = () => Promise.reject(new DOMException("", name));
  show();
  await openDialog();
  expect((await dialog().findByRole("alert")).textContent).toMatch(message);
  openCamera = async () => undefined;
  await pressButton("Try again");
  await startVideo();
  expect(dialog().queryByRole("alert")).toBeNull();
});

it("explains that the camera needs https", async () => {
  vi.stubGlobal("navigator", { userAgent: "", language: "en" });
  show();
  await openDialog();
  expect((await dialog().findByRole("alert")).textContent).toMatch(/only on https pages/);
});

it("reports a disconnected camera and keeps the photo", async () => {
  const { files } = show();
  await openDialog();
  await startVideo();
  await pressButton("Take photo");
  await act(async () => void tracks[0]?.dispatchEvent(new Event("ended")));
  expect(dialog().getByRole("alert").textContent).toMatch(/was disconnected/);
  expect(dialog().queryByRole("button", { name: "Retake" })).toBeNull();
  await pressButton("Use this photo");
  expect(files).toHaveLength(1);
});
