// The mask editor on a test page. jsdom draws nothing, so tests check the saved PNG.
import { act, cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import sharp from "sharp";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { emptyCoverage } from "@/components/mask/drawing/coverage";
import { encodeMask } from "@/components/mask/file/encode-png";
import { type SavePorts, takeSession } from "@/components/mask/file/mask-session";
import { type OpenMask } from "@/components/mask/file/open-mask";
import { type MaskSource } from "@/components/mask/file/picture-file";
import { MaskOpening } from "@/components/mask/mask-opening";
import { ok } from "@/lib/shared/result";
import { renderPage } from "@/tests/unit/run/render";

export const size = { width: 400, height: 300 };
let lastKey = 0;

/** Provides what jsdom lacks before each test, and cleans up after it. */
export function prepareEditorPage(): void {
  beforeEach(() => {
    // A frame of twice the picture's size plus margins, so that one step of the cursor is four pixels.
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(size.width * 2 + 32);
    vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(size.height * 2 + 32);
    vi.stubGlobal("PointerEvent", TestPointerEvent);
  });
  afterEach(() => {
    cleanup();
    // Unsaved work is stored in the tab, so it is removed before the next test.
    for (let key = 1; key <= lastKey; key += 1) takeSession(`test ${key}`);
  });
}

/** jsdom has no PointerEvent. */
class TestPointerEvent extends MouseEvent {
  readonly pointerId: number;
  readonly pointerType: string;
  readonly pressure: number;
  constructor(type: string, { pointerId = 0, pointerType = "mouse", pressure = 0.5, ...rest }: PointerEventInit) {
    super(type, rest);
    this.pressure = pressure;
    this.pointerId = pointerId;
    this.pointerType = pointerType;
  }
}

type EditorOptions = { canSave?: boolean; key?: string; open?: OpenMask; send?: SavePorts["send"]; onStored?: () => void };

export function show({ canSave = true, key = `test ${(lastKey += 1)}`, open, send, onStored }: EditorOptions = {}) {
  const savedFiles: { file: Blob; name: string }[] = [];
  const source: MaskSource = { key, title: "hero.png", files: [{ filename: "blake3:ab" }], facts: {} };
  const opens: OpenMask = async () =>
    ok({ coverage: emptyCoverage(size), earlier: "none", refs: [{ filename: "blake3:ab" }], isPreview: false });
  const sends: SavePorts["send"] = async (file, { filename }, options) => {
    savedFiles.push({ file, name: filename });
    return send ? send(file, { filename }, options) : ok({ name: "cd.png", display_name: "hero-masked.png" });
  };
  const page = (
    <MaskOpening source={source} open={open ?? opens} ports={{ encode: encodeMask, send: sends }} canSave={canSave} onStored={onStored} />
  );
  return { sent: savedFiles, key, ...renderPage(page) };
}

/** The editor handles keys once it has the focus. */
export const drawing = async () => {
  const canvas = await screen.findByRole("application", { name: "Mask of hero.png" });
  await waitFor(() => expect(document.activeElement).toBe(canvas));
  return canvas;
};
export const press = (key: string, overrides: object = {}) =>
  act(async () => void fireEvent.keyDown(document.activeElement ?? document.body, { key, ...overrides }));
export const click = async (name: string | RegExp) => {
  // While a long step runs, the buttons do not start a second one.
  await waitFor(() => expect(screen.queryByText("Working…")).toBeNull());
  const button = await screen.findByRole("button", { name });
  await act(async () => void fireEvent.click(button));
};
export const save = () => click("Save mask");

/** jsdom's blobs can only be read with a FileReader. */
const getBytes = (file: Blob) =>
  new Promise<ArrayBuffer>((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result instanceof ArrayBuffer ? reader.result : new ArrayBuffer(0));
    reader.readAsArrayBuffer(file);
  });

/** Alpha at these positions of the last sent file. */
export async function alpha(files: readonly { file: Blob }[], ...points: [number, number][]): Promise<number[]> {
  await waitFor(() => expect(files).not.toHaveLength(0));
  const bytes = Buffer.from(await getBytes(files.at(-1)?.file ?? new Blob()));
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  expect([info.width, info.height]).toEqual([400, 300]);
  return points.map(([x, y]) => data[(y * info.width + x) * 4 + 3] ?? -1);
}
