import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { type ClipboardEvent as ReactClipboardEvent, useEffect, useEffectEvent, useId, useState } from "react";
import { useFeature } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { MaskButton } from "@/components/mask/mask-button";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { isTyping } from "@/components/ui/hooks/page-keys";
import { useDropTarget } from "@/components/ui/hooks/use-drop-target";
import { useFilePick } from "@/components/ui/hooks/use-file-pick";
import { useMedia } from "@/components/ui/hooks/use-media";
import { Picture } from "@/components/ui/pictures/picture";
import { thumbnailUrl } from "@/lib/browser/urls";
import { toFileRef, toImageValue } from "@/lib/contract/assets/file-refs";
import { own } from "@/lib/contract/json/own";
import { type ChoiceValue } from "@/lib/contract/nodes/input-spec";
import { AssetPicker } from "./asset-picker";
import { contentOf } from "./asset-value";
import { type ControlProps } from "./control-props";
import { RemoveButton, ServerFiles } from "./media-control";
import { type PickedPicture, type PictureContext } from "./picture-context";
import { PictureName } from "./picture-name";
import { SendingNote } from "./sending-note";
import { UnlistedNote } from "./unlisted-note";
import { type PictureState, usePictureUpload } from "./use-picture-upload";

const CameraDialog = dynamic(() => import("./camera/camera-dialog").then((module) => module.CameraDialog), { ssr: false });

type PictureControlProps = ControlProps & {
  options?: readonly ChoiceValue[];
  picture: PictureContext;
  nodeTitle: string;
  /** A picture pasted anywhere on the page goes into this input. */
  takesPaste?: boolean;
  hasMask?: boolean;
  onRunning: (isRunning: boolean) => void;
};

/** The picture that a node loads: shown, replaced by a drop or a choice, and kept if the new one fails to arrive. */
export function PictureControl(props: PictureControlProps) {
  const { nodeTitle, options, picture, takesPaste = false, hasMask = true, onRunning, value, onChange, ...control } = props;
  const t = useTranslations("run.picture");
  const { connection, canSend, sendPicture, decode, ownNames, onNamed } = picture;
  const hasAssets = useFeature("assets");
  const [isPicking, setPicking] = useState(false);
  const onSent = (sentAs: string, file: File) => {
    onNamed(sentAs, file.name);
    onChange(sentAs);
  };
  const [several, setSeveral] = useState(0);
  // Phones and tablets bring their own camera screen; elsewhere it is a dialog, which loads when it is first opened.
  const hasCameraScreen = useMedia("(pointer: coarse)");
  const [isTaking, setTaking] = useState<boolean>();
  const noteId = useId();
  const name = typeof value === "string" ? value : "";
  const ownName = own(ownNames, name);
  const unsent = ownName === undefined ? own(picture.unsent, name) : undefined;
  const { state, start, stop } = usePictureUpload({ unsent, send: sendPicture, decode, onSent, onRunning });
  useStoredName(name, picture, ownName);

  function take(files: readonly File[]) {
    const [file] = files;
    setSeveral(files.length > 1 ? files.length : 0);
    if (file && files.length === 1) void start(file);
  }
  function pick({ value: chosen, name: called }: PickedPicture) {
    setPicking(false);
    stop();
    onNamed(chosen, called);
    onChange(chosen);
  }
  const { isOver, props: target } = useDropTarget(take);
  useOwnPaste(takesPaste && canSend, take);
  const described = [control["aria-describedby"], noteId].filter(Boolean).join(" ");
  const chooser = useFilePick({ accept: "image/*", testId: "picture-file", onFiles: take });
  const camera = useFilePick({ accept: "image/*", isCamera: true, onFiles: take });

  return (
    // Clicking the picture focuses the control, so that a paste goes into it.
    <div
      {...(canSend && { ...target, tabIndex: -1, onPaste: (event: ReactClipboardEvent) => takePasted(event.nativeEvent, take) })}
      className={cn(
        "flex flex-wrap gap-3 rounded-md outline-offset-4 focus:outline-2 focus:outline-accent",
        isOver && "outline-2 outline-accent",
      )}
    >
      <span className="relative shrink-0">
        <Picture
          src={pictureSource(state, name, picture)}
          alt={t("current", { title: nodeTitle })}
          width={208}
          height={156}
          eager
          fit="contain"
          className="h-[156px] w-[208px]"
        />
        {isOver ? (
          <span className="absolute inset-0 grid place-items-center rounded-sm bg-surface/90 px-3 text-center font-semibold">
            {t("drop")}
          </span>
        ) : null}
      </span>
      <div className="flex min-w-[180px] flex-1 flex-col items-start gap-2">
        {picture.isPlain ? (
          <span className="max-w-full truncate text-ink-2">
            {ownName ?? (name === "" ? t("none") : contentOf(name) ? t("stored") : name)}
          </span>
        ) : (
          <PictureName
            {...control}
            aria-describedby={described}
            sentAs={name}
            ownName={ownName}
            onChange={(typed) => {
              // The failure was about the name that is now replaced.
              if (state.kind === "failed" || state.kind === "refused") stop();
              onChange(typed);
            }}
          />
        )}
        <span className="flex flex-wrap items-center gap-2">
          {canSend ? (
            <Button
              size="small"
              {...(picture.isPlain && { id: control.id, "aria-describedby": described, "aria-invalid": control["aria-invalid"] })}
              onClick={chooser.open}
            >
              {name === "" ? t("choose") : t("replace")}
            </Button>
          ) : null}
          {canSend ? (
            <Button size="small" onClick={() => (hasCameraScreen ? camera.open() : setTaking(true))}>
              {t("camera")}
            </Button>
          ) : null}
          {!canSend || (!hasAssets && !picture.picker) ? null : (
            <Button size="small" onClick={() => setPicking(true)}>
              {t(picture.picker ? "fromOwn" : "fromAssets")}
            </Button>
          )}
          <ServerFiles
            options={picture.isPlain ? undefined : options}
            value={name}
            onChange={(chosen) => {
              stop();
              onChange(chosen);
            }}
          />
          {name === "" || !canSend || !hasMask ? null : (
            <MaskButton
              file={toFileRef(name)}
              title={ownName ?? name}
              connection={connection}
              place={picture.masks}
              onSaved={(saved) => {
                stop();
                const sentAs = toImageValue(saved);
                onNamed(sentAs, saved.display_name ?? saved.name);
                onChange(sentAs);
              }}
            />
          )}
          {name === "" ? null : <RemoveButton picture={picture} stop={stop} />}
          {canSend ? <span className="text-sm text-ink-3 max-sm:hidden">{t("hint")}</span> : null}
          {chooser.input}
          {camera.input}
        </span>
        {isTaking === undefined ? null : (
          <CameraDialog
            isOpen={isTaking}
            onClose={() => setTaking(false)}
            onTaken={(photo) => {
              setTaking(false);
              take([photo]);
            }}
          />
        )}
        {picture.picker ? (
          picture.picker({ isOpen: isPicking, onClose: () => setPicking(false), onPicked: pick })
        ) : (
          <AssetPicker
            isOpen={isPicking}
            picture={picture}
            onClose={() => setPicking(false)}
            onPicked={([picked]) => (picked ? pick(picked) : setPicking(false))}
          />
        )}
        <div id={noteId} aria-live="polite" className="w-full min-w-0 text-sm">
          {several > 0 ? (
            <p className="text-bad">{t("several", { count: several })}</p>
          ) : (
            <PictureNote state={state} value={name} saysWhy={picture.saysWhy} onStop={stop} onAgain={start} />
          )}
          {state.kind === "sending" || state.kind === "failed" ? null : <UnlistedNote value={name} options={options} picture={picture} />}
        </div>
      </div>
    </div>
  );
}

/** Shows the asset's name for a picture that the workflow names only by its content, where it can be found out. */
function useStoredName(value: string, { storedName, onNamed }: PictureContext, ownName: string | undefined): void {
  const isNameless = ownName === undefined && contentOf(value) !== undefined;
  const ask = useEffectEvent(async (signal: AbortSignal) => {
    const found = await storedName(value);
    if (found !== undefined && !signal.aborted) onNamed(value, found);
  });
  useEffect(() => {
    if (!isNameless) return;
    const asking = new AbortController();
    void ask(asking.signal);
    return () => asking.abort();
  }, [value, isNameless]);
}

/** Handles pasted files that nothing else handled. If the clipboard also has text, a focused field gets the paste. */
function takePasted(event: ClipboardEvent, take: (files: File[]) => void): void {
  const files = [...(event.clipboardData?.files ?? [])];
  const keepsText = isTyping(event.target) && event.clipboardData?.getData("text/plain") !== "";
  if (files.length === 0 || keepsText || event.defaultPrevented) return;
  event.preventDefault();
  take(files);
}

/** Accepts a picture pasted anywhere on the page, except into a field outside this control. */
function useOwnPaste(isOn: boolean, take: (files: File[]) => void): void {
  const paste = useEffectEvent((event: ClipboardEvent) => (isTyping(event.target) ? undefined : takePasted(event, take)));
  useEffect(() => {
    if (!isOn) return;
    // Runs before the window's own listener, which would add the file to the assets.
    document.addEventListener("paste", paste);
    return () => document.removeEventListener("paste", paste);
  }, [isOn]);
}

type PictureNoteProps = Pick<PictureContext, "saysWhy"> & {
  state: PictureState;
  value: string;
  onStop: () => void;
  onAgain: (file: File) => Promise<void>;
};

function PictureNote({ state, value, saysWhy, onStop, onAgain }: PictureNoteProps) {
  const t = useTranslations("run.picture");
  if (state.kind === "idle") return null;
  if (state.kind === "sending") return <SendingNote name={state.file.name} share={state.share} onStop={onStop} />;
  // If the upload failed before this control was shown, the value is the file's own name.
  const kept = value === "" || value === state.file.name ? "no" : "yes";
  if (state.kind === "sent" && state.value === value)
    return <p className="text-ink-2">{t(state.isKnown ? "known" : "sent", { name: state.file.name })}</p>;
  if (state.kind === "refused")
    return <p className="text-bad">{t(state.reason === "broken" ? "broken" : "notImage", { name: state.file.name, kept })}</p>;
  if (state.kind !== "failed") return null;
  const why = saysWhy?.(state.failure);
  if (why !== undefined) return <p className="text-bad">{why}</p>;
  return (
    <>
      <p className="mb-1 text-bad">{t("failed", { name: state.file.name, kept })}</p>
      <FailureMessage failure={state.failure} actions={<Button onClick={() => void onAgain(state.file)}>{t("again")}</Button>} />
    </>
  );
}

function pictureSource(state: PictureState, value: string, { connection, sourceOf }: PictureContext): string | undefined {
  if (state.kind === "sending" || (state.kind === "sent" && state.value === value)) return state.url;
  if (value === "") return undefined;
  return sourceOf ? sourceOf(value) : thumbnailUrl({ connection, file: toFileRef(value), edge: 512 });
}
