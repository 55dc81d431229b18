/**
 * The identity provider: found by discovery when it is first needed, asked by authorization code with PKCE. All checks of
 * its answers (signature, issuer, audience, nonce, state, times) are the library's.
 */
import * as client from 'openid-client';
import type { OidcConfig } from '../../../vocabulary/config.ts';
import type { EgressProxies } from '../../../vocabulary/egress-proxy.ts';
import { createProviderFetch } from './fetch-by-proxy.ts';
import { readGroups } from './grants-of.ts';

const TIMEOUT_SECONDS = 10;

/** What a browser has to bring back. */
export interface Challenge {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface IssuedIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  /** False unless the provider says so. */
  readonly isEmailVerified: boolean;
  readonly name: string | null;
  readonly groups: readonly string[];
}

export interface IdentityProvider {
  readonly begin: (redirectUri: string) => Promise<{ readonly url: URL; readonly challenge: Challenge }>;
  /** `answer` is the address with which the browser came back. Throws when anything about it is not right. */
  readonly finish: (answer: URL, challenge: Challenge) => Promise<IssuedIdentity>;
  /** Where the browser signs out there, too; null where the provider has no such address. */
  readonly signOutUrl: (returnTo: string) => Promise<URL | null>;
}

export function createIdentityProvider(config: OidcConfig, egress: EgressProxies): IdentityProvider {
  let found: Promise<client.Configuration> | null = null;

  /** A provider that was away is looked for again. */
  function discover(): Promise<client.Configuration> {
    found ??= look().catch((error: unknown) => {
      found = null;
      throw error;
    });
    return found;
  }

  async function look(): Promise<client.Configuration> {
    const issuer = new URL(config.issuer);
    const isPlain = issuer.protocol === 'http:';
    const configuration = await client.discovery(issuer, config.clientId, config.clientSecret, undefined, {
      timeout: TIMEOUT_SECONDS,
      [client.customFetch]: createProviderFetch(egress),
      // For a provider on this machine; the settings allow no other.
      ...(isPlain ? { execute: [client.allowInsecureRequests] } : {}),
    });
    // Without it the signature is left out, since the answer came over TLS.
    client.enableNonRepudiationChecks(configuration);
    return configuration;
  }

  return {
    begin: async (redirectUri) => {
      const configuration = await discover();
      const challenge = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: config.scopes,
        state: challenge.state,
        nonce: challenge.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(challenge.verifier),
        code_challenge_method: 'S256',
      });
      return { url, challenge };
    },
    finish: async (answer, { state, nonce, verifier }) => {
      const configuration = await discover();
      const tokens = await client.authorizationCodeGrant(configuration, answer, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const idToken = tokens.claims();
      if (idToken === undefined) throw new Error('the identity provider sent no ID token');
      const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
      // Many providers keep the ID token short, and say the rest there.
      const more = hasUserInfo ? await client.fetchUserInfo(configuration, tokens.access_token, idToken.sub) : {};
      const claims: Readonly<Record<string, unknown>> = { ...more, ...idToken };
      const text = (name: string): string | null => (typeof claims[name] === 'string' ? claims[name] : null);
      return {
        issuer: idToken.iss,
        subject: idToken.sub,
        email: text('email'),
        isEmailVerified: claims['email_verified'] === true,
        name: text('name') ?? text('preferred_username'),
        groups: readGroups(claims[config.groupsClaim]),
      };
    },
    signOutUrl: async (returnTo) => {
      const configuration = await discover();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
      return client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo });
    },
  };
}
