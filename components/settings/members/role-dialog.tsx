import { useTranslations } from "next-intl";
import { type FormEvent, useId } from "react";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { type MemberView } from "@/lib/contract/console";
import { type GivenRole } from "./member-rights";

type RoleDialogProps = {
  /** Absent: closed. */
  member?: MemberView;
  choices: readonly GivenRole[];
  onChoose: (member: MemberView, role: GivenRole) => void;
  onClose: () => void;
};

/** A choice confirmed by a button, and not a list that acts while arrow keys move through it: a change ends sessions. */
export function RoleDialog({ member, choices, onChoose, onClose }: RoleDialogProps) {
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
