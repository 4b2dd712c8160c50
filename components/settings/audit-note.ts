"use client";

import { useTranslations } from "next-intl";
import { checkOutcomes } from "@/lib/contract/console";
import { roles } from "@/lib/contract/roles";

/** Notes that are always the same, as the log keeps them. */
const fixed = {
  "unknown hash": "unknownContent",
  "of the team": "ofTeam",
  personal: "personal",
  "the same submission again: nothing was sent": "again",
} as const;
const accountParts = ["name", "email", "password"] as const;

/** What the log notes of an act beside things and their ids, in words; a note that these pages do not know stays as it was written. */
export function useAuditNote(): (note: string) => string {
  const t = useTranslations("settings.audit.note");
  const frame = useTranslations("frame");
  const roleOf = (text: string | undefined) => roles.find((role) => role === text);
  return (note) => {
    const [, said, unsaved] = /^(\w+)(, not saved)?$/.exec(note) ?? [];
    const check = checkOutcomes.find((outcome) => outcome === said);
    if (check) return t(unsaved ? "notSaved" : "checked", { state: frame(`connection.${check}`) });
    if (isFixed(note)) return t(fixed[note]);
    const role = roleOf(note);
    if (role) return frame(`member.role.${role}`);
    const [, count] = /^(\d+) assets$/.exec(note) ?? [];
    if (count !== undefined) return t("assets", { count: Number(count) });
    const newRole = roleOf(/^\{"role":"(\w+)"\}$/.exec(note)?.[1]);
    if (newRole) return t("newRole", { role: frame(`member.role.${newRole}`) });
    if (note === '{"disabled":true}' || note === '{"disabled":false}') return t(note.includes("true") ? "disabled" : "enabled");
    const parts = note.split(", ").map((part) => accountParts.find((one) => one === part));
    if (parts.every((part) => part !== undefined)) return parts.map((part) => t(`account.${part}`)).join(", ");
    return note;
  };
}

const isFixed = (note: string): note is keyof typeof fixed => Object.hasOwn(fixed, note);
