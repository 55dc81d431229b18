/** The default chain of AWS's SDK against an endpoint that stands in for a container's role. */
import { createServer, type Server } from 'node:http';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type AwsCredentials, createAwsCredentials } from '../../src/proxy/aws/aws-credentials.ts';
import type { AwsSigning } from '../../src/vocabulary/config.ts';
import { GatewayError } from '../../src/vocabulary/errors.ts';

const AMBIENT: AwsSigning = {
  host: 'bedrock-runtime.eu-west-1.amazonaws.com',
  service: 'bedrock',
  region: 'eu-west-1',
  credentials: 'ambient',
};

let server: Server;
let asked = 0;
let lines: string[] = [];
let nowMs = 0;
let credentials: AwsCredentials;

function describeRole(): string {
  return JSON.stringify({
    AccessKeyId: `ASIAROLE${asked}`,
    SecretAccessKey: 'hunter2',
    Token: `token${asked}`,
    Expiration: new Date(nowMs + 3_600_000).toISOString(),
  });
}

beforeEach(async () => {
  asked = 0;
  lines = [];
  nowMs = Date.now();
  server = createServer((_, response) => {
    asked += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end(describeRole());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE']) vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere/credentials');
  vi.stubEnv('AWS_CONFIG_FILE', '/nowhere/config');
  vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `http://127.0.0.1:${port}/role`);
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  credentials = createAwsCredentials({ log, nowMs: () => nowMs });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await new Promise((resolve) => server.close(resolve));
});

async function codeOf(read: unknown): Promise<string> {
  try {
    await read;
    return 'accepted';
  } catch (error) {
    return error instanceof GatewayError ? error.code : String(error);
  }
}

test('credentials of the settings are handed out as they are, and the chain is not asked', () => {
  const keys = { accessKeyId: 'AKIAX', secretAccessKey: 'x', sessionToken: null };
  expect(credentials.read({ ...AMBIENT, credentials: keys })).toBe(keys);
  expect(asked).toBe(0);
});

test('calls that come together wait for one answer; later ones do not wait', async () => {
  const [first, second] = await Promise.all([credentials.read(AMBIENT), credentials.read(AMBIENT)]);
  expect(first).toEqual({ accessKeyId: 'ASIAROLE1', secretAccessKey: 'hunter2', sessionToken: 'token1' });
  expect(second).toBe(first);
  expect(credentials.read(AMBIENT)).toBe(first);
  expect(asked).toBe(1);
});

test('shortly before they end, new ones are fetched while calls go on with the old ones', async () => {
  const first = await credentials.read(AMBIENT);
  nowMs += 56 * 60_000;
  expect(credentials.read(AMBIENT)).toBe(first);
  expect(credentials.read(AMBIENT)).toBe(first);
  await vi.waitFor(() => expect(credentials.read(AMBIENT)).toMatchObject({ accessKeyId: 'ASIAROLE2' }));
  expect(asked).toBe(2);
});

/** A chain that fails while `isFailing`; the SDK's own tries a failing role for seconds. */
function failingAtWill() {
  const chain = { isFailing: false, asked: 0 };
  const failing = createAwsCredentials({
    log: pino({ level: 'info' }, { write: (line) => void lines.push(line) }),
    nowMs: () => nowMs,
    loadChain: async () => async () => {
      chain.asked += 1;
      if (chain.isFailing) throw new Error('Command failed: fetch-keys --password hunter2');
      return { accessKeyId: 'ASIAX', secretAccessKey: 'hunter2', expiration: new Date(nowMs + 3_600_000) };
    },
  });
  return { chain, read: () => failing.read(AMBIENT) };
}

test('a refresh that fails is one line without a secret, and the old credentials stay in use until they end', async () => {
  const { chain, read } = failingAtWill();
  const first = await read();
  chain.isFailing = true;
  nowMs += 56 * 60_000;
  expect(read()).toBe(first);
  await vi.waitFor(() => expect(lines).toHaveLength(1));
  expect(read()).toBe(first);
  nowMs += 4 * 60_000;
  expect(await codeOf(read())).toBe('aws_credentials_unavailable');
  expect([chain.asked, lines.length]).toEqual([3, 2]);
  expect(lines.join()).not.toMatch(/hunter2|ASIAX/);
});

test('after a failure calls are refused at once for a second, then it is tried again', async () => {
  const { chain, read } = failingAtWill();
  chain.isFailing = true;
  expect(await codeOf(read())).toBe('aws_credentials_unavailable');
  expect(await codeOf(read())).toBe('aws_credentials_unavailable');
  expect([chain.asked, lines.length]).toEqual([1, 1]);
  chain.isFailing = false;
  nowMs += 1_000;
  expect(await codeOf(read())).toBe('accepted');
});

test('a credential service that hangs is asked once a minute, and what it says late is used', async () => {
  vi.useFakeTimers();
  try {
    const answers: ((keys: { accessKeyId: string; secretAccessKey: string }) => void)[] = [];
    const hanging = createAwsCredentials({
      log: pino({ level: 'silent' }),
      nowMs: () => nowMs,
      loadChain: async () => () => new Promise((resolve) => void answers.push(resolve)),
    });
    const giveUp = async (): Promise<string> => {
      let code: string | null = null;
      void codeOf(hanging.read(AMBIENT)).then((read) => {
        code = read;
      });
      // On a busy machine its limit may begin later than the first of these.
      while (code === null) await vi.advanceTimersByTimeAsync(10_000);
      nowMs += 11_000;
      return code;
    };
    for (let count = 0; count < 5; count += 1) expect(await giveUp()).toBe('aws_credentials_unavailable');
    expect(answers).toHaveLength(1);
    const late = hanging.read(AMBIENT);
    answers[0]?.({ accessKeyId: 'ASIALATE', secretAccessKey: 'hunter2' });
    expect(await late).toMatchObject({ accessKeyId: 'ASIALATE' });
  } finally {
    vi.useRealTimers();
  }
});
