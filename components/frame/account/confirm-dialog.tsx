import { useTranslations } from "next-intl";
import { type FormEvent, useEffect, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { getFieldText, InputField } from "@/components/ui/controls/fields";
import { Dialog, FormFooter } from "@/components/ui/dialog";
import { FailureNotice } from "@/components/ui/empty-state";
import { callApi } from "@/lib/browser/api";
import { onConfirmationInOtherTab } from "@/lib/browser/confirm-identity";
import { signInWithProvider } from "@/lib/browser/session";
import { useRequests } from "@/lib/browser/use-read";
import { type OidcChoice, type SignInMethods } from "@/lib/contract/members/sign-in";
import { FailureMessage, findInvalidField } from "../failure/failure-message";

type ConfirmDialogProps = { email: string; methods: SignInMethods; onEnd: (isConfirmed: boolean) => void };

/** Opens above everything, even another dialog. The action of that dialog continues after confirmation. */
export function ConfirmDialog({ email, methods, onEnd }: ConfirmDialogProps) {
  const t = useTranslations("frame.confirm");
  const connectedProviders = methods.providers.filter((provider) => provider.connected);
  return (
    <Dialog isOpen onClose={() => onEnd(false)} title={t("title")} className="w-[400px]">
      <div className="flex flex-col gap-3.5">
        {connectedProviders.length > 0 && !methods.password ? <p>{t("textProvider", { email })}</p> : null}
        {connectedProviders.length > 0 ? <ConfirmWithProvider providers={connectedProviders} onConfirmed={() => onEnd(true)} /> : null}
        {methods.password ? <ConfirmForm email={email} onEnd={onEnd} /> : null}
        {connectedProviders.length === 0 && !methods.password ? <p>{t("noMethod")}</p> : null}
      </div>
    </Dialog>
  );
}

function ConfirmForm({ email, onEnd }: Omit<ConfirmDialogProps, "methods">) {
  const t = useTranslations("frame.confirm");
  const { busyWith, failure, send } = useRequests<"confirm">();
  const isBusy = busyWith !== undefined;
  const isPasswordWrong = failure !== undefined && findInvalidField(failure, ["password"]) !== undefined;

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const field = event.currentTarget.elements.namedItem("password");
    const password = getFieldText(new FormData(event.currentTarget), "password");
    const result = await send("confirm", callApi("/api/console/account/confirm", { method: "POST", json: { password } }));
    if (result.ok) return onEnd(true);
    if (field instanceof HTMLInputElement) field.select();
  }

  return (
    <form method="post" onSubmit={(event) => void submit(event)} className="flex flex-col gap-3.5">
      <p>{t("text", { email })}</p>
      {failure && !isPasswordWrong ? <FailureMessage failure={failure} /> : null}
      {/* Lets password managers find the account that the password belongs to. */}
      <input type="email" name="username" autoComplete="username" defaultValue={email} hidden readOnly />
      <InputField
        label={t("password")}
        error={isPasswordWrong ? t("wrong") : undefined}
        name="password"
        type="password"
        autoComplete="current-password"
        required
        maxLength={254}
        autoFocus
      />
      <FormFooter onClose={() => onEnd(false)} busy={isBusy} label={isBusy ? t("busy") : t("submit")} />
    </form>
  );
}

/** Opens the provider in a new tab, so that this page keeps its state. */
function ConfirmWithProvider({ providers, onConfirmed }: { providers: readonly OidcChoice[]; onConfirmed: () => void }) {
  const t = useTranslations("frame.confirm");
  const [busyWith, setBusyWith] = useState<string>();
  const [isWaiting, setWaiting] = useState(false);
  const [refusedProvider, setRefusedProvider] = useState<string>();
  useEffect(() => onConfirmationInOtherTab(onConfirmed), [onConfirmed]);

  async function open({ id, label }: OidcChoice) {
    // Opened synchronously, since the browser would otherwise block it as a pop-up.
    const tab = window.open("", "_blank");
    setBusyWith(id);
    setRefusedProvider(undefined);
    const redirect = await signInWithProvider(id, { purpose: "confirm", returnTo: "/confirmed" });
    setBusyWith(undefined);
    if (!redirect.ok) {
      tab?.close();
      return setRefusedProvider(label);
    }
    setWaiting(true);
    if (tab) tab.location.assign(redirect.value);
    else window.location.assign(redirect.value);
  }
  return (
    <div className="flex flex-col gap-2">
      {refusedProvider ? <FailureNotice title={t("away.title", { provider: refusedProvider })} remedy={t("away.next")} /> : null}
      {providers.map((provider) => (
        <Button key={provider.id} busy={busyWith === provider.id} onClick={() => void open(provider)}>
          {t("with", { provider: provider.label })}
        </Button>
      ))}
      <p role="status" className="text-sm text-ink-3">
        {isWaiting ? t("waiting") : null}
      </p>
    </div>
  );
}
