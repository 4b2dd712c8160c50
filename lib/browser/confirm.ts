// Asks the member to confirm their identity, once for all pending calls. Never stores the password.

type ConfirmationHandler = (answer: (isConfirmed: boolean) => void) => void;

let handleRequest: ConfirmationHandler | undefined;
let confirmation: Promise<boolean> | undefined;

export function onConfirmationRequest(handler: ConfirmationHandler): () => void {
  handleRequest = handler;
  return () => {
    if (handleRequest === handler) handleRequest = undefined;
  };
}

/** False if the member declines, or if the page has no confirmation dialog. */
export function confirmIdentity(): Promise<boolean> {
  if (!handleRequest) return Promise.resolve(false);
  const handler = handleRequest;
  confirmation ??= new Promise<boolean>(handler).finally(() => {
    confirmation = undefined;
  });
  return confirmation;
}

const CHANNEL = "lightdesk.confirmed";

/** Called in the tab that signed in at a provider. The message is only a hint, because the server checks again. */
export function broadcastConfirmed(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(true);
  channel.close();
}

export function onConfirmedElsewhere(onConfirmed: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = onConfirmed;
  return () => channel.close();
}
