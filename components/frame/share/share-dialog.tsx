import { useTranslations } from "next-intl";
import { type FormEvent, useId, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { CopyField, useCopy } from "@/components/ui/controls/copy-button";
import { Checkbox, InputField, Options, SelectField } from "@/components/ui/controls/fields";
import { ConfirmDialog, Dialog } from "@/components/ui/dialog";
import { useTimeFormat } from "@/components/ui/time";
import { callApi } from "@/lib/browser/api";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { useRequests } from "@/lib/browser/use-read";
import { list, object, text } from "@/lib/contract/json/readers";
import { type CreatedShare, type ShareBody } from "@/lib/contract/share";

const HOUR_MS = 60 * 60_000;
const lifetimesMs = { hour: HOUR_MS, day: 24 * HOUR_MS, week: 7 * 24 * HOUR_MS, month: 30 * 24 * HOUR_MS } as const;
type Lifetime = keyof typeof lifetimesMs;
const lifetimeNames = ["hour", "day", "week", "month"] as const satisfies readonly Lifetime[];
/** Must match the contract. Only the types of the contract are bundled. */
const MIN_PASSWORD_LENGTH = 8;
const MAX_TITLE_LENGTH = 120;

export type ShareSubject = { job: string } | { assets: readonly string[] };
type ShareDialogProps = { subject: ShareSubject; connectionId: string | undefined; onClose: () => void };

const readNotCleanable = object({ notCleanable: list(text) });

/** Creates a public link. The link is shown only once, because the console stores only its hash. */
export function ShareDialog({ subject, connectionId, onClose }: ShareDialogProps) {
  const t = useTranslations("sharing.dialog");
  const form = useId();
  const isJob = "job" in subject;
  const { busyWith, failure, send } = useRequests<"make">();
  const isBusy = busyWith !== undefined;
  const [createdShare, setCreatedShare] = useState<CreatedShare>();
  const [keepsMetadata, setKeepsMetadata] = useState(false);
  const copy = useCopy();
  const uncleanableFiles = failure?.code === "UNPROCESSABLE" ? readNotCleanable(failure.details)?.notCleanable : undefined;

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const password = String(fields.get("password") ?? "");
    const lifetimeName = lifetimeNames.find((name) => name === fields.get("end")) ?? "week";
    const json: ShareBody = {
      ...(isJob ? { job: subject.job } : { assets: [...subject.assets] }),
      title: String(fields.get("title") ?? ""),
      expiresInMs: lifetimesMs[lifetimeName],
      ...(password !== "" && { password }),
      keepsMetadata,
      showsMaker: fields.has("showsMaker"),
      showsWorkflow: fields.has("showsWorkflow"),
      // True on the second attempt, after the dialog has listed the files that can't be cleaned.
      leavesOut: uncleanableFiles !== undefined,
    };
    const path = withQuery("/api/console/shares", { connection: connectionId });
    const result = await send("make", callApi<CreatedShare>(path, { method: "POST", json }));
    if (!result.ok) return;
    setCreatedShare(result.value);
    void copy(getShareUrl(result.value), t("copied"));
  }

  if (createdShare) return <CreatedLink share={createdShare} onClose={onClose} />;
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={isJob ? t("titleJob") : t("title", { count: subject.assets.length })}
      className="w-[min(460px,calc(100vw-32px))]"
      tone="primary"
      form={form}
      isBusy={isBusy}
      label={isBusy ? t("making") : uncleanableFiles && !keepsMetadata ? t("makeWithout") : t("make")}
    >
      <form id={form} method="post" onSubmit={(event) => void submit(event)} className="flex flex-col gap-3.5" autoComplete="off">
        <p>{t("text")}</p>
        <InputField label={t("name")} hint={t("nameHint")} name="title" maxLength={MAX_TITLE_LENGTH} autoComplete="off" autoFocus />
        <SelectField label={t("expires")} name="end" defaultValue="week">
          <Options of={lifetimeNames.map((name) => [name, t(`end.${name}`)])} />
        </SelectField>
        <InputField
          label={t("password")}
          hint={t("passwordHint")}
          name="password"
          type="password"
          minLength={MIN_PASSWORD_LENGTH}
          maxLength={200}
          autoComplete="new-password"
        />
        <div className="flex flex-col gap-2">
          <Option
            name="keepsMetadata"
            label={t("keepsMetadata")}
            hint={t("keepsMetadataHint")}
            checked={keepsMetadata}
            onChange={setKeepsMetadata}
          />
          <Option name="showsMaker" label={t("showsMaker")} />
          {isJob ? <Option name="showsWorkflow" label={t("showsWorkflow")} hint={t("showsWorkflowHint")} /> : null}
        </div>
        {uncleanableFiles && !keepsMetadata ? (
          <div role="alert" className="rounded-md border border-wait bg-wait-soft px-3 py-2 text-ink">
            <p className="font-semibold">{t("notCleanable", { count: uncleanableFiles.length })}</p>
            <p className="break-words">{uncleanableFiles.slice(0, 10).join(", ")}</p>
            <p>{t("notCleanableNext")}</p>
          </div>
        ) : failure && !uncleanableFiles ? (
          <FailureMessage failure={failure} />
        ) : null}
      </form>
    </ConfirmDialog>
  );
}

type OptionProps = { name: string; label: string; hint?: string; checked?: boolean; onChange?: (checked: boolean) => void };

function Option({ name, label, hint, checked, onChange }: OptionProps) {
  const id = useId();
  return (
    <div className="flex gap-2">
      <Checkbox
        id={id}
        name={name}
        className="mt-0.5"
        {...(hint && { "aria-describedby": `${id}-hint` })}
        {...(onChange && { checked, onChange: ({ target }) => onChange(target.checked) })}
      />
      <div>
        <label htmlFor={id} className="text-ink">
          {label}
        </label>
        {hint ? (
          <p id={`${id}-hint`} className="text-sm text-ink-3">
            {hint}
          </p>
        ) : null}
      </div>
    </div>
  );
}

function CreatedLink({ share, onClose }: { share: CreatedShare; onClose: () => void }) {
  const t = useTranslations("sharing.dialog");
  const formatTime = useTimeFormat();
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t("madeTitle", { title: share.title })}
      className="w-[min(460px,calc(100vw-32px))]"
      actions="close"
    >
      <CopyField
        label={t("link")}
        hint={t("linkHint", { until: formatTime(share.expiresAt, "until") ?? "", count: share.count })}
        text={getShareUrl(share)}
        copyLabel={t("copy")}
      />
    </Dialog>
  );
}

function getShareUrl({ path }: CreatedShare): string {
  return window.location.origin + apiPath(path);
}
