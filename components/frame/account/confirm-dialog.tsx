import { useTranslations } from "next-intl";
import { type FormEvent, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { fieldText } from "@/components/ui/controls/field-text";
import { FormField } from "@/components/ui/controls/form-field";
import { Input } from "@/components/ui/controls/input";
import { Dialog, DialogFoot } from "@/components/ui/dialog";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type SignInMethods } from "@/lib/contract/people/sign-in";
import { FailureMessage } from "../failure/failure-message";
import { faultyField } from "../failure/faulty-field";
import { ConfirmAtProvider } from "./confirm-at-provider";

type ConfirmDialogProps = { email: string; methods: SignInMethods; onEnd: (isConfirmed: boolean) => void };

/** Opens over everything else, even another dialog, whose act continues afterwards. */
export function ConfirmDialog({ email, methods, onEnd }: ConfirmDialogProps) {
  const t = useTranslations("frame.confirm");
  const connected = methods.providers.filter((provider) => provider.connected);
  return (
    <Dialog isOpen onClose={() => onEnd(false)} title={t("title")} className="w-[400px]">
      <div className="flex flex-col gap-3.5">
        {connected.length > 0 && !methods.password ? <p>{t("textProvider", { email })}</p> : null}
        {connected.length > 0 ? <ConfirmAtProvider providers={connected} onConfirmed={() => onEnd(true)} /> : null}
        {methods.password ? <ConfirmForm email={email} onEnd={onEnd} /> : null}
        {connected.length === 0 && !methods.password ? <p>{t("noMethod")}</p> : null}
      </div>
    </Dialog>
  );
}

function ConfirmForm({ email, onEnd }: Omit<ConfirmDialogProps, "methods">) {
  const t = useTranslations("frame.confirm");
  const common = useTranslations("common");
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ApiFailure>();
  const isWrong = failure !== undefined && faultyField(failure, ["password"]) !== undefined;

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const field = event.currentTarget.elements.namedItem("password");
    const password = fieldText(new FormData(event.currentTarget), "password");
    setBusy(true);
    setFailure(undefined);
    const result = await callApi("/api/console/account/confirm", { method: "POST", json: { password } });
    if (result.ok) return onEnd(true);
    setBusy(false);
    setFailure(result.failure);
    if (field instanceof HTMLInputElement) field.select();
  }

  return (
    <form method="post" onSubmit={(event) => void submit(event)} className="flex flex-col gap-3.5">
      <p>{t("text", { email })}</p>
      {failure && !isWrong ? <FailureMessage failure={failure} /> : null}
      {/* Tells the browser's password manager whose password it is. */}
      <input type="email" name="username" autoComplete="username" defaultValue={email} hidden readOnly />
      <FormField label={t("password")} error={isWrong ? t("wrong") : undefined}>
        {(control) => (
          <Input {...control} name="password" type="password" autoComplete="current-password" required maxLength={254} autoFocus />
        )}
      </FormField>
      <DialogFoot>
        <Button onClick={() => onEnd(false)}>{common("cancel")}</Button>
        <Button type="submit" tone="primary" busy={isBusy}>
          {isBusy ? t("busy") : t("submit")}
        </Button>
      </DialogFoot>
    </form>
  );
}
