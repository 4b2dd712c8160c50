"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { ProviderRefusal, type ProviderRefusalReason } from "@/components/frame/account/provider-refusal";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { useRouter } from "@/components/ui/link";
import { StatusBadge } from "@/components/ui/status-badge";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { signInAt } from "@/lib/browser/session";
import { type SignInMethods } from "@/lib/contract/people/sign-in";

/** How this member signs in, if a provider is offered besides passwords. */
export function MethodsCard({ methods }: { methods: SignInMethods }) {
  const t = useTranslations("settings.profile.methods");
  const { busyWith, refused, failure, connect, disconnect } = useMethods();
  const count = methods.providers.filter(({ connected }) => connected).length + (methods.password ? 1 : 0);
  return (
    <Card title={t("title")} bodyClassName="flex flex-col gap-3">
      {refused ? <ProviderRefusal reason={refused.reason} provider={refused.provider} /> : null}
      {failure ? <FailureMessage failure={failure} /> : null}
      <ul>
        <li className="flex min-h-[38px] items-center gap-4 border-b border-line py-2">
          <span className="flex-1">{t("password")}</span>
          <span className="text-ink-3">{t(methods.password ? "hasPassword" : "noPassword")}</span>
        </li>
        {methods.providers.map((provider) => {
          const { id, label, connected } = provider;
          return (
            <li key={id} className="flex min-h-[38px] flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line py-2 last:border-b-0">
              <span className="flex-1">{label}</span>
              {connected ? <StatusBadge tone="ok" word={t("connected")} /> : null}
              {!connected ? (
                <Button
                  size="small"
                  busy={busyWith === id}
                  aria-label={t("connectTo", { provider: label })}
                  onClick={() => void connect(id, label)}
                >
                  {t("connect")}
                </Button>
              ) : count > 1 ? (
                <Button
                  size="small"
                  tone="danger"
                  busy={busyWith === id}
                  aria-label={t("disconnectFrom", { provider: label })}
                  onClick={() => void disconnect(id, label)}
                >
                  {t("disconnect")}
                </Button>
              ) : null}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

function useMethods() {
  const t = useTranslations("settings.profile.methods");
  const router = useRouter();
  const [busyWith, setBusyWith] = useState<string>();
  const [refused, setRefused] = useState<{ provider: string; reason: ProviderRefusalReason }>();
  const [failure, setFailure] = useState<ApiFailure>();
  function begin(id: string) {
    setBusyWith(id);
    setRefused(undefined);
    setFailure(undefined);
  }
  return {
    busyWith,
    refused,
    failure,
    async connect(id: string, provider: string) {
      begin(id);
      const going = await signInAt(id, { purpose: "link", returnTo: "/settings/account" });
      if (going.ok) return window.location.assign(going.value);
      setBusyWith(undefined);
      setRefused({ provider, reason: going.failure });
    },
    async disconnect(id: string, provider: string) {
      begin(id);
      const result = await callApi(`/api/console/account/methods/${encodeURIComponent(id)}`, { method: "DELETE" });
      setBusyWith(undefined);
      if (result.ok) showToast({ tone: "ok", text: t("disconnected", { provider }) });
      else setFailure(result.failure);
      router.refresh();
    },
  };
}
