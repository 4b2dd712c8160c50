import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { Input } from "@/components/ui/controls/fields";
import { Picture } from "@/components/ui/pictures/picture";
import { createThumbnailUrl } from "@/lib/browser/urls";
import { toFileRef } from "@/lib/contract/assets/file-refs";
import { type ControlProps } from "./basic-controls";
import { UploadProgress } from "./media-control";
import { type PictureContext } from "./picture-api";
import { type PictureState } from "./use-picture-input";

export const CameraDialog = dynamic(() => import("./camera-dialog").then((module) => module.CameraDialog), { ssr: false });

type PictureViewProps = { state: PictureState; value: string; picture: PictureContext; title: string; isOver: boolean };

/** The input's picture, or the one being uploaded. */
export function PictureView({ state, value, picture, title, isOver }: PictureViewProps) {
  const t = useTranslations("run.picture");
  return (
    <span className="relative shrink-0">
      <Picture
        src={getPictureSource(state, value, picture)}
        alt={t("current", { title })}
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
  );
}

function getPictureSource(state: PictureState, value: string, { connection, getSource }: PictureContext): string | undefined {
  if (state.kind === "sending" || (state.kind === "sent" && state.value === value)) return state.url;
  if (value === "") return undefined;
  return getSource ? getSource(value) : createThumbnailUrl({ connection, file: toFileRef(value), edge: 512 });
}

type PictureNameProps = Omit<ControlProps, "value"> & { sentName: string; ownName?: string };

/**
 * A service may rename an upload to a long hash. The field shows the uploader's own file name; while focused it shows the name that is sent,
 * which can be edited.
 */
export function PictureName({ sentName, ownName, onChange, ...controlProps }: PictureNameProps) {
  const t = useTranslations("run.picture");
  const common = useTranslations("common");
  const [isFocused, setFocused] = useState(false);
  const isRenamed = ownName !== undefined && ownName !== sentName;
  return (
    <span className="flex w-full items-center gap-1">
      <Input
        {...controlProps}
        aria-label={t("name")}
        title={isRenamed ? sentName : undefined}
        value={isRenamed && !isFocused ? ownName : sentName}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        onChange={({ target }) => onChange(target.value)}
        spellCheck={false}
        autoComplete="off"
        className="font-mono text-sm"
      />
      {isRenamed ? <CopyButton text={sentName} label={common("copy", { id: sentName })} /> : null}
    </span>
  );
}

type PictureNoteProps = Pick<PictureContext, "explainFailure"> & {
  state: PictureState;
  value: string;
  onStop: () => void;
  onRetry: (file: File) => Promise<void>;
};

export function PictureNote({ state, value, explainFailure, onStop, onRetry }: PictureNoteProps) {
  const t = useTranslations("run.picture");
  if (state.kind === "idle") return null;
  if (state.kind === "sending") return <UploadProgress name={state.file.name} share={state.share} onStop={onStop} />;
  // If the upload failed before this control was shown, the value is the file's own name.
  const hasPrevious = value === "" || value === state.file.name ? "no" : "yes";
  if (state.kind === "sent" && state.value === value)
    return <p className="text-ink-2">{t(state.isKnown ? "known" : "sent", { name: state.file.name })}</p>;
  if (state.kind === "refused")
    return (
      <p className="text-bad">{t(state.reason === "broken" ? "broken" : "notImage", { name: state.file.name, previous: hasPrevious })}</p>
    );
  if (state.kind !== "failed") return null;
  const reason = explainFailure?.(state.failure);
  if (reason !== undefined) return <p className="text-bad">{reason}</p>;
  return (
    <>
      <p className="mb-1 text-bad">{t("failed", { name: state.file.name, previous: hasPrevious })}</p>
      <FailureMessage failure={state.failure} actions={<Button onClick={() => void onRetry(state.file)}>{t("again")}</Button>} />
    </>
  );
}
