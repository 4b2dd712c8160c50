"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { CopyableId, CopyButton } from "@/components/ui/controls/copy-button";
import { Options } from "@/components/ui/controls/fields";
import { SelectField } from "@/components/ui/controls/form-field";
import { Dialog } from "@/components/ui/dialog";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { toOutsidePath, withQuery } from "@/lib/browser/urls";
import { embedRefusals } from "@/lib/contract/embed/embed-pages";
import { type EmbedHostView } from "@/lib/contract/embed/embedding";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/people/roles";
import { type Result } from "@/lib/shared/result";
import { ResourceItem, ResourceScreen, type TeamConnection } from "../resource-screen";
import { HostForm } from "./host-form";
import { isServerLanguage, languageNames, pageSnippet, serverCode, type ServerLanguage, serverLanguages } from "./server-code";

type EmbeddingScreenProps = {
  role: Role;
  connections: readonly TeamConnection[];
  /** Absent for roles that may not see them. */
  hosts?: Promise<Result<EmbedHostView[], Failure>>;
};

export function EmbeddingScreen({ role, connections, hosts }: EmbeddingScreenProps) {
  const t = useTranslations("embedding");
  const [shown, setShown] = useState<EmbedHostView>();
  return (
    <>
      <ResourceScreen
        words="embedding"
        path="/api/console/embedding"
        role={role}
        title={t("hosts")}
        none={t("none")}
        resources={hosts}
        form={(host, { onSaved, onClose }) => (
          <HostForm
            host={host}
            role={role}
            connections={connections}
            onSaved={({ host: { name }, secret }) => onSaved(name, secret)}
            onClose={onClose}
          />
        )}
        item={(host, { change, remove }) => (
          <HostItem
            host={host}
            connection={connections.find(({ id }) => id === host.connection)?.name}
            acts={[
              { key: "code", label: t("code"), onClick: () => setShown(host) },
              { key: "change", label: t("change"), onClick: change },
              { key: "remove", label: t("remove"), onClick: remove },
            ]}
          />
        )}
      />
      {shown ? <SnippetDialog host={shown} onClose={() => setShown(undefined)} /> : null}
    </>
  );
}

function HostItem({
  host,
  connection,
  acts: actions,
}: {
  host: EmbedHostView;
  connection?: string;
  acts: Parameters<typeof ResourceItem>[0]["actions"];
}) {
  const t = useTranslations("embedding");
  const roleName = useTranslations("frame.member.role");
  const { id, name, origins, role, pages, guests, jwksUrl, refused, keptBy, oldSecretUntil } = host;
  const embedRefusal = embedRefusals.find((value) => value === refused?.why);
  const facts = [
    [t("origins"), origins.join(", ")],
    [t("connection"), host.connection === null ? t("allConnections") : (connection ?? host.connection)],
    [t("role"), roleName(role)],
    [t("pages"), pages.map((page) => t(`page.${page}`)).join(", ")],
    [t("guests"), guests ? t("guestsYes") : t("guestsNo")],
    [t("key"), jwksUrl === null ? t("keySecret") : t("keyJwks", { url: jwksUrl })],
    ...(keptBy ? [[t("keptBy"), keptBy.name] as const] : []),
  ] as const;
  return (
    <ResourceItem
      words="embedding"
      name={name}
      badge={<CopyableId id={id} />}
      actions={actions}
      facts={facts}
      oldSecretUntil={oldSecretUntil}
    >
      {keptBy?.lost ? <p className="text-wait">{t(`keeperLost.${keptBy.lost}`, { name: keptBy.name })}</p> : null}
      {refused && embedRefusal ? (
        <p className="text-bad">
          {t.rich("refusedAt", { why: t(`refusal.${embedRefusal}`), time: () => <RelativeTime ms={refused.at} /> })}
        </p>
      ) : null}
    </ResourceItem>
  );
}

function SnippetDialog({ host, onClose }: { host: EmbedHostView; onClose: () => void }) {
  const t = useTranslations("embedding.snippet");
  const [language, setLanguage] = useState<ServerLanguage>("node");
  const doctor = withQuery("/embed/doctor", { host: host.id, origin: host.origins[0] });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t("title", { name: host.name })}
      className="w-[min(880px,calc(100vw-24px))]"
      actions={
        <>
          <a href={toOutsidePath(doctor)} target="_blank" rel="noreferrer" className={buttonStyle()}>
            {t("doctor")}
          </a>
          <Button onClick={onClose}>{t("close")}</Button>
        </>
      }
    >
      <SelectField
        label={t("language")}
        value={language}
        onChange={({ target }) => {
          if (isServerLanguage(target.value)) setLanguage(target.value);
        }}
      >
        <Options of={serverLanguages.map((serverLanguage) => [serverLanguage, languageNames[serverLanguage]])} />
      </SelectField>
      <Code title={t("server")} text={serverCode(language, host)} note={t(host.jwksUrl === null ? "serverNote" : "serverNoteKey")} />
      <Code title={t("page")} text={pageSnippet(host)} note={t("pageNote")} />
    </Dialog>
  );
}

function Code({ title, text, note }: { title: string; text: string; note?: string }) {
  const t = useTranslations("embedding.snippet");
  return (
    <section className="my-3">
      <h3 className="flex items-center gap-2 font-medium text-ink">
        {title} <CopyButton text={text} label={`${t("copy")}: ${title}`} />
      </h3>
      {note ? <p className="text-sm text-ink-3">{note}</p> : null}
      <pre tabIndex={0} aria-label={title} className="mt-1 overflow-x-auto rounded-md bg-sunken p-3 font-mono text-sm text-ink">
        {text}
      </pre>
    </section>
  );
}
