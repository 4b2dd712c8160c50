import { X } from "lucide-react";
import { useLocale, useTranslations } from "next-intl";
import useSWR from "swr";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button, buttonStyle, IconButton } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/empty-state";
import { ButtonLink } from "@/components/ui/link";
import { ProgressBar } from "@/components/ui/skeleton";
import { ToneIcon } from "@/components/ui/status-badge";
import { createViewUrl, getNewTabProps, withQuery } from "@/lib/browser/urls";
import { formatBytes } from "@/lib/shared/text";
import { findAsset, type SavedMask, type SaveFailure, type SaveState, type SaveStep } from "../file/mask-session";
import { MAX_BYTES } from "../file/mask-source";

type SaveOutcomeProps = { state: SaveState; connection?: string; onRetry: () => void; onDismiss: () => void };

/** Shown above the drawing, so that the drawing does not move. */
export function SaveOutcome({ state, connection, onRetry, onDismiss }: SaveOutcomeProps) {
  if (state.kind === "saved") return <SavedNotice savedMask={state.mask} connection={connection} onDismiss={onDismiss} />;
  return state.kind === "failed" ? <SaveFailed failure={state.failure} onRetry={onRetry} onDismiss={onDismiss} /> : null;
}

function SaveFailed({ failure, onRetry, onDismiss }: { failure: SaveFailure; onRetry: () => void; onDismiss: () => void }) {
  const t = useTranslations("masks.save");
  const locale = useLocale();
  const retryButton = <Button onClick={onRetry}>{t("again")}</Button>;
  return (
    <div className="absolute inset-x-2 bottom-2 z-10 mx-auto max-w-[640px] rounded-lg bg-bg shadow-xl">
      <div className="flex items-start gap-2 pt-1.5 pr-1.5 pl-3.5">
        <p className="min-w-0 flex-1 py-1 font-semibold">{t("failed")}</p>
        <DismissButton onClick={onDismiss} />
      </div>
      {failure.kind === "failed" ? (
        <FailureMessage failure={failure.failure} actions={retryButton} className="m-2" />
      ) : (
        <FailureNotice
          className="m-2"
          title={
            failure.kind === "too-heavy"
              ? t("tooHeavy", { size: formatBytes(failure.bytes, locale), max: formatBytes(MAX_BYTES, locale) })
              : t("notPacked", { reason: failure.reason })
          }
          actions={retryButton}
        />
      )}
    </div>
  );
}

function SavedNotice({ savedMask, connection, onDismiss }: { savedMask: SavedMask; connection?: string; onDismiss: () => void }) {
  const t = useTranslations("masks.save");
  const name = savedMask.display_name ?? savedMask.name;
  const { data: asset } = useSWR(["masks.asset", savedMask.name, connection], () => findAsset(savedMask, connection), {
    revalidateOnFocus: false,
  });
  const { mask, paint, painted } = savedMask.metadata?.related_files ?? {};
  const layers = Object.entries({ mask, paint, painted } as const).flatMap(([layer, file]) => (file ? [{ layer, file }] : []));
  const fileUrl = createViewUrl({
    filename: savedMask.name,
    subfolder: savedMask.subfolder ?? undefined,
    type: savedMask.type ?? "input",
    connection,
  });
  return (
    <div
      role="status"
      className="absolute inset-x-2 bottom-2 z-10 mx-auto flex max-w-[640px] items-start gap-2.5 rounded-lg border border-line bg-surface p-3 shadow-xl"
    >
      <span className="mt-0.5 text-ok">
        <ToneIcon tone="ok" />
      </span>
      <div className="min-w-0 flex-1">
        <p className="font-semibold break-words">{t("saved", { name })}</p>
        {layers.length > 0 ? (
          <p className="text-ink-2">
            {t("layers")}{" "}
            {layers.map(({ layer, file: filename }) => (
              <a
                key={layer}
                href={createViewUrl({ filename, type: "input", connection })}
                {...getNewTabProps()}
                className="mr-2 text-accent underline-offset-2 hover:underline"
              >
                {t(`layer.${layer === "mask" || layer === "paint" ? layer : "painted"}`)}
              </a>
            ))}
          </p>
        ) : null}
        <p className="mt-2 flex flex-wrap gap-2">
          {asset ? (
            <>
              <ButtonLink href={withQuery(`/assets/${encodeURIComponent(asset)}`, { connection })}>{t("openAsset")}</ButtonLink>
              <ButtonLink href={withQuery("/run", { asset, connection })}>{t("use")}</ButtonLink>
            </>
          ) : (
            <a href={fileUrl} {...getNewTabProps()} className={buttonStyle()}>
              {t("openFile")}
            </a>
          )}
        </p>
      </div>
      <DismissButton onClick={onDismiss} />
    </div>
  );
}

function DismissButton({ onClick }: { onClick: () => void }) {
  const t = useTranslations("common");
  return <IconButton icon={X} label={t("dismiss")} tone="quiet" onClick={onClick} />;
}

/** The current step of saving. Each step is announced once. */
export function SaveProgress({ step, onStop }: { step: SaveStep; onStop: () => void }) {
  const t = useTranslations("masks");
  const locale = useLocale();
  const name = t(`save.step.${step.kind}`);
  return (
    <span className="flex items-center gap-2 text-ink-2 tabular-nums">
      <span role="status" className="sr-only">
        {name}
      </span>
      <span aria-hidden="true">
        {step.kind === "sending"
          ? t("save.sending", { done: formatBytes(step.share * step.bytes, locale), all: formatBytes(step.bytes, locale) })
          : step.kind === "packing"
            ? t("save.packing", { share: step.share })
            : name}
      </span>
      {step.kind === "storing" ? null : <ProgressBar value={step.share} label={name} className="max-sm:hidden" />}
      <Button size="small" onClick={onStop}>
        {t("act.stop")}
      </Button>
    </span>
  );
}
