/** A real identity provider on this machine. Its ID tokens can be forged on their way. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { errors, Provider } from 'oidc-provider';

export const CLIENT_ID = 'tollgate';
export const CLIENT_SECRET = 'a-secret-of-the-client';

export interface Account {
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  readonly groups: readonly string[];
}

type Claims = Record<string, unknown>;
/** Makes another ID token of the claims of a right one. */
export type Forgery = (claims: Claims, sign: (claims: Claims, key?: KeyObject, algorithm?: string) => string) => string;

export interface TestProvider {
  readonly issuer: string;
  readonly accounts: Map<string, Account>;
  forgery: Forgery | null;
  readonly stop: () => Promise<void>;
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

export async function startOidcProvider(redirectUri: () => string): Promise<TestProvider> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const accounts = new Map<string, Account>();
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [redirectUri()],
        post_logout_redirect_uris: [new URL('/login', redirectUri()).href],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'key-1', use: 'sig', alg: 'RS256' }] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    cookies: { keys: ['a key of the cookies'] },
    features: { devInteractions: { enabled: true } },
    pkce: { required: () => true },
    findAccount: async (_context, sub) => {
      const account = accounts.get(sub);
      if (account === undefined) throw new errors.InvalidRequest('no such account');
      return {
        accountId: sub,
        claims: async () => ({
          sub,
          email: account.email,
          email_verified: account.emailVerified,
          name: account.name,
          groups: [...account.groups],
        }),
      };
    },
  });
  const test: TestProvider = {
    issuer,
    accounts,
    forgery: null,
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
  };

  function signWith(claims: Claims, key: KeyObject = privateKey, algorithm = 'RS256'): string {
    const head = `${encode({ alg: algorithm, kid: 'key-1', typ: 'JWT' })}.${encode(claims)}`;
    const signature = algorithm === 'none' ? '' : sign('RSA-SHA256', Buffer.from(head), key).toString('base64url');
    return `${head}.${signature}`;
  }

  /** Holds the answer back, and sends it with another ID token. */
  function forge(response: ServerResponse, forgery: Forgery): void {
    const end = response.end.bind(response);
    response.end = (chunk?: unknown) => {
      const answer: { id_token: string } = JSON.parse(String(chunk));
      const claims: Claims = JSON.parse(Buffer.from(answer.id_token.split('.')[1] ?? '', 'base64url').toString());
      const text = JSON.stringify({ ...answer, id_token: forgery(claims, signWith) });
      response.setHeader('content-length', Buffer.byteLength(text));
      return end(text);
    };
  }

  const handle = provider.callback();
  server.on('request', (request, response) => {
    if (test.forgery !== null && request.url === '/token') forge(response, test.forgery);
    void handle(request, response);
  });
  return test;
}
