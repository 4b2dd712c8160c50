// Confirms that the member is at the keyboard: if the console asks for it, the page asks once for all waiting calls, and each is sent
// again.
// Must never: hold the password.

type Ask = (answer: (isConfirmed: boolean) => void) => void;

let ask: Ask | undefined;
let asked: Promise<boolean> | undefined;

/** Registers the part of the page that asks. Returns how to unregister it. */
export function onConfirmationAsked(asks: Ask): () => void {
  ask = asks;
  return () => {
    if (ask === asks) ask = undefined;
  };
}

/** False if the person declines, and on pages without such a part. */
export function confirmIdentity(): Promise<boolean> {
  if (!ask) return Promise.resolve(false);
  const asks = ask;
  asked ??= new Promise<boolean>(asks).finally(() => {
    asked = undefined;
  });
  return asked;
}

const CHANNEL = "lightdesk.confirmed";

/** Called in the tab in which the member signed in at a provider. The message proves nothing: the server is asked again. */
export function tellConfirmed(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(true);
  channel.close();
}

/** Returns how to stop listening. */
export function onConfirmedElsewhere(onConfirmed: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = onConfirmed;
  return () => channel.close();
}
