import { useTranslations } from "next-intl";
import { type ReactNode, use, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card, Fact } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { CopyField } from "@/components/ui/controls/copy-button";
import { useRouter } from "@/components/ui/link";
import { useTimeFormat } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { type Failure } from "@/lib/contract/failure";
import { type Role } from "@/lib/contract/members/roles";
import { type Result } from "@/lib/shared/result";
import { SecretCard } from "./resource-form";
import { RemovalDialog } from "./revocable-list";
import { SettingsPage } from "./settings-tabs";

export type TeamConnection = { id: string; name: string };
/** Actions for one resource. `showFailure` shows a failure above the list. */
type ItemActions = { change: () => void; remove: () => void; showFailure: (failure: ApiFailure | undefined) => void };

type ResourceListProps<T> = {
  messageNamespace: "embedding" | "webhooks";
  /** The API path of the list. DELETE on `path/id` removes a resource. */
  path: `/api/console/${string}`;
  title: string;
  emptyText: string;
  resources: Promise<Result<T[], Failure>>;
  renderItem: (resource: T, actions: ItemActions) => ReactNode;
};

type ResourceScreenProps<T> = Omit<ResourceListProps<T>, "resources"> & {
  role: Role;
  canAdd?: boolean;
  /** Absent for roles that may not see them. */
  resources?: Promise<Result<T[], Failure>>;
  /** The form of a new or existing resource. */
  renderForm: (resource: T | undefined, handlers: { onSaved: (name: string, secret?: string) => void; onClose: () => void }) => ReactNode;
};

/** Lists resources that have their own secret, with a form to add or change one. */
export function ResourceScreen<T extends { id: string; name: string }>(props: ResourceScreenProps<T>) {
  const { role, canAdd = true, resources, renderForm, ...listProps } = props;
  const { messageNamespace } = listProps;
  const t = useTranslations(messageNamespace);
  const roleName = useTranslations("frame.member.role");
  const router = useRouter();
  /** `resource` is undefined when creating a new one. */
  const [openForm, setOpenForm] = useState<{ resource?: T }>();
  /** New secrets. Each is shown until the user closes it. */
  const [secrets, setSecrets] = useState<{ name: string; text: string }[]>([]);
  const close = () => setOpenForm(undefined);
  const handleSaved = (name: string, text?: string) => {
    // Another form may have been opened while this one was saving.
    setOpenForm((current) => (current === openForm ? undefined : current));
    if (text !== undefined) setSecrets((current) => [...current, { name, text }]);
    router.refresh();
  };
  return (
    <SettingsPage
      current={messageNamespace}
      tools={
        resources && !openForm && canAdd ? (
          <Button tone="primary" onClick={() => setOpenForm({})}>
            {t("add")}
          </Button>
        ) : null
      }
    >
      {resources ? (
        <>
          <p className="text-ink-2">{t("intro")}</p>
          {secrets.map((secret) => (
            <SecretCard
              key={secret.text}
              title={t("secret.title", { name: secret.name })}
              closeLabel={t("secret.done")}
              onClose={() => setSecrets((current) => current.filter(({ text }) => text !== secret.text))}
            >
              <CopyField label={t("secret.label")} hint={t("secret.text")} text={secret.text} copyLabel={t("secret.copy")} />
            </SecretCard>
          ))}
          {openForm ? (
            <div key={openForm.resource?.id ?? "new"}>{renderForm(openForm.resource, { onSaved: handleSaved, onClose: close })}</div>
          ) : null}
          <ResourceList {...listProps} resources={resources} onChange={(resource) => setOpenForm({ resource })} />
        </>
      ) : (
        <p className="text-ink-2">{t("notYours", { role: roleName(role) })}</p>
      )}
    </SettingsPage>
  );
}

function ResourceList<T extends { id: string; name: string }>(props: ResourceListProps<T> & { onChange: (resource: T) => void }) {
  const { messageNamespace, path, title, emptyText, resources, renderItem, onChange } = props;
  const t = useTranslations(messageNamespace);
  const router = useRouter();
  const [removalTarget, setRemovalTarget] = useState<T>();
  const [failure, setFailure] = useState<ApiFailure>();
  const result = use(resources);
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;

  async function remove({ id, name }: T) {
    setRemovalTarget(undefined);
    const result = await callApi(`${path}/${encodeURIComponent(id)}`, { method: "DELETE" });
    setFailure(result.ok ? undefined : result.failure);
    if (result.ok) showToast({ tone: "off", text: t("removed", { name }) });
    router.refresh();
  }
  const getActions = (item: T) => ({ change: () => onChange(item), remove: () => setRemovalTarget(item), showFailure: setFailure });
  return (
    <>
      {failure ? <FailureMessage failure={failure} /> : null}
      <Card title={title} note={result.value.length} bodyClassName="p-0">
        {result.value.length === 0 ? <p className="px-3.5 py-3 text-ink-3">{emptyText}</p> : null}
        <ul>
          {result.value.map((resource) => (
            <li key={resource.id} className="flex flex-col gap-2 border-b border-line px-3.5 py-3 last:border-b-0">
              {renderItem(resource, getActions(resource))}
            </li>
          ))}
        </ul>
      </Card>
      <RemovalDialog
        item={removalTarget}
        title={t("removeTitle", { name: removalTarget?.name ?? "" })}
        onRemove={(resource) => void remove(resource)}
        onClose={() => setRemovalTarget(undefined)}
      >
        {t("removeText")}
      </RemovalDialog>
    </>
  );
}

type ResourceItemProps = {
  messageNamespace: ResourceListProps<never>["messageNamespace"];
  name: string;
  badge?: ReactNode;
  actions: readonly { key: string; label: string; onClick: () => void; isBusy?: boolean }[];
  facts: readonly (readonly [name: string, value: ReactNode])[];
  /** When the previous secret expires. */
  oldSecretUntil: number | undefined;
  children?: ReactNode;
};

export function ResourceItem({ messageNamespace, name, badge, actions, facts, oldSecretUntil, children }: ResourceItemProps) {
  const t = useTranslations(messageNamespace);
  const formatTime = useTimeFormat();
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <b className="min-w-0 truncate font-semibold">{name}</b>
        {badge}
        <span className="ml-auto flex flex-wrap gap-2">
          {actions.map(({ key, label, onClick, isBusy }) => (
            <Button key={key} size="small" busy={isBusy} aria-label={t("actOn", { act: label, name })} onClick={onClick}>
              {label}
            </Button>
          ))}
        </span>
      </div>
      <dl className="grid grid-cols-[minmax(0,9rem)_minmax(0,1fr)] gap-x-3 gap-y-0.5">
        {facts.map(([label, value]) => (
          <Fact key={label} name={label}>
            {value}
          </Fact>
        ))}
      </dl>
      {oldSecretUntil === undefined ? null : (
        <p className="text-ink-2">{t("oldSecret", { time: formatTime(oldSecretUntil, "until") ?? "" })}</p>
      )}
      {children}
    </>
  );
}
