"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { CopyField } from "@/components/ui/controls/copy-field";
import { useRouter } from "@/components/ui/link";
import { type EmbedHostSaved, type EmbedHostView } from "@/lib/contract/embed/embedding";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/people/roles";
import { type Result } from "@/lib/shared/result";
import { SettingsTabs } from "../settings-tabs";
import { HostForm, type TeamConnection } from "./host-form";
import { HostList } from "./host-list";

type EmbeddingScreenProps = {
  role: Role;
  connections: readonly TeamConnection[];
  /** Absent for roles that may not see them. */
  hosts?: Promise<Result<EmbedHostView[], Failure>>;
};

export function EmbeddingScreen({ role, connections, hosts }: EmbeddingScreenProps) {
  const t = useTranslations("embedding");
  const settings = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  const router = useRouter();
  const [open, setOpen] = useState<EmbedHostView | "new">();
  const [saved, setSaved] = useState<EmbedHostSaved>();

  function keep(given: EmbedHostSaved) {
    setOpen(undefined);
    setSaved(given.secret === undefined ? undefined : given);
    router.refresh();
  }
  return (
    <>
      <PageHeader title={settings("title")}>
        {hosts && !open ? (
          <Button tone="primary" onClick={() => setOpen("new")}>
            {t("add")}
          </Button>
        ) : null}
      </PageHeader>
      <SettingsTabs current="embedding" />
      <div className="flex w-full max-w-[860px] flex-col gap-3.5 p-4 md:px-5">
        {hosts ? (
          <>
            <p className="text-ink-2">{t("intro")}</p>
            {saved ? <HostSecret saved={saved} onClose={() => setSaved(undefined)} /> : null}
            {open ? (
              <HostForm
                key={open === "new" ? "new" : open.id}
                host={open === "new" ? undefined : open}
                role={role}
                connections={connections}
                onSaved={keep}
                onClose={() => setOpen(undefined)}
              />
            ) : null}
            <HostList hosts={hosts} connections={connections} onChange={setOpen} />
          </>
        ) : (
          <p className="text-ink-2">{t("notYours", { role: roleName(role) })}</p>
        )}
      </div>
    </>
  );
}

/** Shown until it is closed, and never again. */
function HostSecret({ saved: { host, secret = "" }, onClose }: { saved: EmbedHostSaved; onClose: () => void }) {
  const t = useTranslations("embedding.secret");
  return (
    <Card title={t("title", { name: host.name })}>
      <div role="status" className="flex max-w-[620px] flex-col gap-3">
        <CopyField label={t("label")} hint={t("text")} text={secret} copyLabel={t("copy")} />
        <div>
          <Button onClick={onClose}>{t("done")}</Button>
        </div>
      </div>
    </Card>
  );
}
