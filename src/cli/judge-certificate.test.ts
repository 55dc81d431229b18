import { expect, test } from 'vitest';
import { judgeAnswer, judgeCertificate } from './judge-certificate.ts';

const TLS = {
  valid_from: '2026-01-01T00:00:00.000Z',
  valid_to: '2026-04-01T00:00:00.000Z',
  names: ['gate.example.com', '10.0.0.7'],
  problem: null,
  failed_handshakes: 0,
  latest_failed_handshake: null,
};

function judge(changes: Partial<Parameters<typeof judgeCertificate>[0]>, now: string): string[] {
  return [...judgeCertificate({ ...TLS, ...changes }, Date.parse(now))].map(({ level, text }) => `${level} ${text}`);
}

test('a certificate is well until three weeks before its end, then worth a word, and then a problem', () => {
  expect(judge({}, '2026-03-11T00:00:00Z')).toEqual([
    'ok TLS: certificate for gate.example.com, 10.0.0.7, until 2026-04-01',
  ]);
  expect(judge({}, '2026-03-11T00:00:01Z')).toEqual([
    'note TLS: the certificate ends in 20 days (until 2026-04-01); renew it',
  ]);
  expect(judge({}, '2026-04-01T00:00:00Z')).toEqual([
    'problem TLS: the certificate was valid until 2026-04-01, and clients refuse it; renew it',
  ]);
  expect(judge({}, '2025-12-31T23:59:59Z')).toEqual([
    'problem TLS: the certificate is not valid before 2026-01-01T00:00:00.000Z; is the clock right?',
  ]);
});

test('one that is for no host is a problem, and so are files that cannot come into force; handshakes are told', () => {
  const found = judge(
    {
      names: [],
      problem: 'the key does not fit',
      failed_handshakes: 3,
      latest_failed_handshake: 'tlsv1 alert unknown ca',
    },
    '2026-02-01T00:00:00Z',
  );
  expect(found).toEqual([
    'problem TLS: the certificate is valid for no host (it has no subjectAltName), so that clients refuse it; use another one',
    'problem TLS: the certificate before stays in force: the key does not fit',
    'note TLS: 3 handshakes failed (latest: tlsv1 alert unknown ca); that client does not trust the authority of the certificate',
  ]);
  expect([...judgeCertificate(null, 0), ...judgeCertificate(undefined, 0)]).toEqual([]);
});

test.each([
  [null, 'ok', 'proxy answers at'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'note', 'does not trust'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'note', 'put NODE_EXTRA_CA_CERTS=FILE before the command as well'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'problem', 'is not valid for the host in https://gate; set TOLLGATE_PUBLIC_URL'],
  ['ECONNREFUSED', 'problem', 'nothing answers at https://gate/healthz'],
])('an answer of the proxy port, or %j instead, is a finding: %s', (failure, level, text) => {
  expect(judgeAnswer('https://gate', failure)).toMatchObject({ level, text: expect.stringContaining(text) });
});
