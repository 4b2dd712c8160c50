"use client";

import { useTranslations } from "next-intl";
import { useState } from "react";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { ChecksField } from "@/components/ui/controls/check-list";
import { CopyableId, CopyButton } from "@/components/ui/controls/copy-button";
import { CheckField, getFieldText, InputField, Options, SelectField, TextareaField } from "@/components/ui/controls/fields";
import { Dialog } from "@/components/ui/dialog";
import { RelativeTime } from "@/components/ui/time";
import { callApi } from "@/lib/browser/api";
import { toSessionlessPath, withQuery } from "@/lib/browser/urls";
import { embedPages, embedRefusals } from "@/lib/contract/embed/embed-pages";
import { type EmbedHostBody, type EmbedHostSaved, type EmbedHostView, type RenewSecret } from "@/lib/contract/embed/embedding";
import { type Failure } from "@/lib/contract/failure";
import { hasRole, type Role } from "@/lib/contract/members/roles";
import { type Result } from "@/lib/shared/result";
import { ChoiceField, RenewSecretField, ResourceForm, useResourceForm } from "../resource-form";
import { ResourceItem, ResourceScreen, type TeamConnection } from "../resource-screen";
import { isServerLanguage, languageNames, renderPageSnippet, renderServerCode, type ServerLanguage, serverLanguages } from "./server-code";

type EmbeddingScreenProps = {
  role: Role;
  connections: readonly TeamConnection[];
  /** Absent for roles that may not see them. */
  hosts?: Promise<Result<EmbedHostView[], Failure>>;
};

export function EmbeddingScreen({ role, connections, hosts }: EmbeddingScreenProps) {
  const t = useTranslations("embedding");
  const [snippetHost, setSnippetHost] = useState<EmbedHostView>();
  return (
    <>
      <ResourceScreen
        messageNamespace="embedding"
        path="/api/console/embedding"
        role={role}
        title={t("hosts")}
        emptyText={t("none")}
        resources={hosts}
        renderForm={(host, { onSaved, onClose }) => (
          <HostForm
            host={host}
            role={role}
            connections={connections}
            onSaved={({ host: { name }, secret }) => onSaved(name, secret)}
            onClose={onClose}
          />
        )}
        renderItem={(host, { change, remove }) => (
          <HostItem
            host={host}
            connection={connections.find(({ id }) => id === host.connection)?.name}
            actions={[
              { key: "code", label: t("code"), onClick: () => setSnippetHost(host) },
              { key: "change", label: t("change"), onClick: change },
              { key: "remove", label: t("remove"), onClick: remove },
            ]}
          />
        )}
      />
      {snippetHost ? <SnippetDialog host={snippetHost} onClose={() => setSnippetHost(undefined)} /> : null}
    </>
  );
}

function HostItem({
  host,
  connection,
  actions,
}: {
  host: EmbedHostView;
  connection?: string;
  actions: Parameters<typeof ResourceItem>[0]["actions"];
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
      messageNamespace="embedding"
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
  const doctorUrl = withQuery("/embed/doctor", { host: host.id, origin: host.origins[0] });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t("title", { name: host.name })}
      className="w-[min(880px,calc(100vw-24px))]"
      actions={
        <>
          <a href={toSessionlessPath(doctorUrl)} target="_blank" rel="noreferrer" className={buttonStyle()}>
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
      <CodeBlock
        title={t("server")}
        text={renderServerCode(language, host)}
        note={t(host.jwksUrl === null ? "serverNote" : "serverNoteKey")}
      />
      <CodeBlock title={t("page")} text={renderPageSnippet(host)} note={t("pageNote")} />
    </Dialog>
  );
}

function CodeBlock({ title, text, note }: { title: string; text: string; note?: string }) {
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

type HostFormProps = {
  host?: EmbedHostView;
  role: Role;
  connections: readonly TeamConnection[];
  onSaved: (result: EmbedHostSaved) => void;
  onClose: () => void;
};

const roles = ["runner", "viewer", "operator", "admin"] as const;
const fields = ["name", "origins", "pages", "jwksUrl", "connection"] as const;

function HostForm({ host, role, connections, onSaved, onClose }: HostFormProps) {
  const t = useTranslations("embedding.form");
  const tEmbedding = useTranslations("embedding");
  const roleName = useTranslations("frame.member.role");
  const [connection, setConnection] = useState(host?.connection ?? "");
  const [selectedRole, setSelectedRole] = useState<EmbedHostBody["role"]>(host?.role ?? "operator");
  const [pages, setPages] = useState<EmbedHostBody["pages"]>(host?.pages ?? embedPages.filter((page) => page !== "settings"));
  const [keyKind, setKeyKind] = useState<"secret" | "jwks">(host?.jwksUrl == null ? "secret" : "jwks");
  const [renewSecret, setRenewSecret] = useState<RenewSecret>();
  const { busyWith, failure, field: invalidField, send } = useResourceForm(fields);
  const getFieldError = (field: (typeof fields)[number]) => (invalidField === field ? t(`wrong.${field}`) : undefined);

  async function submit(form: HTMLFormElement) {
    const data = new FormData(form);
    const body: EmbedHostBody = {
      name: getFieldText(data, "name"),
      origins: getFieldText(data, "origins").split(/\s+/).filter(Boolean),
      connection: connection || null,
      role: selectedRole,
      pages,
      guests: data.has("guests"),
      jwksUrl: keyKind === "jwks" ? getFieldText(data, "jwksUrl") : null,
    };
    const result = await send("save", () =>
      host
        ? callApi<EmbedHostSaved>(`/api/console/embedding/${host.id}`, { method: "PATCH", json: { ...body, renewSecret } })
        : callApi<EmbedHostSaved>("/api/console/embedding", { method: "POST", json: body }),
    );
    if (result.ok) onSaved(result.value);
  }
  return (
    <ResourceForm
      title={host ? t("changeTitle", { name: host.name }) : t("addTitle")}
      submitLabel={t(busyWith ? "saving" : "submit")}
      isBusy={busyWith !== undefined}
      failure={invalidField ? undefined : failure}
      onSubmit={(form) => void submit(form)}
      onClose={onClose}
    >
      <InputField
        label={t("name")}
        error={getFieldError("name")}
        name="name"
        required
        autoFocus
        maxLength={100}
        placeholder={t("namePlaceholder")}
        defaultValue={host?.name}
      />
      <TextareaField
        label={t("origins")}
        hint={t("originsHint")}
        error={getFieldError("origins")}
        name="origins"
        required
        rows={3}
        spellCheck={false}
        placeholder="https://app.example.com"
        defaultValue={host?.origins.join("\n")}
      />
      <ChoiceField
        label={tEmbedding("connection")}
        hint={connection === "" ? undefined : t("connectionHint")}
        error={getFieldError("connection")}
        value={connection}
        options={["", ...connections.map(({ id }) => id)]}
        onChoose={setConnection}
      >
        {(id) => connections.find((connection) => connection.id === id)?.name ?? tEmbedding("allConnections")}
      </ChoiceField>
      <ChoiceField
        label={t("role")}
        hint={t("roleHint")}
        value={selectedRole}
        options={roles.filter((value) => hasRole(role, value))}
        onChoose={setSelectedRole}
      >
        {(value) => roleName(value)}
      </ChoiceField>
      <ChecksField
        label={t("pages")}
        hint={t("pagesHint")}
        error={getFieldError("pages")}
        className="grid-cols-2 sm:grid-cols-4"
        options={embedPages}
        selected={pages}
        onChange={setPages}
      >
        {(page) => tEmbedding(`page.${page}`)}
      </ChecksField>
      <CheckField label={t("guests")} name="guests" defaultChecked={host?.guests} />
      <ChoiceField label={t("keyKind")} value={keyKind} options={["secret", "jwks"]} onChoose={setKeyKind}>
        {(kind) => t(kind)}
      </ChoiceField>
      {keyKind === "jwks" ? (
        <InputField
          label={t("jwksUrl")}
          hint={t("jwksHint")}
          error={getFieldError("jwksUrl")}
          name="jwksUrl"
          type="url"
          required
          defaultValue={host?.jwksUrl ?? ""}
        />
      ) : null}
      {host && host.jwksUrl === null && keyKind === "secret" ? (
        <RenewSecretField messageNamespace="embedding" value={renewSecret} onChoose={setRenewSecret} />
      ) : null}
      {host ? <p className="text-sm text-ink-3">{t("endsSessions")}</p> : null}
    </ResourceForm>
  );
}
