import { useRouter } from "@/components/ui/hooks/use-router";
import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { StatusBadge } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { useClock } from "@/components/ui/time/use-clock";
import { useReadingFrom, useRenderedMs } from "@/components/ui/time/use-now";
import { showToast } from "@/components/ui/toast-store";
import { type Tone } from "@/components/ui/tone";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type Failure } from "@/lib/contract/failure";
import { type TokenState, type TokenView } from "@/lib/contract/tokens";
import { type Result } from "@/lib/shared/result";
import { RemovalDialog } from "../removal-dialog";

const SOON_MS = 7 * 24 * 60 * 60_000;

type TokenListProps = { tokens: Promise<Result<TokenView[], Failure>>; title: string; none: string; isOfOthers?: boolean };

/** Those that work, and below them those that did. */
export function TokenList({ tokens, title, none, isOfOthers = false }: TokenListProps) {
  const t = useTranslations("tokens");
  const router = useRouter();
  const result = use(tokens);
  const [leaving, setLeaving] = useState<TokenView>();
  const [busyWith, setBusyWith] = useState<string>();
  const [failure, setFailure] = useState<ApiFailure>();
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;
  const active = result.value.filter(({ state }) => state === "active");
  const past = result.value.filter(({ state }) => state !== "active");

  async function revoke({ id, name }: TokenView) {
    setLeaving(undefined);
    setBusyWith(id);
    setFailure(undefined);
    const done = await callApi(`/api/console/tokens/${encodeURIComponent(id)}`, { method: "DELETE" });
    setBusyWith(undefined);
    if (done.ok) showToast({ tone: "off", text: t("revoked", { name }) });
    else setFailure(done.failure);
    if (done.ok || done.failure.code !== "UNAUTHORIZED") router.refresh();
  }

  const rowOf = (token: TokenView) => (
    <TokenRow key={token.id} token={token} isOfOther={isOfOthers} isBusy={busyWith === token.id} onRevoke={() => setLeaving(token)} />
  );
  return (
    <>
      {failure ? <FailureMessage failure={failure} /> : null}
      <Card title={title} note={active.length} bodyClassName="p-0">
        {active.length === 0 ? <p className="px-3.5 py-3 text-ink-3">{none}</p> : <ul>{active.map(rowOf)}</ul>}
        {past.length > 0 ? (
          <details className="border-t border-line">
            <summary className="cursor-pointer px-3.5 py-2 text-ink-2 hover:text-ink">
              {t("past")} <span className="text-ink-3">{past.length}</span>
            </summary>
            <ul className="border-t border-line">{past.map(rowOf)}</ul>
          </details>
        ) : null}
      </Card>
      <RemovalDialog
        leaving={leaving}
        title={t("revokeTitle", { name: leaving?.name ?? "" })}
        onRemove={(gone) => void revoke(gone)}
        onClose={() => setLeaving(undefined)}
      >
        {t("revokeText")}
      </RemovalDialog>
    </>
  );
}

const tones: Readonly<Record<TokenState | "soon", Tone>> = { active: "ok", soon: "wait", expired: "off", revoked: "off" };

type TokenRowProps = { token: TokenView; isOfOther: boolean; isBusy: boolean; onRevoke: () => void };

function TokenRow({ token, isOfOther, isBusy, onRevoke }: TokenRowProps) {
  const t = useTranslations("tokens");
  const settings = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  const { id, name, member, role, state, operations, expiresAt, lastUsedAt } = token;
  const isSoon = useReadingFrom(useRenderedMs(), (nowMs) => state === "active" && expiresAt !== undefined && expiresAt - nowMs < SOON_MS);
  const shown = isSoon ? "soon" : state;
  const mayDo = operations === "all" ? t("mayAll") : operations === "reads" ? t("mayRead") : t("chosenCount", { count: operations.length });
  return (
    <li
      data-token={id}
      aria-busy={isBusy || undefined}
      className="flex min-h-[46px] flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-3.5 py-2 last:border-b-0"
    >
      <div className="min-w-0 flex-1 basis-full sm:basis-0">
        <p className="flex items-baseline gap-2">
          <span className="truncate font-semibold" title={name}>
            {name}
          </span>
          {isOfOther ? <span className="min-w-0 truncate text-sm text-ink-2">{t("of", { name: member.name })}</span> : null}
        </p>
        <p className="text-sm text-ink-3">
          <Places token={token} /> · {mayDo}
        </p>
        <p className="text-sm text-ink-3">
          {lastUsedAt === undefined ? t("unused") : t.rich("used", { time: () => <RelativeTime ms={lastUsedAt} /> })}
          {state === "revoked" ? null : <Life token={token} />}
        </p>
      </div>
      <span className="w-[72px]">{roleName(role)}</span>
      <span className="w-[116px]">
        <StatusBadge tone={tones[shown]} word={t(`state.${shown}`)} />
      </span>
      <span className="ml-auto flex w-[76px] justify-end">
        {state === "active" ? (
          <Button size="small" tone="danger" busy={isBusy} aria-label={settings("actOn", { act: t("revoke"), name })} onClick={onRevoke}>
            {t("revoke")}
          </Button>
        ) : null}
      </span>
    </li>
  );
}

function Places({ token: { connection, connections } }: { token: TokenView }) {
  const t = useTranslations("tokens");
  const name = connection.name ?? t("onUnknown");
  if (!connections) return `${name} (${t("onAll")})`;
  return connections.length > 1 ? t("onMore", { name, count: connections.length - 1 }) : name;
}

function Life({ token: { state, expiresAt } }: { token: TokenView }) {
  const t = useTranslations("tokens");
  const clock = useClock();
  if (expiresAt === undefined) return ` · ${t("noExpiry")}`;
  const until = clock(expiresAt, "day");
  return until ? ` · ${t(state === "expired" ? "expired" : "expires", { until })}` : null;
}
