// A photo with the computer's camera, using stub cameras, since jsdom draws none.
import { act, fireEvent, screen, within } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { type SendPicture } from "@/components/run/form/controls/picture-api";
import { PictureControl } from "@/components/run/form/controls/picture-control";
import { ok } from "@/lib/shared/result";
import { renderPage } from "../render";

class Track extends EventTarget {
  isOn = true;
  constructor(readonly deviceId: string) {
    super();
  }
  stop = () => void (this.isOn = false);
  getSettings = () => ({ deviceId: this.deviceId });
}

let tracks: Track[];
let constraints: (MediaStreamConstraints | undefined)[];
let open: () => Promise<void>;
let cameras: string[];

beforeEach(() => {
  [tracks, constraints, cameras] = [[], [], ["Front", "Desk"]];
  open = async () => undefined;
  vi.stubGlobal("navigator", {
    ...navigator,
    userAgent: navigator.userAgent,
    language: "en",
    mediaDevices: {
      getUserMedia: async (constraint: { video: { deviceId?: { exact: string } } }) => {
        constraints.push(constraint);
        await open();
        const track = new Track(constraint.video.deviceId?.exact ?? cameras[0] ?? "");
        tracks.push(track);
        return { getTracks: () => [track], getVideoTracks: () => [track] };
      },
      enumerateDevices: async () => [
        { kind: "audioinput", deviceId: "mic", label: "Microphone" },
        ...cameras.map((name) => ({ kind: "videoinput", deviceId: name, label: name })),
      ],
    },
  });
  vi.stubGlobal("URL", Object.assign(URL, { createObjectURL: ({ name }: File) => `blob:${name}`, revokeObjectURL: () => undefined }));
  vi.spyOn(HTMLVideoElement.prototype, "videoWidth", "get").mockReturnValue(1920);
  vi.spyOn(HTMLVideoElement.prototype, "videoHeight", "get").mockReturnValue(1080);
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(null);
  vi.spyOn(HTMLCanvasElement.prototype, "toBlob").mockImplementation(function (this: HTMLCanvasElement, give, type) {
    // As many bytes as width plus height, so that tests can check the size.
    give(new Blob([new Uint8Array(this.width + this.height)], { type }));
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
    ...{ storedName: async () => undefined, onNamed: () => undefined },
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
  return { sent: files, values };
}

const dialog = () => within(screen.getByRole("dialog", { name: "Take a photo" }));
const press = (name: string) => act(async () => void fireEvent.click(dialog().getByRole("button", { name })));
const begin = async () => {
  await act(async () => void fireEvent.click(screen.getByRole("button", { name: "Take a photo" })));
  await screen.findByRole("dialog", { name: "Take a photo" });
};
const seePicture = async () => fireEvent.playing(await dialog().findByLabelText("Camera view"));

it("takes, retakes and uses a photo as shown, then turns off", async () => {
  const { sent, values } = show();
  await begin();
  await dialog().findByLabelText("Camera view");
  expect(dialog().getByRole("button", { name: "Take photo" }).getAttribute("aria-disabled")).toBe("true");
  await seePicture();
  expect(document.activeElement).toBe(dialog().getByRole("button", { name: "Take photo" }));
  await press("Take photo");
  expect(dialog().getByRole("img", { name: "Your photo" })).toBeDefined();
  expect(dialog().getByLabelText<HTMLVideoElement>("Camera view").hidden).toBe(true);
  await press("Retake");
  await press("Take photo");
  expect(document.activeElement).toBe(dialog().getByRole("button", { name: "Use this photo" }));
  expect([sent, tracks.map(({ isOn }) => isOn)]).toEqual([[], [true]]);
  await press("Use this photo");
  expect(sent.map(({ type, size }) => [type, size])).toEqual([["image/jpeg", 1920 + 1080]]);
  expect(sent[0]?.name).toMatch(/^photo-\d{4}-\d\d-\d\d-\d{6}\.jpg$/);
  expect(values).toEqual(["kept.jpg"]);
  expect(tracks.map(({ isOn }) => isOn)).toEqual([false]);
  expect(screen.queryByLabelText("Camera view")).toBeNull();
});

it("changes to another camera, and the first is off", async () => {
  show();
  await begin();
  await seePicture();
  const choice = dialog().getByRole<HTMLSelectElement>("combobox", { name: "Camera" });
  expect([...choice.options].map(({ text }) => text)).toEqual(["Front", "Desk"]);
  await act(async () => void fireEvent.change(choice, { target: { value: "Desk" } }));
  await seePicture();
  expect(constraints.map((constraint) => constraint?.video)).toMatchObject([{}, { deviceId: { exact: "Desk" } }]);
  expect(tracks.map(({ isOn }) => isOn)).toEqual([false, true]);
  expect(dialog().getByRole<HTMLSelectElement>("combobox", { name: "Camera" }).value).toBe("Desk");
});

it("stops a camera that starts after the dialog closed", async () => {
  let come: () => void = () => undefined;
  open = () => new Promise((resolve) => (come = resolve));
  show();
  await begin();
  expect(dialog().getByRole("status").textContent).toContain("Your browser may ask");
  await press("Cancel");
  await act(async () => come());
  expect(tracks.map(({ isOn }) => isOn)).toEqual([false]);
});

it.each([
  ["NotAllowedError", /blocks the camera on this page/],
  ["NotFoundError", /No camera found/],
  ["OverconstrainedError", /No camera found/],
  ["NotReadableError", /Close other programs that use it/],
  ["SecurityError", /only on https pages/],
])("explains what to do about %s and retries", async (name, message) => {
  open = () => Promise.reject(new DOMException("", name));
  show();
  await begin();
  expect((await dialog().findByRole("alert")).textContent).toMatch(message);
  open = async () => undefined;
  await press("Try again");
  await seePicture();
  expect(dialog().queryByRole("alert")).toBeNull();
});

it("explains that the camera needs https", async () => {
  vi.stubGlobal("navigator", { userAgent: "", language: "en" });
  show();
  await begin();
  expect((await dialog().findByRole("alert")).textContent).toMatch(/only on https pages/);
});

it("reports an unplugged camera and keeps the photo", async () => {
  const { sent } = show();
  await begin();
  await seePicture();
  await press("Take photo");
  await act(async () => void tracks[0]?.dispatchEvent(new Event("ended")));
  expect(dialog().getByRole("alert").textContent).toMatch(/was disconnected/);
  expect(dialog().queryByRole("button", { name: "Retake" })).toBeNull();
  await press("Use this photo");
  expect(sent).toHaveLength(1);
});
