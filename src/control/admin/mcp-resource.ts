/** The log over MCP, by streamable HTTP. A read token opens it and nothing else; each request stands for itself. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { digestKey, isWellFormedReadToken } from '../../keys/gateway-key.ts';
import type { AskApi } from '../mcp/ask-api.ts';
import { createCursorSeal } from '../mcp/cursor-seal.ts';
import { listHalves, readFirstKeys } from '../store/key-rotations.ts';
import { checkReadToken, type StoredReadToken } from '../store/read-tokens.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { behindWall } from './behind-wall.ts';
import { MCP_PATH, readBearer, refuseGuesses } from './guard.ts';
import { readPeer } from './peer.ts';
import { ACCOUNT_HEADER } from './principal.ts';
import type { TokenCheck } from './token-check.ts';

/** A name that the check of hosts always knows. */
const OWN_ORIGIN = 'http://127.0.0.1';
/** As of every other body. */
const MAX_BODY_BYTES = 64 * 1024;
/** Nothing changes that a client could be told of, so these streams are of no use to anyone. */
const MAX_SUBSCRIPTIONS = 1;

export function addMcpRoute(app: OpenAPIHono, deps: AdminDeps, tokens: TokenCheck): void {
  // The same routes, guards and bounds as for everybody else, without a socket.
  const askFor =
    (accountId: number): AskApi =>
    async (path) => {
      const headers = {
        host: '127.0.0.1',
        authorization: `Bearer ${deps.adminToken}`,
        [ACCOUNT_HEADER]: String(accountId),
      };
      const answer = await behindWall(accountId, () => app.request(`${OWN_ORIGIN}${path}`, { headers }));
      return { status: answer.status, text: await answer.text(), headers: answer.headers };
    };

  const cursors = createCursorSeal(deps.adminToken);

  app.all(MCP_PATH, async (c) => {
    const token = await requireReadToken(c, deps, tokens);
    const ask = askFor(token.accountId);
    const scope = { keyId: token.keyId, hasTexts: token.hasTexts, cursors };
    const listKeyIds = async (keyId: number) => listHalves(await readFirstKeys(requireDatabase(deps)), keyId);
    const onDefect = (error: unknown): void => deps.log.error({ err: error }, 'a question over MCP failed');
    // Loaded with the first question: 8 MB that most gateways never need.
    const { createMcpHandler } = await import('@modelcontextprotocol/server');
    const { createMcpServer } = await import('../mcp/create-mcp-server.ts');
    const parts = { ask, scope, listKeyIds, version: deps.version, onDefect };
    const handler = createMcpHandler(() => createMcpServer(parts), {
      maxRequestBodySize: MAX_BODY_BYTES,
      maxSubscriptions: MAX_SUBSCRIPTIONS,
    });
    return handler.fetch(c.req.raw);
  });
}

async function requireReadToken(c: Context, deps: AdminDeps, tokens: TokenCheck): Promise<StoredReadToken> {
  const { client, prove } = readPeer(c.env);
  const text = readBearer(c.req.header('authorization'));
  if (text !== undefined) {
    const found = isWellFormedReadToken(text) ? await checkReadToken(requireDatabase(deps), digestKey(text)) : null;
    if (found !== null) {
      prove();
      return found;
    }
    const verdict = tokens.judge(text, [], client);
    if (verdict.kind === 'limited') refuseGuesses(c, verdict.waitMs);
  }
  c.header('www-authenticate', 'Bearer');
  throw new ApiError(
    401,
    'unauthorized',
    'Send a read token (tgm_…) as Authorization: Bearer; `tollgate read-tokens create NAME` makes one. This one is missing, wrong, revoked or has expired.',
  );
}
