import { useTranslations } from "next-intl";
import { use } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useRouter } from "@/components/ui/link";
import { StatusBadge } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { useClock } from "@/components/ui/time/use-clock";
import { useReadingFrom, useRenderedMs } from "@/components/ui/time/use-now";
import { type Tone } from "@/components/ui/tone";
import { type Failure } from "@/lib/contract/failure";
import { type TokenState, type TokenView } from "@/lib/contract/people/tokens";
import { expiresSoon } from "@/lib/contract/times";
import { type Result } from "@/lib/shared/result";
import { RevocableList } from "../revocable-list";

type TokenListProps = { tokens: Promise<Result<TokenView[], Failure>>; title: string; none: string; isOfOthers?: boolean };

export function TokenList({ tokens, title, none, isOfOthers = false }: TokenListProps) {
  const router = useRouter();
  const result = use(tokens);
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;
  return (
    <RevocableList
      words="tokens"
      path="/api/console/tokens"
      title={title}
      items={result.value}
      isOpen={({ state }) => state === "active"}
      none={<p className="px-3.5 py-3 text-ink-3">{none}</p>}
      row={(token) => <Token token={token} isOfOther={isOfOthers} />}
    />
  );
}

const tones: Readonly<Record<TokenState | "soon", Tone>> = { active: "ok", soon: "wait", expired: "off", revoked: "off" };

function Token({ token, isOfOther }: { token: TokenView; isOfOther: boolean }) {
  const t = useTranslations("tokens");
  const roleName = useTranslations("frame.member.role");
  const { name, member, role, state, operations, lastUsedAt } = token;
  const isSoon = useReadingFrom(useRenderedMs(), (nowMs) => state === "active" && expiresSoon(token, nowMs));
  const shown = isSoon ? "soon" : state;
  const mayDo = operations === "all" ? t("mayAll") : operations === "reads" ? t("mayRead") : t("chosenCount", { count: operations.length });
  return (
    <>
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
    </>
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
