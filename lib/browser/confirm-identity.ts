// Asks the member to confirm their identity, once for all pending calls. Never stores the password.

type ConfirmationHandler = (resolve: (isConfirmed: boolean) => void) => void;

let confirmationHandler: ConfirmationHandler | undefined;
let confirmation: Promise<boolean> | undefined;

export function onConfirmationRequest(handler: ConfirmationHandler): () => void {
  confirmationHandler = handler;
  return () => {
    if (confirmationHandler === handler) confirmationHandler = undefined;
  };
}

/** Returns false if the member declines or the page has no confirmation dialog. */
export function confirmIdentity(): Promise<boolean> {
  if (!confirmationHandler) return Promise.resolve(false);
  const handler = confirmationHandler;
  confirmation ??= new Promise<boolean>(handler).finally(() => {
    confirmation = undefined;
  });
  return confirmation;
}

const CHANNEL_NAME = "lightdesk.confirmed";

/** Call this in the tab where the provider sign-in completed. The message is only a hint, because the server checks again. */
export function broadcastConfirmation(): void {
  const channel = new BroadcastChannel(CHANNEL_NAME);
  channel.postMessage(true);
  channel.close();
}

export function onConfirmationInOtherTab(onConfirmed: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL_NAME);
  channel.onmessage = onConfirmed;
  return () => channel.close();
}
