// The mask editor on a test page. jsdom draws nothing, so tests check the saved PNG.
import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import sharp from "sharp";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { createCoverage } from "@/components/mask/drawing/coverage";
import { encodeMask } from "@/components/mask/file/encode-png";
import { removeSession, type SavePorts } from "@/components/mask/file/mask-session";
import { type MaskSource } from "@/components/mask/file/mask-source";
import { type OpenedMask, type OpenMask } from "@/components/mask/file/open-mask";
import { MaskLoader } from "@/components/mask/mask-loader";
import { ok } from "@/lib/shared/result";
import { renderPage } from "@/tests/unit/run/render";

const imageSize = { width: 400, height: 300 };
let lastKey = 0;

/** Stubs missing jsdom features before each test and cleans up afterwards. */
export function prepareEditorPage(): void {
  beforeEach(() => {
    // The frame has twice the image's size plus margins, so one cursor step is four pixels.
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(imageSize.width * 2 + 32);
    vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(imageSize.height * 2 + 32);
    vi.stubGlobal("PointerEvent", TestPointerEvent);
  });
  afterEach(() => {
    cleanup();
    // Unsaved work is stored in the tab, so it is removed before the next test.
    for (let key = 1; key <= lastKey; key += 1) removeSession(`test ${key}`);
  });
}

/** jsdom has no PointerEvent. */
class TestPointerEvent extends MouseEvent {
  readonly pointerId: number;
  readonly pointerType: string;
  readonly pressure: number;
  constructor(type: string, { pointerId = 0, pointerType = "mouse", pressure = 0.5, ...eventOptions }: PointerEventInit) {
    super(type, eventOptions);
    this.pressure = pressure;
    this.pointerId = pointerId;
    this.pointerType = pointerType;
  }
}

type EditorOptions = { canSave?: boolean; key?: string; open?: OpenMask; send?: SavePorts["send"]; onStored?: () => void };

/** Returns an empty mask. */
export function createOpenResult(overrides: Partial<OpenedMask> = {}) {
  const coverage = createCoverage(imageSize);
  return ok<OpenedMask>({ coverage, earlier: "none", refs: [{ filename: "blake3:ab" }], isPreview: false, ...overrides });
}

export function renderEditor({ canSave = true, key = `test ${(lastKey += 1)}`, open, send, onStored }: EditorOptions = {}) {
  const savedFiles: { file: Blob; name: string }[] = [];
  const source: MaskSource = { key, title: "hero.png", files: [{ filename: "blake3:ab" }], facts: {} };
  const recordAndSend: SavePorts["send"] = async (file, { filename }, options) => {
    savedFiles.push({ file, name: filename });
    return send ? send(file, { filename }, options) : ok({ name: "cd.png", display_name: "hero-masked.png" });
  };
  const element = (
    <MaskLoader
      source={source}
      open={open ?? (async () => createOpenResult())}
      ports={{ encode: encodeMask, send: recordAndSend }}
      canSave={canSave}
      onStored={onStored}
    />
  );
  return { sent: savedFiles, key, ...renderPage(element) };
}

/** Waits until the canvas has focus, since the editor then handles keys. */
export const waitForCanvas = async () => {
  const canvas = await screen.findByRole("application", { name: "Mask of hero.png" });
  await waitFor(() => expect(document.activeElement).toBe(canvas));
  return canvas;
};
export const pressKey = (key: string, overrides: object = {}) =>
  act(async () => void fireEvent.keyDown(document.activeElement ?? document.body, { key, ...overrides }));
export const clickButton = async (name: string | RegExp) => {
  // Buttons are ignored while a long step runs.
  await waitFor(() => expect(screen.queryByText("Working…")).toBeNull());
  const button = await screen.findByRole("button", { name });
  await act(async () => void fireEvent.click(button));
};
export const clickSave = () => clickButton("Save mask");

/** jsdom's blobs can only be read with a FileReader. */
const readBytes = (file: Blob) =>
  new Promise<ArrayBuffer>((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result instanceof ArrayBuffer ? reader.result : new ArrayBuffer(0));
    reader.readAsArrayBuffer(file);
  });

/** Reads the alpha values at `points` of the last sent file. */
export async function readAlpha(files: readonly { file: Blob }[], ...points: [number, number][]): Promise<number[]> {
  await waitFor(() => expect(files).not.toHaveLength(0));
  const bytes = Buffer.from(await readBytes(files.at(-1)?.file ?? new Blob()));
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  expect([info.width, info.height]).toEqual([400, 300]);
  return points.map(([x, y]) => data[(y * info.width + x) * 4 + 3] ?? -1);
}
