import { useTranslations } from "next-intl";
import { Fragment } from "react";
import { toFaultCode } from "@/components/frame/failure/fault-owner";
import { Link } from "@/components/ui/link";
import { StatusBadge } from "@/components/ui/status-badge";
import { type AuditItem, type MemberChange } from "@/lib/contract/audit/audit";
import { checkOutcomes, runnerOrders, runnerProblems } from "@/lib/contract/connections";
import { own } from "@/lib/contract/json/own";
import { roles } from "@/lib/contract/people/roles";
import { type AuditFact } from "./audit-facts";

/** Fixed notes as the log stores them, and the keys of their sentences. */
const fixed = {
  "unknown hash": "unknownContent",
  "of the team": "ofTeam",
  personal: "personal",
  "the same submission again: nothing was sent": "again",
} as const;
/** What a check of a runner's address found, and the orders given to a runner. */
const runnerNotes = ["fine", ...runnerProblems, ...runnerOrders] as const;
const accountParts = ["name", "email", "password"] as const;

/** The log's notes apart from objects and ids, in words; a note unknown to this version is shown as written. */
function useAuditNote(): (note: string) => string {
  const t = useTranslations("settings.audit.note");
  const frame = useTranslations("frame");
  const roleOf = (text: string | undefined) => roles.find((role) => role === text);
  return (note) => {
    const [, word, unsaved] = /^(\w+)(, not saved)?$/.exec(note) ?? [];
    const check = checkOutcomes.find((outcome) => outcome === word);
    if (check) return t(unsaved ? "notSaved" : "checked", { state: frame(`connection.${check}`) });
    const runner = runnerNotes.find((one) => one === word);
    if (runner) return unsaved ? t("notSaved", { state: t(`runner.${runner}`) }) : t(`runner.${runner}`);
    if (isFixed(note)) return t(fixed[note]);
    const role = roleOf(note);
    if (role) return frame(`member.role.${role}`);
    const [, count] = /^(\d+) assets$/.exec(note) ?? [];
    if (count !== undefined) return t("assets", { count: Number(count) });
    const parts = note.split(", ").map((part) => accountParts.find((one) => one === part));
    if (parts.every((part) => part !== undefined)) return parts.map((part) => t(`account.${part}`)).join(", ");
    return note;
  };
}

/** Both roles, whether the member is suspended, and the cause. */
function useMemberChangeText(): (change: MemberChange) => string {
  const t = useTranslations("settings.audit.note");
  const roleName = useTranslations("frame.member.role");
  return ({ role, disabled, by, provider, groups, signUp, invitedBy, of }) => {
    const roleNames = role && { role: roleName(role.to), ...(role.from && { from: roleName(role.from) }) };
    const parts = [
      roleNames && ("from" in roleNames ? t("roleChange", roleNames) : t("newRole", roleNames)),
      disabled === undefined ? undefined : t(disabled ? "disabled" : "enabled"),
      groups && t(groups.includes("*") ? "byEverybody" : "byGroups", { groups: groups.join(", "), provider: provider ?? "" }),
      signUp && t("bySignUp"),
      invitedBy !== undefined && t("invitedBy", { name: invitedBy }),
      by !== undefined && t("byAdmin", { name: by }),
      of !== undefined && t("ofMember", { name: of }),
    ];
    return parts.filter((part) => typeof part === "string").join(" · ");
  };
}

const isFixed = (note: string): note is keyof typeof fixed => Object.hasOwn(fixed, note);

/** Error codes whose sentences address the person who acted, with sentences about another person instead. */
const ofThem: Readonly<Partial<Record<string, "signedOut" | "role" | "preview">>> = {
  UNAUTHORIZED: "signedOut",
  ROLE_TOO_LOW: "role",
  INVALID_PREVIEW_ID: "preview",
};

const FIRST_FAILURE = 500;

/** `facts`: absent where the log has a sentence instead. */
export function AuditOutcome({ entry, facts }: { entry: AuditItem; facts: readonly AuditFact[] | undefined }) {
  const t = useTranslations("settings.audit");
  const common = useTranslations("common");
  const errors = useTranslations("errors");
  const { status, code, outcome, change, requestId, refused } = entry;
  const noteOf = useAuditNote();
  const changeText = useMemberChangeText();
  const ofCode = code && own(ofThem, code);
  const word = status < 400 ? "done" : status < FIRST_FAILURE ? "refused" : "failed";
  return (
    <>
      <StatusBadge
        tone={status < 400 ? "ok" : "bad"}
        word={t(word)}
        title={[status, code, `${common("requestId")} ${requestId}`].filter(Boolean).join(" · ")}
      />
      {refused ? <span className="block text-sm text-bad">{t("refusedOf", { count: refused })}</span> : null}
      {code ? (
        <span className="block text-sm text-ink-2">{ofCode ? t(`why.${ofCode}`) : errors(`${toFaultCode({ code, status })}.title`)}</span>
      ) : null}
      {facts ? (
        <span className="block truncate text-sm text-ink-3" title={outcome}>
          <Facts facts={facts} />
        </span>
      ) : change ? (
        <span className="block text-sm break-words text-ink-3">{changeText(change)}</span>
      ) : outcome ? (
        <span className="block truncate text-sm text-ink-3" title={outcome}>
          {noteOf(outcome)}
        </span>
      ) : null}
    </>
  );
}

function Facts({ facts }: { facts: readonly AuditFact[] }) {
  const t = useTranslations("settings.audit.fact");
  return facts.map(({ word, value, answer, href }, at) => (
    <Fragment key={word}>
      {at > 0 ? " · " : null}
      {word === "isNew" ? (
        t(answer === "no" ? "notNew" : "isNew")
      ) : (
        <>
          {t(word)} {href ? <TargetLink href={href} text={value} /> : answer ? t(answer) : value}
        </>
      )}
    </Fragment>
  ));
}

export function TargetLink({ href, text }: { href: string; text: string }) {
  return (
    <Link href={href} prefetch={false} className="rounded-sm underline hover:text-ink">
      {text}
    </Link>
  );
}
