// A proxy in front of a real service. Tests can cut or replace its responses.
import { type IncomingMessage, type RequestListener } from "node:http";
import { type Page } from "@playwright/test";
import { type Desk } from "./desk";
import { forwardRequest, type PortService, startFakeService } from "./service";
import { saveConnection } from "./steps";

export type FlakyService = {
  url: string;
  /** Handles later requests with `fault`, or only those that `matches` selects. Without a fault, forwards all requests again. */
  setFault(fault?: RequestListener, matches?: (request: IncomingMessage) => boolean): void;
  /** Stops listening. */
  stop(): Promise<void>;
  restart(): Promise<void>;
};

export async function startFlakyService(serviceUrl: string): Promise<FlakyService> {
  let fault: RequestListener | undefined;
  let matchesFault = (_request: IncomingMessage) => true;
  const server = await startFakeService((request, response) => {
    if (fault && matchesFault(request)) fault(request, response);
    else forwardRequest(serviceUrl, request, response, { headers: withServiceHost(serviceUrl, request) });
  });
  return {
    ...server,
    setFault(next, matches = () => true) {
      fault = next;
      matchesFault = matches;
    },
  };
}

/** Returns the id of a connection that reaches the service through this proxy. */
export function connectThroughProxy(page: Page, desk: Desk, service: PortService, flakyService: FlakyService): Promise<string> {
  return saveConnection(page, desk, { name: `Line ${flakyService.url}`, baseUrl: flakyService.url, key: service.key });
}

/** Returns the request's headers with the service's own host name. */
const withServiceHost = (serviceUrl: string, request: IncomingMessage) => ({ ...request.headers, host: new URL(serviceUrl).host });

/** Sends the beginning of a response, then closes the connection. */
export const cutResponse: RequestListener = (_request, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "4096" });
  response.write('{"jobs":[', () => response.destroy());
};

export const neverRespond: RequestListener = () => undefined;

export const respondWith =
  (status: number, type: string, body: string, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { "content-type": type, ...headers }).end(body);
  };
