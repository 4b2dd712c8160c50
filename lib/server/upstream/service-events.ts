// Subscribes to the WebSocket of a service (GET /ws). Unresponsive services are disconnected; the target gets at most one end.

import "server-only";
import { WebSocket } from "ws";
import { isTooLarge, openSocket } from "@/lib/comfyui/socket";
import { type Feed, type FeedEnd, feedEnds, type FeedTarget } from "@/lib/shared/http-types";
import { keyHeader } from "./outgoing";

/** A preview is a picture of a few hundred thousand bytes. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
const HANDSHAKE_MS = 10_000;

type ServiceEndpoint = { baseUrl: string; apiKey: string | undefined };

export function listenToService({ baseUrl, apiKey }: ServiceEndpoint, clientId: string | undefined, target: FeedTarget): Feed {
  let hasEnded = false;
  let wasOpen = false;
  let hasAnswered = true;
  const end = (feedEnd: FeedEnd) => {
    if (hasEnded) return;
    hasEnded = true;
    target.end(feedEnd);
  };
  const socket = openSocket({
    baseUrl,
    clientId,
    headers: keyHeader(apiKey),
    handshakeMs: HANDSHAKE_MS,
    maxBytes: MAX_MESSAGE_BYTES,
  });
  if (!socket) {
    end(unreachable);
    return { stop: () => undefined, objection: () => undefined };
  }
  socket.on("message", (data, isBinary) => {
    // Always a Buffer, because `binaryType` is not changed.
    if (!hasEnded && Buffer.isBuffer(data)) target.send(isBinary ? data : data.toString("utf8"));
  });
  socket.on("open", () => (wasOpen = true));
  socket.on("pong", () => (hasAnswered = true));
  socket.on("unexpected-response", (request, { statusCode = 0 }) => {
    end(endOf(statusCode));
    request.destroy();
  });
  socket.on("error", (error) => {
    if (isTooLarge(error)) end(tooLarge);
    else end(wasOpen ? closed : unreachable);
  });
  socket.on("close", () => end(closed));
  return {
    stop() {
      hasEnded = true;
      socket.terminate();
    },
    /** The service has no objections. The ping is here because objections are requested regularly. */
    objection() {
      if (socket.readyState !== WebSocket.OPEN) return undefined;
      if (!hasAnswered) {
        end(closed);
        socket.terminate();
        return undefined;
      }
      hasAnswered = false;
      socket.ping();
      return undefined;
    },
  };
}

const unreachable: FeedEnd = { code: feedEnds.tryLater, reason: "The service of this connection is unreachable." };
const closed: FeedEnd = { code: feedEnds.tryLater, reason: "The service closed the connection." };
const tooLarge: FeedEnd = { code: feedEnds.tryLater, reason: "The service sent a message of more than 8 MiB." };

function endOf(status: number): FeedEnd {
  if (status === 401 || status === 403) return { code: feedEnds.notAllowed, reason: "The service refuses the key of this connection." };
  // A service without /ws may answer its page with 200, or say that it does not know the method or the upgrade.
  const isElsewhere = status < 400 || [400, 404, 405, 426, 501].includes(status);
  return isElsewhere ? { code: feedEnds.notFound, reason: "The service of this connection has no /ws." } : unreachable;
}
