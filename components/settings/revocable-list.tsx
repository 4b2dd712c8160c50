import { useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Card } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { useRouter } from "@/components/ui/link";
import { StatusBadge, type Tone } from "@/components/ui/status-badge";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { useRequests } from "@/lib/browser/use-read";
import { type Role } from "@/lib/contract/members/roles";

type Revocable = { id: string; name: string };
type RevocableListProps<T extends Revocable> = {
  /** The namespace of the messages about ended items and revoking. */
  messageNamespace: "tokens" | "sharing.list" | "settings.invitations";
  /** The API path of the list. DELETE on `path/id` revokes an item. */
  path: `/api/console/${string}`;
  title: string;
  items: readonly T[];
  /** Whether the item is still valid. */
  isActive: (item: T) => boolean;
  canRevoke?: boolean;
  emptyState: ReactNode;
  /** Shown in the confirmation, if names alone don't identify items. */
  getDescription?: (item: T) => string;
  /** The item's description, shown before its button. */
  renderItem: (item: T) => ReactNode;
};

/** Lists valid items with a button to revoke them, then ended items. */
export function RevocableList<T extends Revocable>(props: RevocableListProps<T>) {
  const { messageNamespace, path, title, items, isActive, canRevoke = true, emptyState, getDescription, renderItem } = props;
  const t = useTranslations(messageNamespace);
  const settingsTexts = useTranslations("settings");
  const router = useRouter();
  const [removalTarget, setRemovalTarget] = useState<T>();
  const { busyWith, failure, send } = useRequests<string>();
  const activeItems = items.filter(isActive);
  const endedItems = items.filter((item) => !isActive(item));

  async function revoke({ id, name }: T) {
    setRemovalTarget(undefined);
    const result = await send(id, callApi(`${path}/${encodeURIComponent(id)}`, { method: "DELETE" }));
    if (result.ok) showToast({ tone: "off", text: t("revoked", { name }) });
    // The item may have been used or revoked in the meantime.
    if (result.ok || result.failure.code !== "UNAUTHORIZED") router.refresh();
  }

  const renderListItem = (item: T) => {
    const isBusy = busyWith === item.id;
    return (
      <li
        key={item.id}
        data-id={item.id}
        aria-busy={isBusy || undefined}
        className="flex min-h-[46px] flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-3.5 py-2 last:border-b-0"
      >
        {renderItem(item)}
        <span className="ml-auto flex justify-end sm:w-[92px]">
          {isActive(item) && canRevoke ? (
            <Button
              size="small"
              tone="danger"
              busy={isBusy}
              aria-label={settingsTexts("actOn", { act: t("revoke"), name: item.name })}
              onClick={() => setRemovalTarget(item)}
            >
              {t("revoke")}
            </Button>
          ) : null}
        </span>
      </li>
    );
  };
  return (
    <>
      {failure ? <FailureMessage failure={failure} /> : null}
      <Card title={title} note={activeItems.length} bodyClassName="p-0">
        {activeItems.length === 0 ? emptyState : <ul>{activeItems.map(renderListItem)}</ul>}
        {endedItems.length > 0 ? (
          <details className="border-t border-line">
            <summary className="cursor-pointer px-3.5 py-2 text-ink-2 hover:text-ink">
              {t("past")} <span className="text-ink-3">{endedItems.length}</span>
            </summary>
            <ul className="border-t border-line">{endedItems.map(renderListItem)}</ul>
          </details>
        ) : null}
      </Card>
      <RemovalDialog
        item={removalTarget}
        title={t("revokeTitle", { name: removalTarget?.name ?? "" })}
        onRemove={(item) => void revoke(item)}
        onClose={() => setRemovalTarget(undefined)}
      >
        {getDescription && removalTarget ? <span className="mb-2 block break-words text-ink">{getDescription(removalTarget)}</span> : null}
        {t("revokeText")}
      </RemovalDialog>
    </>
  );
}

type RevocableItemProps = { name: string; caption?: string; role: Role; tone: Tone; stateText: string; children: ReactNode };

/** Shows an item's name, details, role and state. */
export function RevocableItem({ name, caption, role, tone, stateText, children }: RevocableItemProps) {
  const roleName = useTranslations("frame.member.role");
  return (
    <>
      <div className="min-w-0 flex-1 basis-full sm:basis-0">
        <p className="flex items-baseline gap-2">
          <span className="truncate font-semibold" title={name}>
            {name}
          </span>
          {caption ? <span className="min-w-0 truncate text-sm text-ink-2">{caption}</span> : null}
        </p>
        {children}
      </div>
      <span className="w-[72px]">{roleName(role)}</span>
      <span className="w-[116px]">
        <StatusBadge tone={tone} label={stateText} />
      </span>
    </>
  );
}

type RemovalDialogProps<T> = {
  /** The item to remove. The dialog is open while it is set. */
  item: T | undefined;
  /** The title of the confirmation. Default: the removal of the item by name. */
  title?: string;
  onRemove: (item: T) => void;
  onClose: () => void;
  /** The consequences of the removal. */
  children: ReactNode;
};

export function RemovalDialog<T extends { name: string }>({ item, title, onRemove, onClose, children }: RemovalDialogProps<T>) {
  const t = useTranslations("settings");
  return (
    <ConfirmDialog
      isOpen={item !== undefined}
      title={title ?? t("removeTitle", { name: item?.name ?? "" })}
      onConfirm={() => item && onRemove(item)}
      onClose={onClose}
    >
      <p>{children}</p>
    </ConfirmDialog>
  );
}
