"use client";

import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useWhyNot } from "@/components/frame/member-context";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { useRouter } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { hasFeature } from "@/lib/contract/connections";
import { type ConnectionCheck, type ConnectionView, type MemberView, type PersonalConnectionView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { RemovalDialog } from "../removal-dialog";
import { SettingsTabs } from "../settings-tabs";
import { ConnectionForm } from "./connection-form";
import { ConnectionItem } from "./connection-item";
import { PersonalConnections, useJobViewersDialog } from "./personal-connections";
import { useConnectionActs } from "./use-connection-acts";

type ConnectionsScreenProps = {
  connections: Promise<ConnectionView[]>;
  /** For owners and admins: connections of the whole team. */
  canChangeShared: boolean;
  /** All roles but viewers may add a connection of their own. */
  canAdd: boolean;
  viewer: { memberId: string; name: string };
  /** For owners and admins: other members' own connections, and the members who can be allowed to see their jobs. */
  team?: { personal: Promise<Result<PersonalConnectionView[], Failure>>; members: Promise<Result<MemberView[], Failure>> };
};

export function ConnectionsScreen({ connections, canChangeShared, canAdd, viewer, team }: ConnectionsScreenProps) {
  const t = useTranslations("settings");
  const whyNot = useWhyNot();
  const list = use(connections);
  const router = useRouter();
  const [open, setOpen] = useState<{ form: "add" } | { form: "change"; id: string }>();
  /** The form that was closed last: the focus returns to its button. */
  const [closed, setClosed] = useState<typeof open>();
  const [leaving, setLeaving] = useState<ConnectionView>();
  const acts = useConnectionActs();
  const viewers = useJobViewersDialog(team?.members);
  const canChange = (connection: ConnectionView) => hasFeature(connection, "fullAccess") && (canChangeShared || !connection.shared);

  function close() {
    setClosed(open);
    setOpen(undefined);
  }

  function noteSaved(connection: ConnectionView, check: ConnectionCheck) {
    acts.note(connection.id, check);
    router.refresh();
  }

  async function remove(connection: ConnectionView) {
    setLeaving(undefined);
    if (await acts.remove(connection)) showToast({ tone: "off", text: t("removed", { name: connection.name }) });
  }

  return (
    <>
      <PageHeader title={t("title")}>
        {canAdd && open?.form !== "add" ? (
          <Button tone="primary" autoFocus={closed?.form === "add"} onClick={() => setOpen({ form: "add" })}>
            {t("add")}
          </Button>
        ) : null}
      </PageHeader>
      <SettingsTabs current="connections" />
      <div className="flex w-full max-w-[860px] flex-col gap-3.5 p-4 md:px-5">
        {canChangeShared ? null : <p className="text-ink-3">{canAdd ? t("onlyAdmins") : whyNot(t("viewerHint"))}</p>}
        {open?.form === "add" ? <ConnectionForm canShare={canChangeShared} onSaved={noteSaved} onClose={close} /> : null}
        {acts.failure ? <FailureMessage failure={acts.failure} /> : null}
        <Card title={t("connections")} note={list.length} bodyClassName="p-0">
          {list.length === 0 ? <EmptyState title={t("empty.title")} text={t("empty.text")} /> : null}
          <ul>
            {list.map((connection) =>
              open?.form === "change" && open.id === connection.id ? (
                <li key={connection.id} className="border-b border-line p-3 last:border-b-0">
                  <ConnectionForm connection={connection} canShare={canChangeShared} onSaved={noteSaved} onClose={close} />
                </li>
              ) : (
                <ConnectionItem
                  key={connection.id}
                  connection={connection}
                  check={acts.checks[connection.id]}
                  busyWith={acts.busy?.id === connection.id ? acts.busy.act : undefined}
                  isReturned={closed?.form === "change" && closed.id === connection.id}
                  canChange={canAdd && canChange(connection)}
                  canShow={viewers.choose !== undefined}
                  onTake={(memberId) => void acts.takeView(connection, memberId)}
                  onAct={(act) => {
                    const { seenBy = [] } = connection;
                    if (act === "viewers")
                      viewers.choose?.({ id: connection.id, ownerId: viewer.memberId, ownerName: viewer.name, seenBy });
                    else if (act === "change") setOpen({ form: "change", id: connection.id });
                    else if (act === "remove") setLeaving(connection);
                    else void acts.run(connection, act);
                  }}
                />
              ),
            )}
          </ul>
        </Card>
        {team && viewers.choose ? <PersonalConnections connections={team.personal} onChoose={viewers.choose} /> : null}
      </div>
      {viewers.dialog}
      <RemovalDialog leaving={leaving} onRemove={(gone) => void remove(gone)} onClose={() => setLeaving(undefined)}>
        {t("removeText")}
      </RemovalDialog>
    </>
  );
}
