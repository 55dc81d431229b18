/**
 * Asks the identity provider through the proxy for outgoing connections, as everything else of this process does; the `fetch` of
 * Node has no such setting for one request. The same where no proxy is meant for the address.
 */
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { CustomFetch } from 'openid-client';
import { chooseProxy, type EgressProxies } from '../../../vocabulary/egress-proxy.ts';

/** Of discovery, keys, tokens and claims. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** These have no body, not even an empty one. */
const WITHOUT_BODY: readonly number[] = [204, 205, 304];

export function createProviderFetch(egress: EgressProxies): CustomFetch {
  return async (address, options) => {
    const url = new URL(address);
    const proxy = chooseProxy(egress, url.origin)?.href;
    const { method, headers, signal } = options;
    // A form, or nothing.
    const body = options.body === undefined || options.body === null ? null : String(options.body);
    if (proxy === undefined) return fetch(address, { ...options, body, signal: signal ?? null });
    const isTls = url.protocol === 'https:';
    const proxyEnv = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
    const agent = isTls ? new HttpsAgent({ proxyEnv }) : new HttpAgent({ proxyEnv });
    try {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const request = (isTls ? requestHttps : requestHttp)(url, {
          method,
          agent,
          headers: { ...headers, 'accept-encoding': 'identity' },
          ...(signal === undefined ? {} : { signal }),
        });
        request.once('response', resolve);
        request.on('error', reject);
        request.end(body ?? undefined);
      });
      return await toResponse(answer);
    } finally {
      agent.destroy();
    }
  };
}

async function toResponse(answer: IncomingMessage): Promise<Response> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer) {
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('the answer of the identity provider is too long');
    parts.push(part);
  }
  const status = answer.statusCode ?? 502;
  const headers = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Response(WITHOUT_BODY.includes(status) ? null : Buffer.concat(parts), { status, headers });
}
