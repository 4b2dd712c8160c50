// Confirms that the member is at the keyboard. The page asks once for all waiting calls. Never holds the password.

type ConfirmationHandler = (answer: (isConfirmed: boolean) => void) => void;

let ask: ConfirmationHandler | undefined;
let confirmation: Promise<boolean> | undefined;

export function onConfirmationRequest(asks: ConfirmationHandler): () => void {
  ask = asks;
  return () => {
    if (ask === asks) ask = undefined;
  };
}

/** False if the person declines, and on pages without such a part. */
export function confirmIdentity(): Promise<boolean> {
  if (!ask) return Promise.resolve(false);
  const asks = ask;
  confirmation ??= new Promise<boolean>(asks).finally(() => {
    confirmation = undefined;
  });
  return confirmation;
}

const CHANNEL = "lightdesk.confirmed";

/** For the tab in which the member signed in at a provider. The message proves nothing: the server is asked again. */
export function tellConfirmed(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(true);
  channel.close();
}

export function onConfirmedElsewhere(onConfirmed: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = onConfirmed;
  return () => channel.close();
}
