// For which host a request is: exactly one, well-formed (RFC 9112, 3.2); two readers of two Host headers could take either. HTTP/1.0 may
// leave it out, and then means the address it was sent to. Node would answer a missing one without a word and take the first of two.
// Guarantees: after it every request has a host that makes an address.
import { type IncomingMessage, type ServerResponse } from "node:http";

const host = /^(\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]+)(:\d{1,5})?$/i;

/** True when it has answered. */
export function refuseHost(request: IncomingMessage, response: ServerResponse): boolean {
  const given = request.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
  if (given === 0 && request.httpVersion === "1.0") {
    request.headers.host = addressOf(request);
    return false;
  }
  if (given === 1 && host.test(request.headers.host ?? "") && URL.canParse(`http://${request.headers.host}`)) return false;
  const problem = given === 0 ? "is missing" : given > 1 ? "is given more than once" : "names no host";
  const body = JSON.stringify({ code: "BAD_REQUEST", message: `Host: the header ${problem}.` });
  // A body, if there is one, is not read.
  response.writeHead(400, { "content-type": "application/json", "content-length": Buffer.byteLength(body), connection: "close" }).end(body);
  return true;
}

function addressOf({ socket: { localAddress = "127.0.0.1", localPort } }: IncomingMessage): string {
  const address = localAddress.replace(/^::ffff:/, "");
  return `${address.includes(":") ? `[${address}]` : address}:${localPort}`;
}
