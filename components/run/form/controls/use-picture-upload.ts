import { useCallback, useEffect, useEffectEvent, useRef, useState } from "react";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { toImageValue } from "@/lib/contract/assets/file-refs";
import { type Result } from "@/lib/shared/result";
import { checkPicture, type Decode } from "./check-picture";

export type UploadAnswer = { name: string; subfolder?: string | null; type?: string | null };
/** `isKnown`: the service already had the picture, so nothing was sent. */
type SentPicture = UploadAnswer & { isKnown?: boolean };
export type SendPicture = (
  file: File,
  options: { onProgress: (share: number) => void; signal: AbortSignal },
) => Promise<Result<SentPicture, ApiFailure>>;

/** A file that the service refused. */
export type UnsentPicture = { file: File; failure: ApiFailure };

export type PictureState =
  | { kind: "idle" }
  | { kind: "sending"; file: File; url: string; share: number }
  | { kind: "sent"; file: File; url: string; value: string; isKnown: boolean }
  | { kind: "refused"; file: File; reason: "not-image" | "broken" }
  | ({ kind: "failed" } & UnsentPicture);

type PictureUploadOptions = {
  /** Videos and sounds are not checked before they are sent. */
  isMedia?: boolean;
  /** A file that was refused before this control was shown. */
  unsent?: UnsentPicture;
  send: SendPicture;
  decode?: Decode;
  onSent: (value: string, file: File) => void;
  onRunning: (isRunning: boolean) => void;
};

/** The upload of one picture, video or sound into one input. The newest file wins; a file that fails leaves the input as it was. */
export function usePictureUpload({ isMedia = false, unsent, send, decode, onSent, onRunning }: PictureUploadOptions) {
  const [state, setState] = useState<PictureState>(unsent ? { kind: "failed", ...unsent } : { kind: "idle" });
  const turn = useRef<AbortController>(undefined);
  const url = useRef<string>(undefined);

  const forget = useCallback(() => {
    turn.current?.abort();
    turn.current = undefined;
    if (url.current) URL.revokeObjectURL(url.current);
    url.current = undefined;
  }, []);
  const reportEnd = useEffectEvent(() => onRunning(false));
  useEffect(
    () => () => {
      if (turn.current) reportEnd();
      forget();
    },
    [forget],
  );

  async function start(file: File) {
    forget();
    const mine = new AbortController();
    turn.current = mine;
    onRunning(true);
    const check = isMedia ? "picture" : await checkPicture(file, decode);
    if (turn.current !== mine) return;
    if (check !== "picture") {
      onRunning(false);
      return setState({ kind: "refused", file, reason: check });
    }
    const preview = URL.createObjectURL(file);
    url.current = preview;
    setState({ kind: "sending", file, url: preview, share: 0 });
    const onProgress = (share: number) => setState((now) => (now.kind === "sending" && now.url === preview ? { ...now, share } : now));
    const result = await send(file, { onProgress, signal: mine.signal });
    if (turn.current !== mine) return;
    onRunning(false);
    if (!result.ok) {
      forget();
      return setState({ kind: "failed", file, failure: result.failure });
    }
    const value = toImageValue(result.value);
    setState({ kind: "sent", file, url: preview, value, isKnown: result.value.isKnown === true });
    onSent(value, file);
  }

  function stop() {
    forget();
    onRunning(false);
    setState({ kind: "idle" });
  }

  return { state, start, stop };
}
