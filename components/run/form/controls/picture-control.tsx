import { useTranslations } from "next-intl";
import { useId, useState } from "react";
import { MaskButton } from "@/components/mask/mask-button";
import { Button } from "@/components/ui/controls/button";
import { useFilePicker } from "@/components/ui/hooks/use-file-picker";
import { useMedia } from "@/components/ui/hooks/use-media";
import { toFileRef, toImageValue } from "@/lib/contract/assets/file-refs";
import { type ChoiceValue } from "@/lib/contract/nodes/input-spec";
import { AssetPicker } from "./asset-picker";
import { type ControlProps } from "./basic-controls";
import { RemoveButton, ServerFiles, UnlistedNote } from "./media-control";
import { getContentHash, type PickedPicture, type PictureContext } from "./picture-api";
import { CameraDialog, PictureName, PictureNote, PictureView } from "./picture-view";
import { usePictureInput } from "./use-picture-input";

type PictureControlProps = ControlProps & {
  options?: readonly ChoiceValue[];
  picture: PictureContext;
  nodeTitle: string;
  /** Whether this input accepts pictures pasted anywhere on the page. */
  acceptsPaste?: boolean;
  hasMask?: boolean;
  onRunning: (isRunning: boolean) => void;
};

/** Shows a node's picture. Dropping or choosing a file replaces it. If the upload fails, the old picture is kept. */
export function PictureControl(props: PictureControlProps) {
  const { nodeTitle, options, picture, acceptsPaste = false, hasMask = true, onRunning, value, onChange, ...controlProps } = props;
  const t = useTranslations("run.picture");
  const { connection, canSend } = picture;
  const [isPicking, setPicking] = useState(false);
  // Phones and tablets open their camera app. Other devices load a dialog on first use.
  const hasCameraApp = useMedia("(pointer: coarse)");
  const [isCameraOpen, setCameraOpen] = useState<boolean>();
  const noteId = useId();
  const input = usePictureInput({ picture, value, acceptsPaste, onChange, onRunning });
  const { name, ownName, ignoredCount, state, start, stop, take, isOver, canPick } = input;
  function pick(pickedPicture: PickedPicture) {
    setPicking(false);
    input.pick(pickedPicture);
  }
  const describedBy = [controlProps["aria-describedby"], noteId].filter(Boolean).join(" ");
  const filePicker = useFilePicker({ accept: "image/*", testId: "picture-file", onFiles: take });
  const camera = useFilePicker({ accept: "image/*", isCamera: true, onFiles: take });

  return (
    <div
      {...input.frame}
      data-over={isOver || undefined}
      className="flex flex-wrap gap-3 rounded-md outline-offset-4 outline-accent focus:outline-2 data-over:outline-2"
    >
      <PictureView state={state} value={name} picture={picture} title={nodeTitle} isOver={isOver} />
      <div className="flex min-w-[180px] flex-1 flex-col items-start gap-2">
        {picture.hidesFileNames ? (
          <span className="max-w-full truncate text-ink-2">
            {ownName ?? (name === "" ? t("none") : getContentHash(name) ? t("stored") : name)}
          </span>
        ) : (
          <PictureName
            {...controlProps}
            aria-describedby={describedBy}
            sentName={name}
            ownName={ownName}
            onChange={(newName) => {
              // The failure was about the replaced name.
              if (state.kind === "failed" || state.kind === "refused") stop();
              onChange(newName);
            }}
          />
        )}
        <span className="flex flex-wrap items-center gap-2">
          {canSend ? (
            <Button
              size="small"
              {...(picture.hidesFileNames && {
                id: controlProps.id,
                "aria-describedby": describedBy,
                "aria-invalid": controlProps["aria-invalid"],
              })}
              onClick={filePicker.open}
            >
              {name === "" ? t("choose") : t("replace")}
            </Button>
          ) : null}
          {canSend ? (
            <Button size="small" onClick={() => (hasCameraApp ? camera.open() : setCameraOpen(true))}>
              {t("camera")}
            </Button>
          ) : null}
          {!canPick ? null : (
            <Button size="small" onClick={() => setPicking(true)}>
              {t(picture.picker ? "fromOwn" : "fromAssets")}
            </Button>
          )}
          <ServerFiles
            options={picture.hidesFileNames ? undefined : options}
            value={name}
            onChange={(value) => {
              stop();
              onChange(value);
            }}
          />
          {name === "" || !canSend || !hasMask ? null : (
            <MaskButton
              file={toFileRef(name)}
              title={ownName ?? name}
              connection={connection}
              target={picture.masks}
              onSaved={(mask) => input.pick({ value: toImageValue(mask), name: mask.display_name ?? mask.name })}
            />
          )}
          {name === "" ? null : <RemoveButton picture={picture} stop={stop} />}
          {canSend ? <span className="text-sm text-ink-3 max-sm:hidden">{t("hint")}</span> : null}
          {filePicker.input}
          {camera.input}
        </span>
        {isCameraOpen === undefined ? null : (
          <CameraDialog
            isOpen={isCameraOpen}
            onClose={() => setCameraOpen(false)}
            onPhoto={(photo) => {
              setCameraOpen(false);
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
            onPicked={([pickedAsset]) => (pickedAsset ? pick(pickedAsset) : setPicking(false))}
          />
        )}
        <div id={noteId} aria-live="polite" className="w-full min-w-0 text-sm">
          {ignoredCount > 0 ? (
            <p className="text-bad">{t("several", { count: ignoredCount })}</p>
          ) : (
            <PictureNote state={state} value={name} explainFailure={picture.explainFailure} onStop={stop} onRetry={start} />
          )}
          {state.kind === "sending" || state.kind === "failed" ? null : <UnlistedNote value={name} options={options} picture={picture} />}
        </div>
      </div>
    </div>
  );
}
