import { useTranslations } from "next-intl";
import { type FormEvent, useEffect, useState } from "react";
import { Button } from "@/components/ui/controls/button";
import { fieldText, InputField } from "@/components/ui/controls/fields";
import { Dialog, FormFoot } from "@/components/ui/dialog";
import { FailureNotice } from "@/components/ui/empty-state";
import { callApi } from "@/lib/browser/api";
import { onConfirmedElsewhere } from "@/lib/browser/confirm";
import { signInWithProvider } from "@/lib/browser/session";
import { useRequests } from "@/lib/browser/use-read";
import { type OidcChoice, type SignInMethods } from "@/lib/contract/people/sign-in";
import { FailureMessage, findInvalidField } from "../failure/failure-message";

type ConfirmDialogProps = { email: string; methods: SignInMethods; onEnd: (isConfirmed: boolean) => void };

/** Opens over everything, even another dialog, whose action continues after confirmation. */
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
  const { busyWith, failure, send } = useRequests<"confirm">();
  const isBusy = busyWith !== undefined;
  const isWrong = failure !== undefined && findInvalidField(failure, ["password"]) !== undefined;

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const field = event.currentTarget.elements.namedItem("password");
    const password = fieldText(new FormData(event.currentTarget), "password");
    const result = await send("confirm", callApi("/api/console/account/confirm", { method: "POST", json: { password } }));
    if (result.ok) return onEnd(true);
    if (field instanceof HTMLInputElement) field.select();
  }

  return (
    <form method="post" onSubmit={(event) => void submit(event)} className="flex flex-col gap-3.5">
      <p>{t("text", { email })}</p>
      {failure && !isWrong ? <FailureMessage failure={failure} /> : null}
      {/* For password managers: the account of the password. */}
      <input type="email" name="username" autoComplete="username" defaultValue={email} hidden readOnly />
      <InputField
        label={t("password")}
        error={isWrong ? t("wrong") : undefined}
        name="password"
        type="password"
        autoComplete="current-password"
        required
        maxLength={254}
        autoFocus
      />
      <FormFoot onClose={() => onEnd(false)} busy={isBusy} label={isBusy ? t("busy") : t("submit")} />
    </form>
  );
}

/** Opens the provider in a new tab, so that this page keeps its state. */
function ConfirmAtProvider({ providers, onConfirmed }: { providers: readonly OidcChoice[]; onConfirmed: () => void }) {
  const t = useTranslations("frame.confirm");
  const [busyWith, setBusyWith] = useState<string>();
  const [isWaiting, setWaiting] = useState(false);
  const [refused, setRefused] = useState<string>();
  useEffect(() => onConfirmedElsewhere(onConfirmed), [onConfirmed]);

  async function open({ id, label }: OidcChoice) {
    // Opened synchronously, since the browser would otherwise block it as a pop-up.
    const tab = window.open("", "_blank");
    setBusyWith(id);
    setRefused(undefined);
    const redirect = await signInWithProvider(id, { purpose: "confirm", returnTo: "/confirmed" });
    setBusyWith(undefined);
    if (!redirect.ok) {
      tab?.close();
      return setRefused(label);
    }
    setWaiting(true);
    if (tab) tab.location.assign(redirect.value);
    else window.location.assign(redirect.value);
  }
  return (
    <div className="flex flex-col gap-2">
      {refused ? <FailureNotice title={t("away.title", { provider: refused })} next={t("away.next")} /> : null}
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
