"use client";

import { useTranslations } from "next-intl";
import { useRef, useState } from "react";
import { FailureMessage } from "@/components/frame/failure-message";
import { Button } from "@/components/ui/button";
import { ProgressBar } from "@/components/ui/progress-bar";
import { Select } from "@/components/ui/select";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type ControlProps } from "./control-props";
import { toImageValue } from "./image-ref";
import { type ChoiceValue, type Media } from "./input-spec";
import { type PictureContext } from "./picture-context";

type ServerFilesProps = { options: readonly ChoiceValue[]; value: string; onChange: (value: string) => void };

/** What lies with the server already. */
export function ServerFiles({ options, value, onChange }: ServerFilesProps) {
  const t = useTranslations("run.media");
  const names = options.filter((option) => typeof option === "string");
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
          {name}
        </option>
      ))}
    </Select>
  );
}

type MediaControlProps = ControlProps & {
  media: Media;
  options: readonly ChoiceValue[];
  picture: PictureContext;
  onRunning: (isRunning: boolean) => void;
};
type Sending = { kind: "idle" } | { kind: "sending"; name: string; share: number } | { kind: "failed"; failure: ApiFailure };

/** A film or a sound that a node loads: one of the server's, or one's own. */
export function MediaControl({ id, media, options, picture, onRunning, value, onChange, ...rest }: MediaControlProps) {
  const t = useTranslations("run.media");
  const [state, setState] = useState<Sending>({ kind: "idle" });
  const chooser = useRef<HTMLInputElement>(null);
  const name = typeof value === "string" ? value : "";

  async function send(file: File) {
    setState({ kind: "sending", name: file.name, share: 0 });
    onRunning(true);
    const onProgress = (share: number) => setState({ kind: "sending", name: file.name, share });
    const sent = await picture.sendPicture(file, { onProgress, signal: new AbortController().signal });
    onRunning(false);
    if (!sent.ok) return setState({ kind: "failed", failure: sent.failure });
    setState({ kind: "idle" });
    const sentAs = toImageValue(sent.value);
    picture.onNamed(sentAs, file.name);
    onChange(sentAs);
  }
  return (
    <span className="flex flex-wrap items-center gap-2">
      <output {...rest} id={id} className="min-w-0 font-mono text-sm break-all">
        {picture.ownNames?.[name] ?? (name || t("none"))}
      </output>
      <ServerFiles options={options} value={name} onChange={onChange} />
      <Button size="small" busy={state.kind === "sending"} onClick={() => chooser.current?.click()}>
        {t(media)}
      </Button>
      <input
        ref={chooser}
        type="file"
        accept={`${media}/*`}
        hidden
        data-testid="media-file"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) void send(file);
          // The same file chosen again must be a change again.
          target.value = "";
        }}
      />
      {state.kind === "sending" ? <ProgressBar value={state.share} label={t("sending", { name: state.name })} /> : null}
      {state.kind === "failed" ? <FailureMessage failure={state.failure} /> : null}
    </span>
  );
}
