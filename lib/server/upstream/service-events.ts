// Subscribes to the WebSocket of a service (GET /ws). Disconnects unresponsive services. Calls the target's `end` at most once.

import "server-only";
import { WebSocket } from "ws";
import { isTooLarge, openSocket } from "@/lib/comfyui/socket";
import { type Feed, feedCloseCodes, type FeedEnd, type FeedTarget } from "@/lib/shared/http-types";
import { buildKeyHeader } from "./build-request";

/** Previews are a few hundred kilobytes. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
const HANDSHAKE_TIMEOUT_MS = 10_000;

type ServiceEndpoint = { baseUrl: string; apiKey: string | undefined };

export function subscribeToService({ baseUrl, apiKey }: ServiceEndpoint, clientId: string | undefined, target: FeedTarget): Feed {
  let hasEnded = false;
  let wasOpen = false;
  let hasReceivedPong = true;
  const end = (feedEnd: FeedEnd) => {
    if (hasEnded) return;
    hasEnded = true;
    target.end(feedEnd);
  };
  const socket = openSocket({
    baseUrl,
    clientId,
    headers: buildKeyHeader(apiKey),
    handshakeTimeoutMs: HANDSHAKE_TIMEOUT_MS,
    maxBytes: MAX_MESSAGE_BYTES,
  });
  if (!socket) {
    end(unreachableEnd);
    return { stop: () => undefined, findDenialReason: () => undefined };
  }
  socket.on("message", (data, isBinary) => {
    // Always a Buffer, because `binaryType` is not changed.
    if (!hasEnded && Buffer.isBuffer(data)) target.send(isBinary ? data : data.toString("utf8"));
  });
  socket.on("open", () => (wasOpen = true));
  socket.on("pong", () => (hasReceivedPong = true));
  socket.on("unexpected-response", (request, { statusCode = 0 }) => {
    end(toFeedEnd(statusCode));
    request.destroy();
  });
  socket.on("error", (error) => {
    if (isTooLarge(error)) end(tooLargeEnd);
    else end(wasOpen ? closedEnd : unreachableEnd);
  });
  socket.on("close", () => end(closedEnd));
  return {
    stop() {
      hasEnded = true;
      socket.terminate();
    },
    /** Never returns a reason. Sends a ping, because this is called regularly. */
    findDenialReason() {
      if (socket.readyState !== WebSocket.OPEN) return undefined;
      if (!hasReceivedPong) {
        end(closedEnd);
        socket.terminate();
        return undefined;
      }
      hasReceivedPong = false;
      socket.ping();
      return undefined;
    },
  };
}

const unreachableEnd: FeedEnd = { code: feedCloseCodes.tryLater, reason: "The service of this connection is unreachable." };
const closedEnd: FeedEnd = { code: feedCloseCodes.tryLater, reason: "The service closed the connection." };
const tooLargeEnd: FeedEnd = { code: feedCloseCodes.tryLater, reason: "The service sent a message of more than 8 MiB." };

function toFeedEnd(status: number): FeedEnd {
  if (status === 401 || status === 403)
    return { code: feedCloseCodes.notAllowed, reason: "The service refuses the key of this connection." };
  // A service without /ws may return a web page, or an error about the method or the upgrade.
  const isMissing = status < 400 || [400, 404, 405, 426, 501].includes(status);
  return isMissing ? { code: feedCloseCodes.notFound, reason: "The service of this connection has no /ws." } : unreachableEnd;
}
