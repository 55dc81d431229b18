/** Judges the certificate of the proxy port and how the port answers. Pure. */
import { z } from 'zod';
import type { Finding } from './finding.ts';
import { terminalText } from './terminal-text.ts';

/** Part of `GET /api/v1/status`; absent from older gateways. */
export const Tls = z
  .object({
    valid_from: z.string(),
    valid_to: z.string(),
    names: z.array(z.string()),
    problem: z.string().nullable(),
    failed_handshakes: z.number(),
    latest_failed_handshake: z.string().nullable(),
  })
  .nullish();

const DAY_MS = 24 * 60 * 60_000;
/** Automatic renewal happens a month before. */
const SOON_DAYS = 21;
const UNTRUSTING = /alert (?:unknown ca|bad certificate|certificate unknown)/;

export function* judgeCertificate(tls: z.infer<typeof Tls>, nowMs: number): Generator<Finding> {
  if (tls === null || tls === undefined) return;
  const { names, problem, failed_handshakes, latest_failed_handshake } = tls;
  const leftDays = Math.floor((Date.parse(tls.valid_to) - nowMs) / DAY_MS);
  const until = `until ${tls.valid_to.slice(0, 10)}`;
  const hosts = terminalText(names.join(', '));
  if (names.length === 0)
    yield {
      level: 'problem',
      text: 'TLS: the certificate is valid for no host (it has no subjectAltName), so that clients refuse it; use another one',
    };
  if (Date.parse(tls.valid_to) <= nowMs)
    yield { level: 'problem', text: `TLS: the certificate was valid ${until}, and clients refuse it; renew it` };
  else if (Date.parse(tls.valid_from) > nowMs)
    yield { level: 'problem', text: `TLS: the certificate is not valid before ${tls.valid_from}; is the clock right?` };
  else if (leftDays < SOON_DAYS)
    yield { level: 'note', text: `TLS: the certificate ends in ${leftDays} days (${until}); renew it` };
  else if (names.length > 0) yield { level: 'ok', text: `TLS: certificate for ${hosts}, ${until}` };
  if (problem !== null)
    yield { level: 'problem', text: `TLS: the certificate before stays in force: ${terminalText(problem)}` };
  if (failed_handshakes > 0) {
    const reason = terminalText(latest_failed_handshake ?? 'unknown');
    const advice = UNTRUSTING.test(reason) ? '; that client does not trust the authority of the certificate' : '';
    yield { level: 'note', text: `TLS: ${failed_handshakes} handshakes failed (latest: ${reason})${advice}` };
  }
}

/** Error codes of OpenSSL and Node that concern trust in the certificate, not the gateway. */
const UNTRUSTED =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE)$/;

export function judgeAnswer(baseUrl: string, failure: string | null): Finding {
  if (failure === null) return { level: 'ok', text: `proxy answers at ${baseUrl}` };
  if (UNTRUSTED.test(failure))
    return {
      level: 'note',
      text: `proxy answers at ${baseUrl} with a certificate that this program does not trust (${failure}); give programs its authority; this one does not read the gateway's settings, so put NODE_EXTRA_CA_CERTS=FILE before the command as well`,
    };
  if (failure === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return {
      level: 'problem',
      text: `the certificate is not valid for the host in ${baseUrl}; set TOLLGATE_PUBLIC_URL to an address that it is for`,
    };
  return {
    level: 'problem',
    text: `nothing answers at ${baseUrl}/healthz from here; check TOLLGATE_HOST, TOLLGATE_PORT and firewalls`,
  };
}
