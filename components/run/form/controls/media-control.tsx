import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { Select } from "@/components/ui/controls/fields";
import { useFilePicker } from "@/components/ui/hooks/use-file-picker";
import { ProgressBar } from "@/components/ui/skeleton";
import { FileName } from "@/components/ui/truncated";
import { toFileRef } from "@/lib/contract/assets/file-refs";
import { getOwn } from "@/lib/contract/json/json";
import { type ChoiceValue, type Media } from "@/lib/contract/nodes/input-spec";
import { type ControlProps } from "./basic-controls";
import { getContentHash, type PictureContext } from "./picture-api";
import { usePictureUpload } from "./use-picture-input";

type ServerFilesProps = { options: readonly ChoiceValue[] | undefined; value: string; onChange: (value: string) => void };

export function ServerFiles({ options, value, onChange }: ServerFilesProps) {
  const t = useTranslations("run.media");
  const names = (options ?? []).filter((option) => typeof option === "string");
  if (names.length === 0) return null;
  return (
    <Select
      aria-label={t("onServer")}
      value={names.includes(value) ? value : ""}
      onChange={({ target }) => onChange(target.value)}
      className="max-w-56"
    >
      <option value="" disabled>
        {t("onServer")}
      </option>
      {names.map((name) => (
        <option key={name} value={name}>
          <FileName name={name} />
        </option>
      ))}
    </Select>
  );
}

/** Clears the input, if that is allowed. */
export function RemoveButton({ picture: { canSend, onRemove }, stop }: { picture: PictureContext; stop: () => void }) {
  const t = useTranslations("run.picture");
  if (!canSend || !onRemove) return null;
  return (
    <Button
      size="small"
      tone="quiet"
      onClick={() => {
        stop();
        onRemove();
      }}
    >
      {t("remove")}
    </Button>
  );
}

type MediaControlProps = ControlProps & {
  media: Media;
  options?: readonly ChoiceValue[];
  picture: PictureContext;
  onRunning: (isRunning: boolean) => void;
};

/** A node's video or audio file: one of the server's files, or an upload. */
export function MediaControl({ id, media, options, picture, onRunning, value, onChange, ...rest }: MediaControlProps) {
  const t = useTranslations("run.media");
  const tPicture = useTranslations("run.picture");
  const onSent = (sentName: string, file: File) => {
    picture.onNamed(sentName, file.name);
    onChange(sentName);
  };
  const { state, start, stop } = usePictureUpload({ isMedia: true, send: picture.sendPicture, onSent, onRunning });
  const filePicker = useFilePicker({ accept: `${media}/*`, testId: "media-file", onFiles: ([file]) => file && void start(file) });
  const name = typeof value === "string" ? value : "";
  const isRenamed = (getOwn(picture.ownNames, name) ?? name) !== name;
  return (
    <span className="flex flex-wrap items-center gap-2">
      <output {...rest} id={id} title={isRenamed ? name : undefined} className="min-w-0 font-mono text-sm break-all">
        {getOwn(picture.ownNames, name) ?? (picture.hidesFileNames && getContentHash(name) ? tPicture("stored") : name || t("none"))}
      </output>
      <ServerFiles
        options={options}
        value={name}
        onChange={(value) => {
          stop();
          onChange(value);
        }}
      />
      {picture.canSend ? (
        <Button size="small" busy={state.kind === "sending"} onClick={filePicker.open}>
          {t(media)}
        </Button>
      ) : null}
      {name === "" ? null : <RemoveButton picture={picture} stop={stop} />}
      {filePicker.input}
      {state.kind === "sending" ? <UploadProgress name={state.file.name} share={state.share} onStop={stop} /> : null}
      <span aria-live="polite" className="w-full empty:hidden">
        {state.kind === "sending" ? null : <UnlistedNote value={name} options={options} picture={picture} />}
      </span>
      {state.kind === "failed" ? (
        <FailureMessage failure={state.failure} actions={<Button onClick={() => void start(state.file)}>{tPicture("again")}</Button>} />
      ) : null}
    </span>
  );
}

type UploadProgressProps = { name: string; share: number; onStop: () => void };

/** Shows the name and progress of a file being uploaded, with a Stop button. */
export function UploadProgress({ name, share, onStop }: UploadProgressProps) {
  const t = useTranslations("run.picture");
  const label = t("sending", { name });
  return (
    <span className="flex flex-wrap items-center gap-2">
      <span className="min-w-0 truncate">{label}</span>
      <ProgressBar value={share} label={label} />
      <Button size="small" onClick={onStop}>
        {t("stop")}
      </Button>
    </span>
  );
}

/** `options`: undefined if the service's list is not loaded. */
type UnlistedNoteProps = {
  value: string;
  options: readonly ChoiceValue[] | undefined;
  picture: Pick<PictureContext, "ownNames" | "listing">;
};

/** Warns about a file that the service does not list, after reloading a stale list. The run is still allowed. */
export function UnlistedNote({ value, options, picture: { ownNames, listing } }: UnlistedNoteProps) {
  const t = useTranslations("run.media");
  // A file uploaded or picked here has an entry in `ownNames` and exists even if it is not listed.
  const isMissing = getOwn(ownNames, value) === undefined && options !== undefined && isUnlisted(value, options);
  const shouldReload = isMissing && listing?.isStale === true;
  const reloadList = useEffectEvent(() => listing?.reload());
  useEffect(() => {
    if (shouldReload) reloadList();
  }, [shouldReload]);
  return isMissing && !shouldReload ? <span className="block text-sm text-wait">{t("unlisted")}</span> : null;
}

/** Services list only files in the input folder, and omit content-addressed files. */
function isUnlisted(value: string, options: readonly ChoiceValue[]): boolean {
  const { filename, subfolder, type } = toFileRef(value);
  const path = subfolder === "" ? filename : `${subfolder}/${filename}`;
  const names = options.filter((option) => typeof option === "string");
  if (value === "" || type !== "input" || getContentHash(value) !== undefined) return false;
  const isListable = subfolder === "" || names.some((name) => name.includes("/"));
  return isListable && !names.includes(path) && !names.includes(value);
}
