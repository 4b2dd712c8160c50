"use client";

import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { CopyField } from "@/components/ui/controls/copy-field";
import { useRouter } from "@/components/ui/link";
import { useHydrated } from "@/components/ui/time/use-now";
import { apiPath } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/people/roles";
import { type TokenChoices, type TokenMade, type TokenView } from "@/lib/contract/people/tokens";
import { type Result } from "@/lib/shared/result";
import { SettingsTabs } from "../settings-tabs";
import { TokenForm } from "./token-form";
import { TokenList } from "./token-list";

type TokensScreenProps = {
  role: Role;
  choices: Promise<TokenChoices>;
  own: Promise<Result<TokenView[], Failure>>;
  /** Absent for roles that may not see them. */
  others?: Promise<Result<TokenView[], Failure>>;
};

export function TokensScreen({ role, choices, own, others }: TokensScreenProps) {
  const t = useTranslations("tokens");
  const settings = useTranslations("settings");
  const router = useRouter();
  const [isMaking, setMaking] = useState(false);
  const [hasMade, setHasMade] = useState(false);
  const [made, setMade] = useState<TokenMade>();
  const known = use(choices);
  function close() {
    setMaking(false);
    setMade(undefined);
    setHasMade(true);
  }
  return (
    <>
      <PageHeader title={settings("title")}>
        {!isMaking ? (
          <Button tone="primary" autoFocus={hasMade} onClick={() => setMaking(true)}>
            {t("create")}
          </Button>
        ) : null}
      </PageHeader>
      <SettingsTabs current="tokens" />
      <div className="flex w-full max-w-[860px] flex-col gap-3.5 p-4 md:px-5">
        <Introduction />
        {made ? <TokenShown made={made} onClose={close} /> : null}
        {isMaking && !made ? (
          <TokenForm
            role={role}
            choices={known}
            onMade={(answer) => {
              setMade(answer);
              // Refreshes the list below.
              router.refresh();
            }}
            onClose={close}
          />
        ) : null}
        <TokenList tokens={own} title={t("own")} none={t("none")} />
        {others ? <TokenList tokens={others} title={t("ofOthers")} none={t("ofOthersNone")} isOfOthers /> : null}
      </div>
    </>
  );
}

/** The address for clients; only the browser knows under which address this console is open. */
function Introduction() {
  const t = useTranslations("tokens");
  const url = useHydrated() ? `${window.location.origin}${apiPath("/")}`.replace(/\/$/, "") : "";
  return (
    <div className="flex flex-col gap-1 text-ink-2">
      <p className="max-w-[80ch]">{t("text")}</p>
      <p className="flex min-h-7 flex-wrap items-center gap-1">
        {t.rich("docs", { url, code: (text) => <code className="font-mono text-sm">{text}</code> })}
        {url ? <CopyButton text={url} label={t("copyUrl")} /> : null}
      </p>
    </div>
  );
}

/** Shown until it is closed, and never again: the console keeps only a hash of it. */
function TokenShown({ made: { token, view }, onClose }: { made: TokenMade; onClose: () => void }) {
  const t = useTranslations("tokens");
  const common = useTranslations("common");
  const example = `curl -H "X-API-Key: ${token}" ${window.location.origin}${apiPath("/api/jobs")}`;
  return (
    <Card title={t("create")}>
      <div role="status" className="flex max-w-[720px] flex-col gap-3.5">
        <CopyField label={t("made", { name: view.name })} hint={t("madeHint")} text={token} copyLabel={t("copyToken")} autoFocus />
        <CopyField label={t("example")} text={example} copyLabel={t("copyExample")} />
        <div>
          <Button onClick={onClose}>{common("close")}</Button>
        </div>
      </div>
    </Card>
  );
}
