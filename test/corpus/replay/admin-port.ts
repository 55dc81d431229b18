/**
 * The corpus's requests against the admin port, without a database: what is refused there runs nothing that stands
 * behind it, nothing is answered without credentials, and no request is a defect (500).
 */

import { createAdminApp } from '../../../src/control/admin/admin-app.ts';
import { listenAdmin } from '../../../src/control/admin/admin-server.ts';
import { bareAdminDeps } from '../../support/admin-deps.ts';
import type { Cut } from '../bytes.ts';
import { KEY, type RequestCase } from '../cases/request-case.ts';
import { exchange, readAnswers } from './exchange.ts';

const TOKEN = 'admin-token-of-the-corpus';
const SECOND = `GET /api/v1/status?second HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`;
const QUIET_MS = 60;
const CLOSE_MS = 3_000;
/** Refusals by the proxy that have to do with the form of a request, and so are this port's too. */
const OF_FORM: readonly string[] = [
  'request_malformed',
  'transfer_encoding',
  'host_invalid',
  'target_invalid',
  'headers_too_large',
];

export interface AdminPort {
  readonly port: number;
  /** Method and target of each request that reached the application, in order. */
  readonly seen: string[];
  readonly close: () => Promise<void>;
}

export async function startAdminPort(): Promise<AdminPort> {
  const seen: string[] = [];
  const app = createAdminApp(bareAdminDeps({ adminToken: TOKEN }));
  const fetch = (request: Request, bindings?: object): Promise<Response> | Response => {
    const { pathname, search } = new URL(request.url);
    seen.push(`${request.method} ${pathname}${search}`);
    return app.fetch(request, bindings);
  };
  const { port, close } = await listenAdmin({ fetch }, '127.0.0.1', 0);
  return { port, seen, close };
}

function adapt(text: string): Buffer {
  const adapted = text
    .replaceAll(`X-Gateway-Key: ${KEY}`, `Authorization: Bearer ${TOKEN}`)
    .replaceAll(KEY, TOKEN)
    .replaceAll('gateway.test', '127.0.0.1')
    .replaceAll('/v1/models', '/api/v1/status');
  return Buffer.from(adapted + SECOND, 'latin1');
}

/** How it was dealt with, and what is wrong with that. */
export async function replayOnAdminPort(
  { text, outcome }: RequestCase,
  admin: AdminPort,
  { cut, gapMs }: Cut,
): Promise<{ readonly outcome: string; readonly wrong: readonly string[] }> {
  const before = admin.seen.length;
  const isUnfinished = outcome.kind === 'unfinished' || outcome.kind === 'streamed' || outcome.kind === 'broken';
  const { received, end } = await exchange(admin.port, cut(adapt(text)), {
    quietMs: isUnfinished ? QUIET_MS : CLOSE_MS,
    gapMs,
  });
  const seen = admin.seen.slice(before);
  const methods = outcome.kind === 'passed' ? [outcome.method] : [];
  const { answers } = readAnswers(received, methods);
  const second = seen.filter((line) => line === 'GET /api/v1/status?second').length;
  const wrong: string[] = [];
  if (answers.some(({ status }) => status === 500)) wrong.push('a 500');
  if (received.includes('SECRET')) wrong.push('the client got back what it had sent');
  if (second > 1 || seen.length > 2) wrong.push(`it ran ${seen.join(', ')}`);
  if (isUnfinished && second > 0) wrong.push('a part of a body was run');
  const isOfForm = outcome.kind === 'refused' && OF_FORM.includes(outcome.code);
  // Of a body that cannot be read the application has seen the head, and nothing more.
  if (isOfForm && (second > 0 || answers.some(({ status }) => status < 400))) wrong.push(`it ran ${seen.join(', ')}`);
  if (end === 'open' && !isUnfinished) wrong.push('the connection stays open');
  if (/\/api\/v1\/status$/.test(seen[0] ?? '') && !text.includes(`X-Gateway-Key: ${KEY}`) && answers[0]?.status === 200)
    wrong.push('it answered without credentials');
  const [first] = answers;
  const name =
    first === undefined
      ? end === 'open'
        ? 'waits'
        : 'closed without an answer'
      : `${seen.length === 0 ? 'refused' : 'answered'} ${first.status}`;
  return { outcome: second > 0 ? `${name}, then the second ran` : name, wrong };
}
