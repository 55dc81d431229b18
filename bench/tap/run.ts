/**
 * `npm run bench:tap`: what reading along costs where an answer is hard to read. The CPU time of the proxy's process for
 * answers of one endless event, one endless text, blank lines, vectors and probabilities, in ratio to the same bytes on
 * an endpoint that is not metered. Client and provider are another process.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const ROUNDS = 5;
const PIECE_BYTES = 64 * 1024;
const MIB = 1024 * 1024;

interface Case {
  readonly name: string;
  readonly type: string;
  readonly path: string;
  /** What is sent: in front, over and over, behind. */
  readonly parts: readonly [string, string, string];
  readonly bytes: number;
}

const USAGE = '"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}';
const VECTOR = `{"embedding":[${Array.from({ length: 1_536 }, (_, index) => Math.sin(index) / 20).join(',')}]}`;
const TOKEN = JSON.stringify({ token: ' the', logprob: -0.123, top_logprobs: [{ token: ' a"', bytes: [32, 97] }] });
const CHAT = '/v1/chat/completions';
const CASES: readonly Case[] = [
  { name: 'an endless event', type: 'text/event-stream', path: CHAT, parts: ['data: ', 'a', ''], bytes: 256 * MIB },
  {
    name: 'an endless text',
    type: 'application/json',
    path: CHAT,
    parts: ['{"x":"', 'a', `",${USAGE}}`],
    bytes: 50 * MIB,
  },
  {
    name: 'a text of escapes',
    type: 'application/json',
    path: CHAT,
    parts: ['{"x":"', '\\"', `",${USAGE}}`],
    bytes: 50 * MIB,
  },
  { name: 'empty lines, events', type: 'text/event-stream', path: CHAT, parts: ['', '\n', ''], bytes: 2 * MIB },
  { name: 'empty lines, JSON', type: 'application/json', path: CHAT, parts: ['', '\n', `{${USAGE}}`], bytes: 2 * MIB },
  {
    name: 'vectors',
    type: 'application/json',
    path: '/v1/embeddings',
    parts: ['{"data":[', `${VECTOR},`, `1],${USAGE}}`],
    bytes: 50 * MIB,
  },
  {
    name: 'probabilities',
    type: 'application/json',
    path: CHAT,
    parts: ['{"choices":[{"logprobs":[', `${TOKEN},`, `1]}],${USAGE}}`],
    bytes: 50 * MIB,
  },
  {
    name: 'probabilities, an event',
    type: 'text/event-stream',
    path: CHAT,
    parts: ['data: {"choices":[{"logprobs":[', `${TOKEN},`, `1]}],${USAGE}}\n\n`],
    bytes: 50 * MIB,
  },
];
/** Files have no usage in them: they pass unread. */
const UNMETERED = '/v1/files/file-1/content';

const Started = z.object({ port: z.number(), key: z.string() });
const Spent = z.object({ us: z.number(), flags: z.array(z.string()), usage: z.unknown() });

function* piecesOf({ parts: [front, middle, behind], bytes }: Case): Generator<Buffer> {
  yield Buffer.from(front);
  const block = Buffer.from(middle.repeat(Math.ceil(PIECE_BYTES / middle.length)));
  for (let sent = 0; sent < bytes; sent += block.length) yield block;
  yield Buffer.from(behind);
}

// Mutable: what the provider answers next.
let answered: Case = CASES[0] ?? { name: '', type: '', path: '', parts: ['', '', ''], bytes: 0 };
const provider = createServer((incoming, response) => {
  response.setHeader('content-type', incoming.url === UNMETERED ? 'application/octet-stream' : answered.type);
  const pieces = piecesOf(answered);
  // Not `for … of`, which would end the pieces when it is left.
  const write = (): void => {
    for (let next = pieces.next(); next.done !== true; next = pieces.next())
      if (next.value.length > 0 && !response.write(next.value)) return void response.once('drain', write);
    response.end();
  };
  write();
});
provider.listen(0, '127.0.0.1');
await once(provider, 'listening');
const address = provider.address();
const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
const child = fork(fileURLToPath(new URL('./proxy-child.ts', import.meta.url)), [origin]);
const tell = async (word: string): Promise<unknown> => {
  child.send(word);
  const [message] = await once(child, 'message');
  return message;
};
const { port, key } = Started.parse((await once(child, 'message'))[0]);

async function call(path: string): Promise<void> {
  const headers = { 'x-gateway-key': key, 'x-gateway-provider': 'openai', connection: 'close' };
  const sent = request({ host: '127.0.0.1', port, path, method: 'POST', headers }).end('{}');
  const [answer] = await once(sent, 'response');
  await once(answer.resume(), 'end');
}

async function spend(path: string) {
  const before = Spent.parse(await tell('time'));
  await call(path);
  const after = Spent.parse(await tell('time'));
  return { ms: (after.us - before.us) / 1_000, flags: after.flags, hasUsage: after.usage !== null };
}

const middleOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

answered = { ...answered, bytes: MIB };
await call(UNMETERED);
console.log(`${''.padEnd(26)}      MiB  plain ms   read ms   ratio  usage  flags`);
for (const one of CASES) {
  answered = one;
  const plain: number[] = [];
  const read: number[] = [];
  let last = { ms: 0, flags: [''], hasUsage: false };
  for (let round = 0; round < ROUNDS; round += 1) {
    plain.push((await spend(UNMETERED)).ms);
    last = await spend(one.path);
    read.push(last.ms);
  }
  const figures = [one.bytes / MIB, middleOf(plain), middleOf(read)].map((value) => value.toFixed(0).padStart(9));
  const ratio = (middleOf(read) / middleOf(plain)).toFixed(2).padStart(8);
  console.log(
    `${one.name.padEnd(26)}${figures.join(' ')}${ratio}  ${last.hasUsage ? 'yes  ' : 'no   '}  ${last.flags.join(' ')}`,
  );
}
await tell('time');
child.send('end');
await once(child, 'exit');
provider.close();
