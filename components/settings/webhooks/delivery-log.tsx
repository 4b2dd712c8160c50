import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Fact } from "@/components/ui/card";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { LoadingBlocks } from "@/components/ui/skeleton";
import { StatusBadge, type Tone } from "@/components/ui/status-badge";
import { RelativeTime, useTimeFormat } from "@/components/ui/time";
import { callApi } from "@/lib/browser/api";
import { useRead, useRequests } from "@/lib/browser/use-read";
import {
  type DeliveryList,
  type DeliveryResult,
  type DeliveryState,
  type DeliveryView,
  webhookEvents,
  type WebhookView,
} from "@/lib/contract/webhook-events";

export const deliveryTones: Readonly<Record<DeliveryState, Tone>> = { pending: "wait", delivered: "ok", failed: "bad" };

export function DeliveryLog({ webhook: { id, name }, onClose }: { webhook: WebhookView; onClose: () => void }) {
  const t = useTranslations("webhooks.log");
  const path = `/api/console/webhooks/${encodeURIComponent(id)}/deliveries` as const;
  const { data, error, isValidating, mutate } = useRead(path, () => callApi<DeliveryList>(path), { revalidateOnFocus: true });
  const deliveries = data?.deliveries;
  const { busyWith, failure, send } = useRequests<string>();

  async function sendAgain({ id: deliveryId }: DeliveryView) {
    await send(deliveryId, callApi<DeliveryResult>(`${path}/${encodeURIComponent(deliveryId)}`, { method: "POST" }));
    await mutate();
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t("title", { name })}
      className="w-[min(880px,calc(100vw-24px))]"
      actions={
        <>
          <Button busy={isValidating} onClick={() => void mutate()}>
            {t("refresh")}
          </Button>
          <Button onClick={onClose}>{t("close")}</Button>
        </>
      }
    >
      <p className="mb-2 text-sm text-ink-3">{t("kept")}</p>
      {failure ? <FailureMessage failure={failure} className="mb-2" /> : null}
      {error ? <FailureMessage failure={error} onRetry={() => void mutate()} className="mb-2" /> : null}
      {!data && !error ? <LoadingBlocks label={t("loading")} blocks={["h-8", "h-8", "h-8"]} /> : null}
      {deliveries?.length === 0 ? <p className="text-ink-3">{t("none")}</p> : null}
      <ul className="divide-y divide-line">
        {deliveries?.map((delivery) => (
          <DeliveryItem
            key={delivery.id}
            delivery={delivery}
            isSending={busyWith === delivery.id}
            onSendAgain={() => void sendAgain(delivery)}
          />
        ))}
      </ul>
    </Dialog>
  );
}

function DeliveryItem({ delivery, isSending, onSendAgain }: { delivery: DeliveryView; isSending: boolean; onSendAgain: () => void }) {
  const t = useTranslations("webhooks.log");
  const tWebhooks = useTranslations("webhooks");
  const getOutcome = useDeliveryOutcome();
  const formatTime = useTimeFormat();
  const { state, type, createdAt, eventId, attempts, nextAt, last, request } = delivery;
  const event = webhookEvents.find((webhookEvent) => webhookEvent === type);
  const title = event ? tWebhooks(`event.${toMessageKey(event)}`) : t("test");
  return (
    <li className="py-1.5">
      <details>
        <summary className="flex cursor-pointer flex-wrap items-center gap-x-3 gap-y-1 text-ink">
          <StatusBadge tone={deliveryTones[state]} label={tWebhooks(`state.${state}`)} />
          <span className="min-w-0 flex-1">{title}</span>
          <span className="text-ink-3">
            <RelativeTime ms={createdAt} />
          </span>
        </summary>
        <div className="mt-2 flex flex-col gap-2">
          <dl className="grid grid-cols-[minmax(0,9rem)_minmax(0,1fr)] gap-x-3 gap-y-0.5">
            <Fact name={t("id")}>
              <span className="font-mono text-sm">{eventId}</span>
            </Fact>
            <Fact name={t("attempts")}>{attempts}</Fact>
            <Fact name={t("outcome")}>{getOutcome(delivery) ?? t("waiting")}</Fact>
            {last ? <Fact name={t("duration")}>{t("milliseconds", { ms: last.durationMs })}</Fact> : null}
            {nextAt === undefined ? null : <Fact name={t("next")}>{formatTime(nextAt, "until") ?? ""}</Fact>}
          </dl>
          <Excerpt title={t("request")}>{request}</Excerpt>
          {last?.response ? <Excerpt title={t("response")}>{last.response}</Excerpt> : null}
          <div>
            <Button size="small" busy={isSending} aria-label={t("sendAgainOf", { title })} onClick={onSendAgain}>
              {t("sendAgain")}
            </Button>
          </div>
        </div>
      </details>
    </li>
  );
}

function Excerpt({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="font-medium text-ink">{title}</h3>
      <pre
        tabIndex={0}
        aria-label={title}
        className="mt-1 max-h-60 overflow-auto rounded-md bg-sunken p-3 font-mono text-sm break-all whitespace-pre-wrap text-ink"
      >
        {children}
      </pre>
    </section>
  );
}

/** Returns the outcome of the last attempt. Undefined before the first attempt. */
export function useDeliveryOutcome(): (delivery: DeliveryView) => string | undefined {
  const t = useTranslations("webhooks.outcome");
  return ({ last }) => last && t(last.problem ?? "delivered", { status: last.status ?? 0 });
}

/** Replaces the dot, which would start a nested message key. */
export function toMessageKey<E extends string>(event: E): E extends `${infer A}.${infer B}` ? `${A}_${B}` : E;
export function toMessageKey(event: string): string {
  return event.replace(".", "_");
}
