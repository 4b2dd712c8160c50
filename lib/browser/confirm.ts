// Confirms that the member is at the keyboard: where the console asks for that, the page asks once for all waiting calls, and sends each again.
// Must never: hold the password.

type Ask = (answer: (isConfirmed: boolean) => void) => void;

let ask: Ask | undefined;
let asked: Promise<boolean> | undefined;

/** For the part of the page that asks. Answers how to leave off. */
export function onConfirmationAsked(asks: Ask): () => void {
  ask = asks;
  return () => {
    if (ask === asks) ask = undefined;
  };
}

/** False where the person does not want to, and on pages without such a part. */
export function confirmIdentity(): Promise<boolean> {
  if (!ask) return Promise.resolve(false);
  const asks = ask;
  asked ??= new Promise<boolean>(asks).finally(() => {
    asked = undefined;
  });
  return asked;
}

const CHANNEL = "lightdesk.confirmed";

/** From the tab in which the member signed in at a provider. What it says counts for nothing: the server is asked again. */
export function tellConfirmed(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(true);
  channel.close();
}

/** Answers how to leave off. */
export function onConfirmedElsewhere(hear: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = hear;
  return () => channel.close();
}
