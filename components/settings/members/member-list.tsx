import { useTranslations } from "next-intl";
import { type FormEvent, use, useId, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useCanChange } from "@/components/frame/member-context";
import { Avatar, Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { Input, Options, Select } from "@/components/ui/controls/fields";
import { ConfirmDialog } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { useRouter } from "@/components/ui/link";
import { StatusBadge } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { useRequests } from "@/lib/browser/use-read";
import { type MemberView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { hasRole, type Role, roles } from "@/lib/contract/members/roles";
import { type MemberMethods } from "@/lib/contract/members/sign-in";
import { type Result } from "@/lib/shared/result";
import { RemovalDialog } from "../revocable-list";

export function MemberList({ viewer, members }: { viewer: SettingsViewer; members: Promise<Result<MemberView[], Failure>> }) {
  const t = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  const router = useRouter();
  const { busyWith, failure, send } = useRequests<string>();
  const canChange = useCanChange();
  const [dialog, setDialog] = useState<{ kind: "role" | "suspend" | "remove"; member: MemberView }>();
  const [filter, setFilter] = useState({ text: "", role: "" });
  const result = use(members);
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;

  const getDialogMember = (action: NonNullable<typeof dialog>["kind"]) => (dialog?.kind === action ? dialog.member : undefined);
  const close = () => setDialog(undefined);
  async function updateMember(
    { id }: MemberView,
    init: { method: "PUT" | "DELETE"; json?: unknown },
    toast: Parameters<typeof showToast>[0],
  ) {
    close();
    const result = await send(id, callApi(`/api/console/members/${encodeURIComponent(id)}`, init));
    // Refresh even on failure: another admin may have changed this member. Skip it if the session expired.
    if (result.ok || result.failure.code !== "UNAUTHORIZED") router.refresh();
    if (result.ok) showToast(toast);
  }
  const changeRole = (member: MemberView, role: AssignableRole) =>
    void updateMember(
      member,
      { method: "PUT", json: { role } },
      { tone: "ok", text: t("members.roleChanged", { name: member.name, role: roleName(role) }) },
    );
  const setSuspended = (member: MemberView, disabled: boolean) =>
    void updateMember(
      member,
      { method: "PUT", json: { disabled } },
      { tone: disabled ? "off" : "ok", text: t(disabled ? "members.suspended" : "members.admitted", { name: member.name }) },
    );

  const allMembers = result.value;
  const visibleMembers = allMembers.filter((member) => matchesFilter(member, filter));
  return (
    <>
      {failure ? <FailureMessage failure={failure} /> : null}
      <Card
        title={t("members.title")}
        note={
          visibleMembers.length === allMembers.length
            ? allMembers.length
            : t("members.someOf", { count: visibleMembers.length, all: allMembers.length })
        }
        bodyClassName="p-0"
      >
        <div role="search" className="flex flex-wrap gap-2 border-b border-line px-3.5 py-2">
          <Input
            type="search"
            aria-label={t("members.search")}
            placeholder={t("members.search")}
            value={filter.text}
            onChange={({ target }) => setFilter({ ...filter, text: target.value })}
            className="min-w-0 flex-1 basis-[200px]"
          />
          <Select
            aria-label={t("members.role")}
            value={filter.role}
            onChange={({ target }) => setFilter({ ...filter, role: target.value })}
          >
            <option value="">{t("members.anyRole")}</option>
            <Options of={roles.map((role) => [role, roleName(role)])} />
          </Select>
        </div>
        {visibleMembers.length === 0 ? (
          <EmptyState
            title={t("members.noMatch")}
            text={t("members.noMatchText")}
            action={<Button onClick={() => setFilter({ text: "", role: "" })}>{t("members.clear")}</Button>}
          />
        ) : null}
        <ul aria-label={t("members.title")}>
          {visibleMembers.map((member) => (
            <MemberItem
              key={member.id}
              member={member}
              isViewer={member.id === viewer.id}
              canChange={canChange && canChangeMember(viewer, member)}
              isBusy={busyWith === member.id}
              onChangeRole={() => setDialog({ kind: "role", member })}
              onSuspend={() => setDialog({ kind: "suspend", member })}
              onReactivate={() => setSuspended(member, false)}
              onRemove={() => setDialog({ kind: "remove", member })}
            />
          ))}
        </ul>
      </Card>
      <RoleDialog member={getDialogMember("role")} choices={getAssignableRoles(viewer)} onChoose={changeRole} onClose={close} />
      <RemovalDialog
        item={getDialogMember("suspend")}
        title={t("members.suspendTitle", { name: dialog?.member.name ?? "" })}
        onRemove={(member) => setSuspended(member, true)}
        onClose={close}
      >
        {t("members.suspendText")}
      </RemovalDialog>
      <RemovalDialog
        item={getDialogMember("remove")}
        onRemove={(member) => void updateMember(member, { method: "DELETE" }, { tone: "off", text: t("removed", { name: member.name }) })}
        onClose={close}
      >
        {t("members.removeText")}
      </RemovalDialog>
    </>
  );
}

function matchesFilter({ name, email, role }: MemberView, filter: { text: string; role: string }): boolean {
  const searchText = filter.text.trim().toLowerCase();
  return (filter.role === "" || role === filter.role) && `${name} ${email}`.toLowerCase().includes(searchText);
}

type MemberItemProps = {
  member: MemberView;
  isViewer: boolean;
  canChange: boolean;
  isBusy: boolean;
  onChangeRole: () => void;
  onSuspend: () => void;
  onReactivate: () => void;
  onRemove: () => void;
};

export function MemberItem({ member, isViewer, canChange, isBusy, onChangeRole, onSuspend, onReactivate, onRemove }: MemberItemProps) {
  const t = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  const { id, name, email, role, disabled, createdAt, seenAt, roleFrom: roleProvider, methods } = member;
  const formatSignInMethods = ({ password, providers }: MemberMethods) => {
    const methodNames = [...(password ? [t("members.password")] : []), ...providers];
    return methodNames.length === 0 ? t("members.noMethod") : t("members.signsIn", { methods: methodNames.join(" · ") });
  };
  const renderButton = (label: string, onClick: () => void, tone?: "danger") => (
    <Button size="small" tone={tone} busy={isBusy} aria-label={t("actOn", { act: label, name })} onClick={onClick}>
      {label}
    </Button>
  );
  return (
    <li
      data-member={id}
      aria-busy={isBusy || undefined}
      className="flex min-h-[46px] flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-3.5 py-2 last:border-b-0"
    >
      <div className="flex min-w-0 flex-1 basis-full items-center gap-2.5 sm:basis-0">
        <Avatar name={name} className="size-7" />
        <div className="min-w-0">
          <p className="flex items-center gap-2">
            <span className="truncate font-semibold" title={name}>
              {name}
            </span>
            {isViewer ? <span className="text-sm text-ink-3">{t("members.you")}</span> : null}
            {disabled ? <StatusBadge tone="off" label={t("members.disabled")} /> : null}
          </p>
          <p className="truncate text-sm text-ink-3" title={email}>
            {email}
          </p>
          <p className="truncate text-sm text-ink-3">
            {t.rich("members.joined", { time: () => <RelativeTime ms={createdAt} /> })}
            {methods ? ` · ${formatSignInMethods(methods)}` : null}
          </p>
        </div>
      </div>
      <div className="w-[132px]">
        <p>{roleName(role)}</p>
        {roleProvider === undefined ? null : (
          <p className="text-sm break-words text-ink-3">{t("members.roleFrom", { provider: roleProvider })}</p>
        )}
      </div>
      <span className="w-[132px] text-sm text-ink-3">
        {seenAt === undefined ? t("members.neverSeen") : t.rich("members.seen", { time: () => <RelativeTime ms={seenAt} /> })}
      </span>
      <span className="ml-auto flex min-w-[246px] flex-wrap justify-end gap-1.5">
        {canChange ? (
          <>
            {roleProvider === undefined ? renderButton(t("members.changeRole"), onChangeRole) : null}
            {disabled ? renderButton(t("members.admit"), onReactivate) : renderButton(t("members.suspend"), onSuspend, "danger")}
            {renderButton(t("remove"), onRemove, "danger")}
          </>
        ) : role === "owner" && !isViewer ? (
          <span className="text-sm text-ink-3">{t("members.ownerStays")}</span>
        ) : null}
      </span>
    </li>
  );
}

type RoleDialogProps = {
  /** The dialog is open while this is set. */
  member?: MemberView;
  choices: readonly AssignableRole[];
  onChoose: (member: MemberView, role: AssignableRole) => void;
  onClose: () => void;
};

/** Requires confirmation: a role change ends the member's sessions, and arrow keys change the selection immediately. */
function RoleDialog({ member, choices, onChoose, onClose }: RoleDialogProps) {
  const t = useTranslations("settings.members");
  const roleName = useTranslations("frame.member.role");
  const formId = useId();

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const newRole = new FormData(event.currentTarget).get("role");
    const role = choices.find((choice) => choice === newRole);
    if (!member || role === undefined) return;
    onClose();
    if (role !== member.role) onChoose(member, role);
  }

  return (
    <ConfirmDialog
      isOpen={member !== undefined}
      onClose={onClose}
      title={t("roleTitle", { name: member?.name ?? "" })}
      tone="primary"
      form={formId}
      label={t("changeRole")}
    >
      <form id={formId} onSubmit={submit} className="flex flex-col gap-2.5">
        {choices.map((role) => (
          <label key={role} className="flex items-baseline gap-2">
            <input type="radio" name="role" value={role} defaultChecked={role === member?.role} className="translate-y-0.5" />
            <span>
              <span className="font-medium text-ink">{roleName(role)}</span> <span className="text-sm">{t(`may.${role}`)}</span>
            </span>
          </label>
        ))}
        <p>{t("roleText", { name: member?.name ?? "" })}</p>
      </form>
    </ConfirmDialog>
  );
}

export type SettingsViewer = { id: string; role: Role };
export type AssignableRole = Exclude<Role, "owner">;

/** Returns false for the viewer, the owner, and members with a higher role. */
export function canChangeMember(viewer: SettingsViewer, member: Pick<MemberView, "id" | "role">): boolean {
  return member.id !== viewer.id && member.role !== "owner" && hasRole(viewer.role, member.role);
}

/** Returns the roles up to the viewer's own, lowest first. */
export function getAssignableRoles(viewer: Pick<SettingsViewer, "role">): AssignableRole[] {
  return roles.flatMap((role) => (role !== "owner" && hasRole(viewer.role, role) ? [role] : []));
}
