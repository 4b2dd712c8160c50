import { useTranslations } from "next-intl";
import { type FormEvent, use, useId, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useCanChange } from "@/components/frame/member-context";
import { Avatar, Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { Input, Select } from "@/components/ui/controls/fields";
import { Dialog } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { useRouter } from "@/components/ui/link";
import { StatusBadge } from "@/components/ui/status-badge";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type MemberView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { hasRole, type Role, roles } from "@/lib/contract/people/roles";
import { type MemberMethods } from "@/lib/contract/people/sign-in";
import { type Result } from "@/lib/shared/result";
import { RemovalDialog } from "../revocable-list";

type MemberListProps = { viewer: SettingsViewer; members: Promise<Result<MemberView[], Failure>> };

export function MemberList({ viewer, members }: MemberListProps) {
  const t = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  const router = useRouter();
  const acts = useMemberActs();
  const canChange = useCanChange();
  const [changing, setChanging] = useState<MemberView>();
  const [leaving, setLeaving] = useState<MemberView>();
  const [suspending, setSuspending] = useState<MemberView>();
  const [sought, setSought] = useState({ words: "", role: "" });
  const result = use(members);
  if (!result.ok) return <FailureMessage failure={result.failure} onRetry={() => router.refresh()} />;

  async function giveRole(member: MemberView, role: GivenRole) {
    if (!(await acts.giveRole(member, role))) return;
    showToast({ tone: "ok", text: t("members.roleChanged", { name: member.name, role: roleName(role) }) });
  }
  async function setSuspended(member: MemberView, disabled: boolean) {
    setSuspending(undefined);
    if (!(await acts.setSuspended(member, disabled))) return;
    showToast({ tone: disabled ? "off" : "ok", text: t(disabled ? "members.suspended" : "members.admitted", { name: member.name }) });
  }
  async function remove(member: MemberView) {
    setLeaving(undefined);
    if (await acts.remove(member)) showToast({ tone: "off", text: t("removed", { name: member.name }) });
  }

  const all = result.value;
  const shown = all.filter((member) => isSought(member, sought));
  return (
    <>
      {acts.failure ? <FailureMessage failure={acts.failure} /> : null}
      <Card
        title={t("members.title")}
        note={shown.length === all.length ? all.length : t("members.someOf", { count: shown.length, all: all.length })}
        bodyClassName="p-0"
      >
        <div role="search" className="flex flex-wrap gap-2 border-b border-line px-3.5 py-2">
          <Input
            type="search"
            aria-label={t("members.search")}
            placeholder={t("members.search")}
            value={sought.words}
            onChange={({ target }) => setSought({ ...sought, words: target.value })}
            className="min-w-0 flex-1 basis-[200px]"
          />
          <Select
            aria-label={t("members.role")}
            value={sought.role}
            onChange={({ target }) => setSought({ ...sought, role: target.value })}
          >
            <option value="">{t("members.anyRole")}</option>
            {roles.map((role) => (
              <option key={role} value={role}>
                {roleName(role)}
              </option>
            ))}
          </Select>
        </div>
        {shown.length === 0 ? (
          <EmptyState
            title={t("members.noMatch")}
            text={t("members.noMatchText")}
            action={<Button onClick={() => setSought({ words: "", role: "" })}>{t("members.clear")}</Button>}
          />
        ) : null}
        <ul aria-label={t("members.title")}>
          {shown.map((member) => (
            <MemberItem
              key={member.id}
              member={member}
              isViewer={member.id === viewer.id}
              canChange={canChange && mayChange(viewer, member)}
              isBusy={acts.busyWith === member.id}
              onChangeRole={() => setChanging(member)}
              onSuspend={() => setSuspending(member)}
              onAdmit={() => void setSuspended(member, false)}
              onRemove={() => setLeaving(member)}
            />
          ))}
        </ul>
      </Card>
      <RoleDialog
        member={changing}
        choices={rolesToGive(viewer)}
        onChoose={(member, role) => void giveRole(member, role)}
        onClose={() => setChanging(undefined)}
      />
      <RemovalDialog
        leaving={suspending}
        title={t("members.suspendTitle", { name: suspending?.name ?? "" })}
        onRemove={(member) => void setSuspended(member, true)}
        onClose={() => setSuspending(undefined)}
      >
        {t("members.suspendText")}
      </RemovalDialog>
      <RemovalDialog leaving={leaving} onRemove={(gone) => void remove(gone)} onClose={() => setLeaving(undefined)}>
        {t("members.removeText")}
      </RemovalDialog>
    </>
  );
}

function isSought({ name, email, role }: MemberView, sought: { words: string; role: string }): boolean {
  const words = sought.words.trim().toLowerCase();
  return (sought.role === "" || role === sought.role) && `${name} ${email}`.toLowerCase().includes(words);
}

/** Changes and removes members, one at a time; the list is read again after each act, whatever the outcome. */
function useMemberActs() {
  const router = useRouter();
  const [busyWith, setBusyWith] = useState<string>();
  const [failure, setFailure] = useState<ApiFailure>();

  async function call(id: string, init: { method: "PUT" | "DELETE"; json?: unknown }): Promise<boolean> {
    setBusyWith(id);
    setFailure(undefined);
    const result = await callApi(`/api/console/members/${encodeURIComponent(id)}`, init);
    setBusyWith(undefined);
    if (!result.ok) setFailure(result.failure);
    // Another member may have changed or removed them meanwhile. Without a session nothing can be read, and the page stays.
    if (result.ok || result.failure.code !== "UNAUTHORIZED") router.refresh();
    return result.ok;
  }

  return {
    busyWith,
    failure,
    /** True if it succeeded. */
    giveRole: ({ id }: MemberView, role: GivenRole) => call(id, { method: "PUT", json: { role } }),
    setSuspended: ({ id }: MemberView, disabled: boolean) => call(id, { method: "PUT", json: { disabled } }),
    remove: ({ id }: MemberView) => call(id, { method: "DELETE" }),
  };
}

type MemberItemProps = {
  member: MemberView;
  isViewer: boolean;
  canChange: boolean;
  isBusy: boolean;
  onChangeRole: () => void;
  onSuspend: () => void;
  onAdmit: () => void;
  onRemove: () => void;
};

export function MemberItem({ member, isViewer, canChange, isBusy, onChangeRole, onSuspend, onAdmit, onRemove }: MemberItemProps) {
  const t = useTranslations("settings");
  const roleName = useTranslations("frame.member.role");
  const { id, name, email, role, disabled, createdAt, seenAt, roleFrom, methods } = member;
  const waysIn = ({ password, providers }: MemberMethods) => {
    const all = [...(password ? [t("members.password")] : []), ...providers];
    return all.length === 0 ? t("members.noMethod") : t("members.signsIn", { methods: all.join(" · ") });
  };
  const button = (label: string, act: () => void, tone?: "danger") => (
    <Button size="small" tone={tone} busy={isBusy} aria-label={t("actOn", { act: label, name })} onClick={act}>
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
            {disabled ? <StatusBadge tone="off" word={t("members.disabled")} /> : null}
          </p>
          <p className="truncate text-sm text-ink-3" title={email}>
            {email}
          </p>
          <p className="truncate text-sm text-ink-3">
            {t.rich("members.joined", { time: () => <RelativeTime ms={createdAt} /> })}
            {methods ? ` · ${waysIn(methods)}` : null}
          </p>
        </div>
      </div>
      <div className="w-[132px]">
        <p>{roleName(role)}</p>
        {roleFrom === undefined ? null : <p className="text-sm break-words text-ink-3">{t("members.roleFrom", { provider: roleFrom })}</p>}
      </div>
      <span className="w-[132px] text-sm text-ink-3">
        {seenAt === undefined ? t("members.neverSeen") : t.rich("members.seen", { time: () => <RelativeTime ms={seenAt} /> })}
      </span>
      <span className="ml-auto flex min-w-[246px] flex-wrap justify-end gap-1.5">
        {canChange ? (
          <>
            {roleFrom === undefined ? button(t("members.changeRole"), onChangeRole) : null}
            {disabled ? button(t("members.admit"), onAdmit) : button(t("members.suspend"), onSuspend, "danger")}
            {button(t("remove"), onRemove, "danger")}
          </>
        ) : role === "owner" && !isViewer ? (
          <span className="text-sm text-ink-3">{t("members.ownerStays")}</span>
        ) : null}
      </span>
    </li>
  );
}

type RoleDialogProps = {
  /** Absent: closed. */
  member?: MemberView;
  choices: readonly GivenRole[];
  onChoose: (member: MemberView, role: GivenRole) => void;
  onClose: () => void;
};

/** A choice confirmed by a button, and not a list that acts while arrow keys move through it: a change ends sessions. */
function RoleDialog({ member, choices, onChoose, onClose }: RoleDialogProps) {
  const t = useTranslations("settings.members");
  const common = useTranslations("common");
  const roleName = useTranslations("frame.member.role");
  const form = useId();

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const wanted = new FormData(event.currentTarget).get("role");
    const role = choices.find((choice) => choice === wanted);
    if (!member || role === undefined) return;
    onClose();
    if (role !== member.role) onChoose(member, role);
  }

  return (
    <Dialog
      isOpen={member !== undefined}
      onClose={onClose}
      title={t("roleTitle", { name: member?.name ?? "" })}
      actions={
        <>
          <Button onClick={onClose}>{common("cancel")}</Button>
          <Button type="submit" form={form} tone="primary">
            {t("changeRole")}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="flex flex-col gap-2.5">
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
    </Dialog>
  );
}

export type SettingsViewer = { id: string; role: Role };
export type GivenRole = Exclude<Role, "owner">;

/** Offers only what the console would allow: not on oneself, the owner, or a member with a higher role. */
export function mayChange(viewer: SettingsViewer, member: Pick<MemberView, "id" | "role">): boolean {
  return member.id !== viewer.id && member.role !== "owner" && hasRole(viewer.role, member.role);
}

/** Weakest first, none above the viewer's own. */
export function rolesToGive(viewer: Pick<SettingsViewer, "role">): GivenRole[] {
  return roles.flatMap((role) => (role !== "owner" && hasRole(viewer.role, role) ? [role] : []));
}
