import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useCanChange } from "@/components/frame/member-context";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { Input } from "@/components/ui/controls/input";
import { Select } from "@/components/ui/controls/select";
import { EmptyState } from "@/components/ui/empty-state";
import { useRouter } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type MemberView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { roles } from "@/lib/contract/people/roles";
import { type Result } from "@/lib/shared/result";
import { RemovalDialog } from "../removal-dialog";
import { MemberItem } from "./member-item";
import { type GivenRole, mayChange, rolesToGive, type SettingsViewer } from "./member-rights";
import { RoleDialog } from "./role-dialog";

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
