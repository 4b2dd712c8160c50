"use client";

import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { ConnectionLink } from "@/components/frame/connection/connection-card";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { CopyButton, CopyField } from "@/components/ui/controls/copy-button";
import { useRouter } from "@/components/ui/link";
import { type Tone } from "@/components/ui/status-badge";
import { RelativeTime, useHydrated, useRenderedMs, useRenderedValue, useTimeFormat } from "@/components/ui/time";
import { apiPath } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/members/roles";
import { type NewTokenView, type TokenChoices, type TokenState, type TokenView } from "@/lib/contract/members/tokens";
import { expiresSoon } from "@/lib/contract/times";
import { type Result } from "@/lib/shared/result";
import { SecretCard } from "../resource-form";
import { RevocableItem, RevocableList } from "../revocable-list";
import { SettingsPage } from "../settings-tabs";
import { TokenForm } from "./token-form";

type TokensScreenProps = {
  role: Role;
  choices: Promise<TokenChoices>;
  ownTokens: Promise<Result<TokenView[], Failure>>;
  /** Absent for roles that may not see them. */
  otherTokens?: Promise<Result<TokenView[], Failure>>;
};

export function TokensScreen({ role, choices, ownTokens, otherTokens }: TokensScreenProps) {
  const t = useTranslations("tokens");
  const router = useRouter();
  const [isCreating, setCreating] = useState(false);
  const [wasClosed, setWasClosed] = useState(false);
  const [newToken, setNewToken] = useState<NewTokenView>();
  const loadedChoices = use(choices);
  function close() {
    setCreating(false);
    setNewToken(undefined);
    setWasClosed(true);
  }
  return (
    <SettingsPage
      current="tokens"
      tools={
        !isCreating ? (
          <Button tone="primary" autoFocus={wasClosed} onClick={() => setCreating(true)}>
            {t("create")}
          </Button>
        ) : null
      }
    >
      <Introduction />
      {newToken ? <NewToken newToken={newToken} onClose={close} /> : null}
      {isCreating && !newToken ? (
        <TokenForm
          role={role}
          choices={loadedChoices}
          onCreated={(response) => {
            setNewToken(response);
            // Refreshes the list below.
            router.refresh();
          }}
          onClose={close}
        />
      ) : null}
      <TokenList tokens={ownTokens} title={t("own")} emptyText={t("none")} />
      {otherTokens ? <TokenList tokens={otherTokens} title={t("ofOthers")} emptyText={t("ofOthersNone")} showsMember /> : null}
    </SettingsPage>
  );
}

/** Shows the console's URL for clients, which only the browser has. */
function Introduction() {
  const t = useTranslations("tokens");
  const url = useHydrated() ? `${window.location.origin}${apiPath("/")}`.replace(/\/$/, "") : "";
  return (
    <div className="flex flex-col gap-1 text-ink-2">
      <p className="max-w-[80ch]">{t("text")}</p>
      <p className="flex min-h-7 flex-wrap items-center gap-1">
        {t.rich("docs", { url, code: (text) => <code className="font-mono text-sm">{text}</code> })}
        {url ? <CopyButton text={url} label={t("copyUrl")} /> : null}
        <ConnectionLink href="/docs/api" className="ml-2 text-accent hover:underline">
          {t("reference")}
        </ConnectionLink>
      </p>
    </div>
  );
}

function NewToken({ newToken: { token, view }, onClose }: { newToken: NewTokenView; onClose: () => void }) {
  const t = useTranslations("tokens");
  const example = `curl -H "X-API-Key: ${token}" ${window.location.origin}${apiPath("/api/jobs")}`;
  return (
    <SecretCard title={t("create")} onClose={onClose}>
      <CopyField label={t("made", { name: view.name })} hint={t("madeHint")} text={token} copyLabel={t("copyToken")} autoFocus />
      <CopyField label={t("example")} text={example} copyLabel={t("copyExample")} />
    </SecretCard>
  );
}

type TokenListProps = { tokens: Promise<Result<TokenView[], Failure>>; title: string; emptyText: string; showsMember?: boolean };

export function TokenList({ tokens, title, emptyText, showsMember = false }: TokenListProps) {
  const router = useRouter();
  const result = use(tokens);
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;
  return (
    <RevocableList
      messageNamespace="tokens"
      path="/api/console/tokens"
      title={title}
      items={result.value}
      isActive={({ state }) => state === "active"}
      emptyState={<p className="px-3.5 py-3 text-ink-3">{emptyText}</p>}
      renderItem={(token) => <TokenRow token={token} showsMember={showsMember} />}
    />
  );
}

const stateTones: Readonly<Record<TokenState | "soon", Tone>> = { active: "ok", soon: "wait", expired: "off", revoked: "off" };

function TokenRow({ token, showsMember }: { token: TokenView; showsMember: boolean }) {
  const t = useTranslations("tokens");
  const { name, member, role, state, operations, lastUsedAt } = token;
  const isExpiringSoon = useRenderedValue(useRenderedMs(), (nowMs) => state === "active" && expiresSoon(token, nowMs));
  const displayState = isExpiringSoon ? "soon" : state;
  const operationsText =
    operations === "all" ? t("mayAll") : operations === "reads" ? t("mayRead") : t("chosenCount", { count: operations.length });
  return (
    <RevocableItem
      name={name}
      caption={showsMember ? t("of", { name: member.name }) : undefined}
      role={role}
      tone={stateTones[displayState]}
      stateText={t(`state.${displayState}`)}
    >
      <p className="text-sm text-ink-3">
        <TokenConnections token={token} /> · {operationsText}
      </p>
      <p className="text-sm text-ink-3">
        {lastUsedAt === undefined ? t("unused") : t.rich("used", { time: () => <RelativeTime ms={lastUsedAt} /> })}
        {state === "revoked" ? null : <TokenLifetime token={token} />}
      </p>
    </RevocableItem>
  );
}

function TokenConnections({ token: { connection, connections } }: { token: TokenView }) {
  const t = useTranslations("tokens");
  const name = connection.name ?? t("onUnknown");
  if (!connections) return `${name} (${t("onAll")})`;
  return connections.length > 1 ? t("onMore", { name, count: connections.length - 1 }) : name;
}

function TokenLifetime({ token: { state, expiresAt } }: { token: TokenView }) {
  const t = useTranslations("tokens");
  const formatTime = useTimeFormat();
  if (expiresAt === undefined) return ` · ${t("noExpiry")}`;
  const expiryText = formatTime(expiresAt, "day");
  return expiryText ? ` · ${t(state === "expired" ? "expired" : "expires", { until: expiryText })}` : null;
}
