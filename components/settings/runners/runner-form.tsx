import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { InputField } from "@/components/ui/controls/fields";
import { callApi } from "@/lib/browser/api";
import { type NewRunner, type Runner, type RunnerCheck, type RunnerSaved } from "@/lib/contract/runners/runners";
import { parseTags } from "@/lib/shared/text";
import { RunnerCheckNotice } from "../check-notices";
import { ResourceForm, useResourceForm } from "../resource-form";

export function getRunnerPath(id?: string, suffix?: "state"): `/api/console/runners${string}` {
  return `/api/console/runners${id === undefined ? "" : `/${encodeURIComponent(id)}`}${suffix ? `/${suffix}` : ""}`;
}

type RunnerFormProps = {
  /** Absent for a new runner. */
  runner?: Runner;
  onSaved: (runner: Runner) => void;
  onClose: () => void;
};

const fields = ["address", "label", "tags", "slots"] as const;
type FormAction = "check" | "save" | "keep";

/** Checks the server at the address before saving, and closes once saved. */
export function RunnerForm({ runner, onSaved, onClose }: RunnerFormProps) {
  const t = useTranslations("runners.form");
  const tRunners = useTranslations("runners");
  const { busyWith, failure, field: invalidField, send } = useResourceForm<(typeof fields)[number], FormAction>(fields);
  const [check, setCheck] = useState<RunnerCheck>();
  const [isRefused, setRefused] = useState(false);
  const isBuiltIn = runner?.address === null;

  async function submit(form: HTMLFormElement | null, action: FormAction) {
    if (!form?.reportValidity()) return;
    const values = parseRunnerForm(new FormData(form), isBuiltIn);
    if (action !== "keep") setCheck(undefined);
    setRefused(false);
    if (action === "check") {
      const json = { address: values.address };
      const checkResult = await send(action, (signal) =>
        callApi<{ check: RunnerCheck }>(getRunnerPath("check"), { method: "POST", json, signal }),
      );
      if (checkResult.ok) setCheck(checkResult.value.check);
      return;
    }
    const json = runner ? values : { ...values, keep: action === "keep" };
    const result = await send(action, (signal) =>
      callApi<RunnerSaved>(getRunnerPath(runner?.id), { method: runner ? "PATCH" : "POST", json, signal }),
    );
    if (!result.ok) return;
    if (result.value.runner) return onSaved(result.value.runner);
    setCheck({ ok: false, ...result.value.problem });
    setRefused(true);
  }
  const isAddressTaken = failure?.code === "CONFLICT";
  const field = isAddressTaken ? "address" : invalidField;
  const getFieldError = (name: (typeof fields)[number]) =>
    field === name ? t(isAddressTaken ? "wrong.taken" : `wrong.${name}`) : undefined;
  return (
    <ResourceForm
      title={runner ? t("changeTitle", { name: runner.label }) : t("addTitle")}
      submitLabel={runner ? t(busyWith === "save" ? "saving" : "save") : t(busyWith === "save" ? "adding" : "submit")}
      isBusy={busyWith === "save"}
      isDisabled={busyWith !== undefined && busyWith !== "save"}
      failure={field ? undefined : failure}
      notice={
        <>
          {check ? <RunnerCheckNotice check={check} /> : null}
          {isRefused ? <p className="text-ink-2">{t(runner ? "notChanged" : "notAdded")}</p> : null}
        </>
      }
      actions={
        <>
          {isBuiltIn ? null : (
            <Button
              busy={busyWith === "check"}
              disabled={busyWith !== undefined && busyWith !== "check"}
              onClick={({ currentTarget: { form } }) => void submit(form, "check")}
            >
              {t(busyWith === "check" ? "checking" : "check")}
            </Button>
          )}
          {isRefused && !runner ? (
            <Button busy={busyWith === "keep"} onClick={({ currentTarget: { form } }) => void submit(form, "keep")}>
              {t("keep")}
            </Button>
          ) : null}
        </>
      }
      onSubmit={(form) => void submit(form, "save")}
      onClose={onClose}
    >
      {isBuiltIn ? null : (
        <InputField
          label={tRunners("address")}
          hint={t("addressHint")}
          error={getFieldError("address")}
          name="address"
          inputMode="url"
          autoCapitalize="none"
          spellCheck={false}
          required
          autoFocus
          maxLength={2000}
          defaultValue={runner?.address ?? ""}
          placeholder="http://"
        />
      )}
      <InputField
        label={t("label")}
        hint={t("labelHint")}
        error={getFieldError("label")}
        name="label"
        autoFocus={isBuiltIn}
        required={runner !== undefined}
        maxLength={60}
        defaultValue={runner?.label}
        placeholder={t("labelPlaceholder")}
      />
      <InputField
        label={tRunners("tags")}
        hint={t("tagsHint")}
        error={getFieldError("tags")}
        name="tags"
        maxLength={1000}
        defaultValue={runner?.tags.join(", ")}
      />
      {isBuiltIn ? null : (
        <InputField
          label={t("slots")}
          hint={t("slotsHint")}
          error={getFieldError("slots")}
          name="slots"
          type="number"
          min={1}
          max={16}
          required
          defaultValue={runner?.slots ?? 1}
          className="w-24"
        />
      )}
    </ResourceForm>
  );
}

/** Omits fields that the built-in runner can't have. Without a label, the service names a runner after its host. */
function parseRunnerForm(data: FormData, isBuiltIn: boolean): Omit<NewRunner, "keep" | "address"> & { address?: string } {
  const getText = (name: (typeof fields)[number]) => String(data.get(name) ?? "").trim();
  const label = getText("label");
  return {
    tags: parseTags(getText("tags")),
    ...(label && { label }),
    ...(!isBuiltIn && { address: getText("address"), slots: Number(getText("slots")) }),
  };
}
