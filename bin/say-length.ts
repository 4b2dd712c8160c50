// How long a body is: Next takes the length away that a handler of ours knows, and a browser that saves a file could not say how much is
// still to come, nor that it was cut.
// Guarantees: the length stands in its own header, and the one that carried it here does not go out.
import { type ServerResponse } from "node:http";
import { LENGTH_HEADER } from "@/lib/server/bff/answers";

export function sayLength(response: ServerResponse): void {
  const { setHeader } = response;
  response.setHeader = (name, value) =>
    name === LENGTH_HEADER ? setHeader.call(response, "content-length", String(value)) : setHeader.call(response, name, value);
}
