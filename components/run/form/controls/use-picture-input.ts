// The picture of one input: upload, paste, and the shown name.

import { type ClipboardEvent as ReactClipboardEvent, useCallback, useEffect, useEffectEvent, useRef, useState } from "react";
import { useFeature } from "@/components/frame/connection/connection-context";
import { isTyping } from "@/components/ui/hooks/page-events";
import { isFromDialog, useDropTarget } from "@/components/ui/hooks/use-file-picker";
import { toImageValue } from "@/lib/contract/assets/file-refs";
import { getOwn } from "@/lib/contract/json/json";
import {
  checkPicture,
  getContentHash,
  type PickedPicture,
  type PictureApi,
  type PictureContext,
  type SendPicture,
  type UnsentPicture,
} from "./picture-api";

type PictureInput = {
  picture: PictureContext;
  value: unknown;
  acceptsPaste: boolean;
  onChange: (value: unknown) => void;
  onRunning: (isRunning: boolean) => void;
};

/** The newest picture wins, whether it is uploaded, pasted, dropped or picked. */
export function usePictureInput({ picture, value, acceptsPaste, onChange, onRunning }: PictureInput) {
  const { canSend, sendPicture, decode, ownNames, onNamed } = picture;
  const name = typeof value === "string" ? value : "";
  const ownName = getOwn(ownNames, name);
  const unsent = ownName === undefined ? getOwn(picture.unsent, name) : undefined;
  const [ignoredCount, setIgnoredCount] = useState(0);
  const onSent = (sentName: string, file: File) => {
    onNamed(sentName, file.name);
    onChange(sentName);
  };
  const { state, start, stop } = usePictureUpload({ unsent, send: sendPicture, decode, onSent, onRunning });
  useStoredName(name, picture, ownName);
  const hasAssets = useFeature("assets");
  const canPick = canSend && (hasAssets || picture.picker !== undefined);
  function handleFiles(files: readonly File[]) {
    const [file] = files;
    setIgnoredCount(files.length > 1 ? files.length : 0);
    if (file && files.length === 1) void start(file);
  }
  function pick({ value: pickedValue, name: pickedName }: PickedPicture) {
    stop();
    onNamed(pickedValue, pickedName);
    onChange(pickedValue);
  }
  const { isOver, props: dropProps } = useDropTarget(handleFiles);
  usePagePaste(acceptsPaste && canSend, handleFiles);
  // Clicking the picture focuses the control, so that it receives pasted pictures.
  const onPaste = (event: ReactClipboardEvent) => handlePaste(event.nativeEvent, isFromDialog(event) ? undefined : handleFiles);
  const frameProps = canSend ? { ...dropProps, tabIndex: -1, onPaste } : {};
  return { name, ownName, ignoredCount, state, start, stop, take: handleFiles, pick, isOver, frame: frameProps, canPick };
}

export type PictureState =
  | { kind: "idle" }
  | { kind: "sending"; file: File; url: string; share: number }
  | { kind: "sent"; file: File; url: string; value: string; isKnown: boolean }
  | { kind: "refused"; file: File; reason: "not-image" | "broken" }
  | ({ kind: "failed" } & UnsentPicture);

type PictureUploadOptions = {
  /** Video and audio files are not checked before they are sent. */
  isMedia?: boolean;
  unsent?: UnsentPicture;
  send: SendPicture;
  decode?: PictureApi["decode"];
  onSent: (value: string, file: File) => void;
  onRunning: (isRunning: boolean) => void;
};

/** Uploads one picture, video or audio file for one input. The newest file wins. A failed upload leaves the input unchanged. */
export function usePictureUpload({ isMedia = false, unsent, send, decode, onSent, onRunning }: PictureUploadOptions) {
  const [state, setState] = useState<PictureState>(unsent ? { kind: "failed", ...unsent } : { kind: "idle" });
  const uploadController = useRef<AbortController>(undefined);
  const url = useRef<string>(undefined);

  const releasePreview = useCallback(() => {
    uploadController.current?.abort();
    uploadController.current = undefined;
    if (url.current) URL.revokeObjectURL(url.current);
    url.current = undefined;
  }, []);
  const reportEnd = useEffectEvent(() => onRunning(false));
  useEffect(
    () => () => {
      if (uploadController.current) reportEnd();
      releasePreview();
    },
    [releasePreview],
  );

  async function start(file: File) {
    releasePreview();
    const controller = new AbortController();
    uploadController.current = controller;
    onRunning(true);
    const checkResult = isMedia ? "picture" : await checkPicture(file, decode);
    if (uploadController.current !== controller) return;
    if (checkResult !== "picture") {
      onRunning(false);
      return setState({ kind: "refused", file, reason: checkResult });
    }
    const previewUrl = URL.createObjectURL(file);
    url.current = previewUrl;
    setState({ kind: "sending", file, url: previewUrl, share: 0 });
    const onProgress = (share: number) =>
      setState((current) => (current.kind === "sending" && current.url === previewUrl ? { ...current, share } : current));
    const result = await send(file, { onProgress, signal: controller.signal });
    if (uploadController.current !== controller) return;
    onRunning(false);
    if (!result.ok) {
      releasePreview();
      return setState({ kind: "failed", file, failure: result.failure });
    }
    const value = toImageValue(result.value);
    setState({ kind: "sent", file, url: previewUrl, value, isKnown: result.value.isKnown === true });
    onSent(value, file);
  }

  function stop() {
    releasePreview();
    onRunning(false);
    setState({ kind: "idle" });
  }

  return { state, start, stop };
}

/** Shows the asset's name for a picture named only by its content, if it can be found. */
function useStoredName(value: string, { findStoredName, onNamed }: PictureContext, ownName: string | undefined): void {
  const isNameless = ownName === undefined && getContentHash(value) !== undefined;
  const lookUp = useEffectEvent(async (signal: AbortSignal) => {
    const storedName = await findStoredName(value);
    if (storedName !== undefined && !signal.aborted) onNamed(value, storedName);
  });
  useEffect(() => {
    if (!isNameless) return;
    const controller = new AbortController();
    void lookUp(controller.signal);
    return () => controller.abort();
  }, [value, isNameless]);
}

/**
 * Handles pasted files that nothing else has handled. Without `onFiles`, they are ignored. If the clipboard also contains text, a focused
 * field receives the paste.
 */
function handlePaste(event: ClipboardEvent, onFiles?: (files: File[]) => void): void {
  const files = [...(event.clipboardData?.files ?? [])];
  const isTextPaste = isTyping(event.target) && event.clipboardData?.getData("text/plain") !== "";
  if (files.length === 0 || isTextPaste || event.defaultPrevented) return;
  event.preventDefault();
  onFiles?.(files);
}

/** Accepts an image pasted anywhere on the page, except into another field or while a dialog is open. */
function usePagePaste(isEnabled: boolean, onFiles: (files: File[]) => void): void {
  const handlePagePaste = useEffectEvent((event: ClipboardEvent) => {
    if (!isTyping(event.target)) handlePaste(event, document.querySelector("dialog[open]") ? undefined : onFiles);
  });
  useEffect(() => {
    if (!isEnabled) return;
    // Runs before the window's own listener, which would add the file to the assets.
    document.addEventListener("paste", handlePagePaste);
    return () => document.removeEventListener("paste", handlePagePaste);
  }, [isEnabled]);
}
