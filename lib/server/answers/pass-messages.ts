// Passes a service's WebSocket messages on to a listener.
// Guarantees: keeps the order; removes the key, and secrets inside workflows, from every text; drops texts that are not a JSON object, and
// pictures that contain the key; limits the bytes that wait. Must never: be bypassed by a message.

import "server-only";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, parseServiceJson } from "@/lib/contract/json/json";
import { feedEnds, type FeedTarget } from "@/lib/shared/message-feed";
import { keyGate } from "../upstream/key-gate";
import { toBrowser } from "./to-browser";

const MOST_WAITING_BYTES = 16 * 1024 * 1024;

type From = { connection: { id: string; baseUrl: string }; apiKey: string | undefined };

export function passMessages(from: From, target: FeedTarget): FeedTarget {
  const gate = keyGate(from.apiKey);
  let waiting = 0;
  let last = Promise.resolve();

  async function cleaned(message: string | Uint8Array): Promise<string | Uint8Array | undefined> {
    if (typeof message !== "string") return gate.has(Buffer.from(message).toString("latin1")) ? undefined : message;
    const value = readObject(await gate.text(message));
    return value && writeExactJson(toBrowser(value, from));
  }

  return {
    send(message) {
      const size = message.length;
      waiting += size;
      if (waiting > MOST_WAITING_BYTES) return target.end({ code: feedEnds.tryLater, reason: "The service sends more than can be read." });
      last = last.then(async () => {
        const clean = await cleaned(message).catch(() => undefined);
        waiting -= size;
        if (clean !== undefined) target.send(clean);
      });
    },
    end(why) {
      last = last.then(() => target.end(why));
    },
  };
}

function readObject(text: string): object | undefined {
  try {
    const value: unknown = parseServiceJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
